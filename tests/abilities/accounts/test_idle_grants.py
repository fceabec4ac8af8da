"""Grants that end while nobody uses them: refreshed ahead, noticed, and told once with a link."""

import asyncio
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.idle_grants import LEASE, Renewals
from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.oauth import OAuthServers
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.probes import check_accounts
from abilities.accounts.prompts import note_prompt
from abilities.accounts.services import Services
from abilities.accounts.token_refresh import FreshTokens
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.credentials.types import Ability
from core.db.database import Database
from core.errors import AccountMissing, RefusedLogin
from core.ids import make_id
from core.notifications.types import Notification, NotificationStatus, Notified
from core.tools.account_access import MissingAccess
from tests.abilities.accounts.test_token_refresh import WORK, RotatingServer, keep
from tests.core.credentials.harness import KEYS

type Admin = asyncpg.Connection[asyncpg.Record]
DUE = "update credentials set attend_at = clock_timestamp()"
LEFT = "select attend_at - clock_timestamp() from credentials"
URL = "https://valet.example"


@dataclass
class Told:
    """What a person was told. Implements `abilities.accounts.idle_grants.PersonNotifier`."""

    news: dict[str, Notification] = field(default_factory=dict)
    quiet: datetime | None = None

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Keep the first under each key, as the store does."""
        self.news.setdefault(str(notification.dedupe_key), notification)
        return Notified("ntf_1", NotificationStatus.QUEUED)

    async def quiet_until(self, tenant_id: str) -> datetime | None:
        """Return the end of the quiet hours."""
        return self.quiet

    async def next_digest(self, tenant_id: str) -> datetime:
        """Return when news would come that waits."""
        raise NotImplementedError

    async def chat_of(self, tenant_id: str) -> str | None:
        """Return the person's only chat."""
        return "cv_1"

    @property
    def texts(self) -> list[str]:
        """Return what was said, in order."""
        return [notification.text for notification in self.news.values()]


@dataclass
class House:
    """Ann's account of `work`, its server, and the work that looks after it."""

    database: Database
    store: CredentialStore
    server: RotatingServer = field(default_factory=RotatingServer)
    told: Told = field(default_factory=Told)

    def accounts(self, url: str = URL) -> Accounts:
        """Return the accounts as one worker has them."""
        services, clock = Services.of([WORK]), Clock()
        tokens = FreshTokens(self.database, self.store, OAuthServers(self.server, clock), clock, make_id)
        offers = ConnectOffers(ConnectLinkStore(self.database, url, KEYS), services, clock)
        return Accounts(self.store, services, tokens, offers)

    def worker(self, url: str = URL) -> Renewals:
        """Return the work of one worker."""
        return Renewals(self.database, self.accounts(url), self.told, Clock())


@pytest.fixture
def house(database: Database, store: CredentialStore) -> House:
    """Return the house."""
    return House(database, store)


async def test_a_grant_that_nobody_uses_is_refreshed_ahead(house: House, admin: Admin) -> None:
    await keep(house.store, 4)
    await admin.execute(DUE)
    workers = [house.worker() for _ in range(2)]
    assert sum(await asyncio.gather(*(worker.once() for worker in workers))) == 1
    assert house.server.asked == ["r1"]
    left = await admin.fetchval(LEFT)
    assert timedelta(minutes=50) < left < timedelta(minutes=56)
    assert await workers[0].once() == 0
    assert house.told.texts == []


async def test_a_grant_that_ended_unused_is_told_once_with_a_link(house: House, admin: Admin) -> None:
    await keep(house.store, 4)
    house.server.number = 7  # it was taken back at the server
    for _ in range(3):
        await admin.execute(DUE + " where revoked_at is null")
        await asyncio.gather(*(house.worker().once() for _ in range(2)))
    [text] = house.told.texts
    link = rf"{URL}/connect/[0-9a-f]{{32}}"
    assert re.match(f"I no longer have access to your account ann@work.example: connect it again here: {link}\n", text)
    assert text.endswith("\nThe link works for 15 minutes. For a new one, write: connect")
    made = await admin.fetchrow("select service, account_name, conversation_id, abilities from connect_links")
    assert made is not None
    assert tuple(made)[:3] == ("work", "primary", "cv_1")
    assert Ability.MAIL_READ in made["abilities"]
    with pytest.raises(AccountMissing):
        await house.accounts().open("ann", "mail.read")


