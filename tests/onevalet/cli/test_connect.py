"""`connect` as an operator runs it: a link for one person, to pass on."""

import re

import pytest

from tests.core.harness import Store
from tests.onevalet.cli.harness import Operator, add_people

pytestmark = pytest.mark.xdist_group("processes")

URL = "https://valet.example.org"


async def test_connect_prints_a_link_for_the_one_person(operator: Operator, store: Store) -> None:
    await store.say("hello")
    code, out, errors = await operator.run("connect", "email", "--account", "home", PUBLIC_URL=URL)
    assert (code, errors) == (0, "")
    assert re.match(rf"Connect email here, within 15 minutes: {re.escape(URL)}/connect/[0-9a-f]{{32}}\n", out)
    row = await store.admin.fetchrow("select * from connect_links")
    assert row is not None
    assert (row["service"], row["account_name"]) == ("email", "home")
    assert row["conversation_id"] == await store.one("select id from conversations")  # where it is told


async def test_connect_says_in_one_sentence_why_there_is_no_link(operator: Operator, database_url: str) -> None:
    code, _, errors = await operator.run("connect", "email", PUBLIC_URL=URL)
    assert (code, errors) == (2, "Nobody is here yet.\n")
    await add_people(database_url, "tn_ann", "tn_bob")
    for words, public_url, problem in (
        (("email",), URL, "Say whose with --tenant."),
        (("email", "--tenant", "tn_carl"), URL, "There is no person tn_carl: `people list` names everybody."),
        (("google", "--tenant", "tn_ann"), URL, "There is no service google here, only email and caldav."),
        (("email", "--tenant", "tn_ann"), "", "Accounts cannot be connected here yet: whoever runs this assistant has"),
    ):
        code, out, errors = await operator.run("connect", *words, PUBLIC_URL=public_url)
        assert (code, out, errors.count("\n")) == (2, "", 1)
        assert errors.startswith(problem)
