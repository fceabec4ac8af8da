"""`connect` and `accounts` as an operator runs them: a link for one person to pass on, and what they connected."""

import json
import re

import pytest

from tests.conftest import store as store
from tests.core.harness import Store
from tests.onevalet.cli.conftest import operator as operator
from tests.onevalet.cli.harness import Operator, add_people

pytestmark = pytest.mark.xdist_group("processes")

URL = "https://valet.example.org"
MAILBOX = {"host": "smtp.example.org", "user": "ann@example.org", "password": "canary-5d1e"}


async def test_connect_prints_a_link_for_the_one_person(operator: Operator, store: Store) -> None:
    await store.say("hello")
    code, out, errors = await operator.run("connect", "email", "--account", "home", PUBLIC_URL=URL)
    assert (code, errors) == (0, "")
    assert re.match(rf"Connect email here, within 15 minutes: {re.escape(URL)}/connect/[0-9a-f]{{32}}\n", out)
    row = await store.admin.fetchrow("select * from connect_links")
    assert row is not None
    assert (row["service"], row["account_name"]) == ("email", "home")
    assert row["conversation_id"] == await store.db.conversations.one("id")  # where it is told


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


async def test_accounts_are_listed_with_what_they_may_and_without_secrets(operator: Operator, store: Store) -> None:
    await store.say("hello")
    [tenant] = await store.db.tenants.column("tenant_id")
    assert (await operator.run("accounts"))[1] == f"{tenant} has connected nothing.\n"
    await operator.run("credentials", "set", "email", "--account", "work", stdin=json.dumps(MAILBOX))
    await store.admin.execute("update credentials set revoked_at = now(), preferred_for = '{mail}'")
    code, out, errors = await operator.run("accounts", "--json")
    assert (code, errors) == (0, "")
    assert json.loads(out) == [
        {
            "service": "email",
            "name": "work",
            "address": "ann@example.org",
            "abilities": ["mail.send"],
            "preferred": False,
            "preferred_for": ["mail"],
            "revoked": True,
        }
    ]
    listed = (await operator.run("accounts"))[1]
    assert listed.split(maxsplit=4)[:4] == ["email", "work", "ann@example.org", "mail.send"]
    assert listed.endswith("  used for mail; has to be renewed\n")
    assert "canary" not in out + listed