async def test_each_revocation_is_told_anew(house: House, admin: Admin) -> None:
    for _ in range(2):
        await keep(house.store, -1)
        house.server.number += 5
        await admin.execute(DUE)
        assert await house.worker().once() == 1
    assert len(house.told.texts) == 2


async def test_in_quiet_hours_it_is_told_at_their_end(house: House, admin: Admin) -> None:
    await keep(house.store, -1)
    house.server.number = 7
    house.told.quiet = datetime.now(UTC) + timedelta(hours=8)
    await admin.execute(DUE)
    await house.worker().once()
    assert house.told.texts == []
    assert await admin.fetchval("select count(*) from connect_links") == 0  # it would be over by then
    assert timedelta(hours=7, minutes=59) < await admin.fetchval(LEFT) <= timedelta(hours=8)
    house.told.quiet = None
    await admin.execute(DUE)
    await house.worker().once()
    assert len(house.told.texts) == 1


async def test_what_a_turn_has_told_is_not_told_again(house: House, admin: Admin) -> None:
    await house.store.save("ann", "email", {"user": "ann@example.org", "password": "old", "host": "smtp.example.org"})
    accounts = house.accounts()
    assert await accounts.refused("ann", RefusedLogin("mail.send", "email", "primary", "old"))
    assert await admin.fetchval(LEFT) > timedelta(seconds=30), "the turn that met it may tell it first"
    [account] = await accounts.list("ann")
    assert await note_prompt(house.database, "ann", MissingAccess.again(account), "turn_1")
    assert await admin.fetchval(LEFT) is None
    assert not await note_prompt(house.database, "ann", MissingAccess.again(account), "turn_2")
    await house.store.save("ann", "caldav", {"user": "ann", "password": "p", "caldav": "https://dav.example"})
    assert not await note_prompt(house.database, "ann", MissingAccess.again(account), "turn_3"), (
        "another account is no renewal"
    )


async def test_a_server_that_is_away_revokes_nothing(house: House, admin: Admin) -> None:
    await keep(house.store, -1)
    house.server.away = True
    await admin.execute(DUE)
    assert await house.worker().once() == 1
    assert await admin.fetchval("select revoked_at is null from credentials")
    assert await admin.fetchval(LEFT) > LEASE - timedelta(minutes=1)
    assert house.told.texts == []


async def test_a_watched_mailbox_is_told_in_the_persons_language(house: House, admin: Admin) -> None:
    await house.store.save("ann", "email", {"user": "ann@example.org", "password": "old", "host": "smtp.example.org"})
    await admin.execute(
        "insert into mail_watches (tenant_id, service, account_name) values ('ann', 'email', 'primary')"
    )
    await admin.execute("update tenants set language = 'de'")
    await admin.execute("update credentials set revoked_at = now(), attend_at = now()")
    await house.worker().once()
    [text] = house.told.texts
    assert text.startswith("Dein Konto ann@example.org")
    assert text.endswith("\nBis dahin erfahre ich von neuen Mails dort nichts.")


async def test_without_pages_it_is_told_without_a_link(house: House, admin: Admin) -> None:
    await keep(house.store, -1)
    house.server.number = 7
    await admin.execute(DUE)
    await house.worker(url="").once()
    assert house.told.texts == [
        "I no longer have access to your account ann@work.example: it has to be connected again."
    ]


async def test_doctor_names_whose_accounts_are_to_be_renewed(house: House, admin: Admin) -> None:
    await keep(house.store, 30)
    assert await check_accounts(house.database) == []
    await admin.execute("update credentials set revoked_at = now()")
    [check] = await check_accounts(house.database)
    assert check.detail == "1 to be connected again by their people: work of ann"
    assert "connect SERVICE --tenant TENANT" in check.fix


async def test_what_has_no_tokens_to_refresh_is_left_alone(house: House, admin: Admin) -> None:
    await house.store.save("ann", "notion", {"token": "t"})
    await admin.execute(DUE)
    assert await house.worker().once() == 1
    assert await admin.fetchval(LEFT) is None
