"""Which account is used where none is named: chosen for mail, calendars and contacts apart, over all services."""

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services, google
from core.credentials.store import CredentialStore
from core.errors import ToolRetry
from core.json_types import JsonObject
from core.language.catalogue import speaking

MAIL: JsonObject = {"host": "smtp.example.org", "password": "x", "imap": {"host": "imap.example.org"}}
DAV: JsonObject = {"caldav": "https://dav.example.org/", "user": "ann@dav.example", "password": "x"}
GRANTED: JsonObject = {
    "access_token": "x",
    "expires_at": "2099-01-01T00:00:00+00:00",
    "scopes": ["https://mail.google.com/", "https://www.googleapis.com/auth/calendar"],
    "address": "ann@gmail.example",
}


@pytest.fixture
async def accounts(store: CredentialStore) -> Accounts:
    """Return Ann's accounts: two mailboxes, one of them Google's with a calendar, and a calendar elsewhere."""
    await store.save("ann", "email", MAIL | {"user": "ann@home.example"}, "home")
    await store.save("ann", "google", GRANTED, "work")
    await store.save("ann", "caldav", DAV, "family")
    return Accounts(store, Services.of([google("id", "secret")]))


async def test_a_default_is_one_for_each_kind_over_all_services(accounts: Accounts) -> None:
    anns = accounts.for_tenant("ann")
    for need, question in (("mail.send", "Which account: home or work?"), ("calendar.change", "family or work?")):
        with pytest.raises(ToolRetry, match=question.replace("?", r"\\?")):
            await anns.open(need)
    assert await anns.prefer("work", ["mail"]) == "From now on work is used for mail if no account is named."
    await anns.prefer("family", ["calendar"])
    assert (await anns.open("mail.read")).account.name == "work"
    assert (await anns.open("calendar.read")).account.name == "family"
    assert [(one.name, one.preferred) for one in await anns.list("calendar.read")] == [
        ("family", True),
        ("work", False),
    ]
    assert (await anns.open("google:calendar.read")).account.name == "work"
    await anns.prefer("home", ["mail"])  # in place of the other
    assert (await anns.open("mail.send")).account.name == "home"
    assert [(one.name, set(one.preferred_for)) for one in await anns.list()] == [
        ("family", {"calendar"}),
        ("home", {"mail"}),
        ("work", set()),
    ]
    await anns.prefer("work")  # for all that it has
    assert [(await anns.open(need)).account.name for need in ("mail.send", "calendar.change")] == ["work", "work"]
    assert (await anns.open("calendar.read", "family")).account.name == "family"


async def test_the_list_says_what_is_used_for_what_and_how_to_choose(accounts: Accounts) -> None:
    anns = accounts.for_tenant("ann")
    with speaking("de"):
        await anns.prefer("work", ["mail", "calendar"])
        listed = await anns.overview()
    assert "E-Mail und Kalender" in listed.splitlines()[-1]
    await accounts.disconnect("ann", (await anns.find("work"))[0])
    assert (await anns.open("mail.send")).account.name == "home"
