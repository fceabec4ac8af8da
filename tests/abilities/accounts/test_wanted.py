"""What a person is asked to connect: another account, one to extend, or one to renew."""

import asyncpg
import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.prompts import sentence
from abilities.accounts.services import Services, openid
from abilities.accounts.types import OAuthClient, Scope
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.credentials.types import Ability
from core.db.database import Database
from core.json_types import JsonObject
from core.tools.account_access import MissingAccess
from tests.core.credentials.harness import KEYS

type Admin = asyncpg.Connection[asyncpg.Record]
SCOPES = (Scope("read", frozenset({Ability.MAIL_READ})), Scope("send", frozenset({Ability.MAIL_SEND})))
WORK = openid(
    "work",
    "Work",
    OAuthClient("us", "secret", "https://id.example"),
    {"imap": "imaps://imap.example:993", "smtp": "smtps://smtp.example:465"},
    SCOPES,
)
SEND = MissingAccess(("mail.send",))


@pytest.fixture
def accounts(store: CredentialStore, database: Database) -> Accounts:
    """Return the accounts of Ann and Bob, at a service whose scopes are narrow."""
    services = Services.of([WORK])
    offers = ConnectOffers(ConnectLinkStore(database, "https://valet.example", KEYS), services, Clock())
    return Accounts(store, services, None, offers)


async def grant(store: CredentialStore, address: str, *scopes: str, name: str = "primary") -> None:
    granted: JsonObject = {"access_token": "a", "refresh_token": "r", "expires_at": "2030-01-01T00:00:00+00:00"}
    await store.save("ann", "work", granted | {"scopes": list(scopes), "address": address}, name)


async def asked(accounts: Accounts, wanted: MissingAccess) -> str:
    """Return the first line of what Ann is told."""
    link = await accounts.link("ann", None, wanted)
    assert link is not None
    return sentence(wanted, link).split("\n")[0]


async def test_an_account_that_allows_too_little_is_named_with_what_it_lacks(
    accounts: Accounts, store: CredentialStore, admin: Admin
) -> None:
    await grant(store, "ann@work.example", "read")
    told = await asked(accounts, SEND)
    assert told.startswith("Your account ann@work.example does not let me send mail yet: allow it here: https://valet")
    made = await admin.fetchrow("select service, account_name, abilities from connect_links")
    assert made is not None
    assert tuple(made) == ("work", "primary", ["mail.send"])


async def test_of_two_accounts_the_preferred_is_extended(accounts: Accounts, store: CredentialStore) -> None:
    await grant(store, "ann@work.example", "read", name="a")
    await grant(store, "ann@home.example", "read", name="b")
    assert (await asked(accounts, SEND)).startswith("To send mail for you I need your mailbox: connect it here: ")
    await store.prefer("ann", "work", "b")
    assert (await asked(accounts, SEND)).startswith("Your account b does not let me send mail yet")


async def test_what_no_account_can_be_extended_to_is_connected(accounts: Accounts, store: CredentialStore) -> None:
    await grant(store, "ann@work.example", "read")
    told = await asked(accounts, MissingAccess(("calendar.read",)))
    assert told.startswith("To look into your calendar I need access to it: connect it here: ")
    assert await accounts.link("ann", None, MissingAccess(("notion:pages",))) is None


async def test_connect_alone_renews_before_it_offers_another(
    accounts: Accounts, store: CredentialStore, admin: Admin
) -> None:
    person = accounts.for_tenant("ann")
    assert (await person.connect()).startswith("Connect an account here, within 15 minutes: ")
    await grant(store, "ann@work.example", "read", "send")
    await admin.execute("update credentials set revoked_at = now()")
    assert (await person.connect()).startswith("I no longer have access to your account ann@work.example")
    assert (await person.connect("work", "other")).startswith("Connect Work here, within 15 minutes: ")
    assert "To connect one again, write: connect" in await person.overview()
    made = await admin.fetchrow("select account_name, abilities from connect_links where account_name = 'primary'")
    assert made is not None
    assert made["abilities"] == ["mail.read", "mail.send"]
