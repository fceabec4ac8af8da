"""`credentials set email`: what could send no mail is refused, and says what is needed."""

import json
import re

import pytest

from abilities.accounts.passwords import open_password
from abilities.accounts.services import EMAIL
from core.credentials.store import CredentialError
from core.json_types import JsonObject
from onevalet.cli.credential_forms import check_credentials
from tests.onevalet.cli.harness import Operator, add_people
from tests.shipping.harness import read

CANARY = "canary-71aa"
WHOLE: JsonObject = {
    "host": "smtp.example.org",
    "port": 587,
    "tls": "starttls",
    "user": "ann",
    "password": CANARY,
    "from": "Ann <ann@müller.de>",
    "imap": {"host": "imap.example.org", "port": 993, "tls": "implicit"},
}


@pytest.mark.xdist_group("processes")
async def test_email_credentials_that_could_send_nothing_are_refused(operator: Operator, database_url: str) -> None:
    await add_people(database_url, "tn_ann")
    code, out, errors = await operator.run("credentials", "set", "email", stdin="{}")
    assert (code, out) == (2, "")
    assert errors == (
        "Nothing was stored: `host` is missing; credentials for email need `host` and `from` (an address; by default"
        " `user`), and may have `port` (a number), `tls` (implicit, starttls"
        " or none), `user`, `password`, and `imap` with `host`, `port` and `tls`, by which mail is read.\n"
    )
    assert (await operator.run("credentials", "list"))[1] == "tn_ann has connected nothing.\n"
    code, out, errors = await operator.run("credentials", "set", "email", stdin=json.dumps(WHOLE))
    assert (code, out, errors) == (0, "Kept: email, account primary, of tn_ann.\n", "")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"host": ""}, "`host` has a wrong value"),
        ({"host": 5}, "`host` has a wrong value"),
        ({"port": "587"}, "`port` has a wrong value"),
        ({"port": 0}, "`port` has a wrong value"),
        ({"port": True}, "`port` has a wrong value"),
        ({"tls": "yes"}, "`tls` has a wrong value"),
        ({"pasword": CANARY}, "`pasword` is not known"),
        ({CANARY: "password"}, "a field is not known"),
        ({"password": [CANARY]}, "`password` has a wrong value"),
        ({"from": CANARY}, "`from`, or else `user`, must be an email address"),
        ({"from": ""}, "`from`, or else `user`, must be an email address"),
    ],
)
def test_each_wrong_field_is_named_and_no_value_repeated(change: JsonObject, problem: str) -> None:
    with pytest.raises(CredentialError) as refused:
        check_credentials("email", WHOLE | change)
    assert str(refused.value).startswith(f"Nothing was stored: {problem}; credentials for email need")
    assert CANARY not in str(refused.value)


def test_what_is_stored_is_what_the_agent_can_read_and_the_docs_list() -> None:
    check_credentials("email", WHOLE)
    assert open_password(EMAIL, WHOLE).address == "ann@müller.de"
    smallest: JsonObject = {"host": "h", "user": "ann@example.org"}
    check_credentials("email", smallest)
    assert open_password(EMAIL, smallest).address == "ann@example.org"
    section = read("docs/email.md").split("## Connect")[1].split("\n## ")[0]
    listed = {
        name
        for row in re.findall(r"^- (`.*?)(?: \(|:|$)", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert listed == set(WHOLE)


def test_the_credentials_of_other_services_are_their_own() -> None:
    check_credentials("google", {})
