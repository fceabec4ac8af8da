"""People with mailboxes on a real Dovecot, and workers that watch them."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage

from abilities.events.bus import EventBus
from abilities.mail.watcher import MailWatcher, WatchLimits
from abilities.mail.watches import MailWatches
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.types import Task
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.credentials.types import Account, OpenAccount
from core.db.database import Database
from core.errors import AccountMissing
from core.http.types import HttpClient
from core.json_types import JsonObject
from tests.clocks import StandingClock
from tests.core.harness import Store
from tests.eventually import eventually
from tests.servers.dovecot import Dovecot

SOURCE, TYPE = "mail", "mail.received"
QUICK = WatchLimits(poll=0.3, renew=1.0)


def mail(
    subject: str, sender: str = "Amazon <orders@amazon.example>", text: str = "It is on its way.", **more: str
) -> bytes:
    """Return a message as it is delivered; `more` are headers, whose `_` are hyphens."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "Ann <ann@example.org>"
    message["Subject"] = subject
    message["Date"] = "Mon, 23 Nov 2026 08:00:00 +0100"
    message["Message-ID"] = f"<{os.urandom(8).hex()}@amazon.example>"
    for name, value in more.items():
        del message[name.replace("_", "-")]
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message.as_bytes()


@dataclass(slots=True)
class Mailboxes:
    """The accounts of everybody, as tools have one person's. Implements `AccountAccess`."""

    opened: dict[tuple[str, str], OpenAccount] = field(default_factory=dict)

    async def list(self, need: str = "") -> Sequence[Account]:
        """Return all accounts."""
        return [account.account for account in self.opened.values()]

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        """Return one."""
        account = self.opened.get((need.partition(":")[0], account_name))
        if account is None:
            raise AccountMissing("No mailbox is connected.", need)
        return account


@dataclass(slots=True)
class MailHarness:
    """One person with one mailbox, `address`."""

    store: Store
    dovecot: Dovecot
    redis_url: str
    tenant: str
    address: str
    engine: TriggerEngine
    credentials: CredentialStore
    http: HttpClient
    accounts: Mailboxes = field(default_factory=Mailboxes)

    async def connect(self, account: OpenAccount | None = None) -> None:
        """Store what opens the person's mailbox."""
        account = account or self.dovecot.account(self.address)
        await connected(self.store.database, self.tenant, self.accounts, account, self.credentials)

    async def wait_for_mail(self, **filter: object) -> Task:
        """Create a task that waits for mail."""
        trigger = EventTrigger(SOURCE, TYPE, filter)  # type: ignore[arg-type]
        return await self.engine.create_task(
            tenant_id=self.tenant, trigger=trigger, action={"instruction": "Tell me of it"}
        )

    def deliver(self, *subjects: str) -> None:
        """Deliver messages into the mailbox."""
        for subject in subjects:
            self.dovecot.deliver(self.address, mail(subject))

    @asynccontextmanager
    async def worker(self, name: str = "w1", limits: WatchLimits = QUICK) -> AsyncIterator[MailWatcher]:
        """Run a worker's watcher."""
        bus = EventBus(self.redis_url, self.store.database, self.store.make_id)
        watches = MailWatches(self.store.database, name)
        watcher = MailWatcher(watches, bus, lambda _: self.accounts, self.http, limits)
        running = asyncio.create_task(watcher.run())
        try:
            yield watcher
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            await bus.close()

    async def subjects(self) -> list[object]:
        """Return the subjects of the events, in the order in which they were stored."""
        return await self.store.column(
            "select data ->> 'subject' from events where source = 'mail' order by received_at, occurred_at"
        )

    async def has(self, *subjects: str) -> None:
        """Wait until exactly these mails have become events."""
        await eventually(lambda: self._equal(sorted(subjects)))

    async def watched(self) -> None:
        """Wait until the mailbox was read to its end since now."""
        now = await self.store.one("select clock_timestamp()")
        await eventually(lambda: self.store.admin.fetchval("select count(*) from mail_watches where read_at > $1", now))

    async def problem(self, problem: str) -> None:
        """Wait until something is wrong with the mailbox."""
        await eventually(lambda: self.store.db.mail_watches.count(problem=problem))

    async def _equal(self, subjects: list[str]) -> bool:
        return sorted(map(str, await self.subjects())) == subjects


async def connected(
    database: Database,
    tenant: str,
    accounts: Mailboxes,
    account: OpenAccount,
    credentials: CredentialStore | None = None,
) -> None:
    """Let a person have a mailbox."""
    credentials = credentials or CredentialStore(database, SecretKeys([SecretKey("k", os.urandom(32))]))
    accounts.opened[account.account.service, account.account.name] = account
    stored: JsonObject = {"user": account.login, "password": account.secret}
    await credentials.save(tenant, account.account.service, stored, account.account.name)


def age(dovecot: Dovecot, address: str) -> None:
    """Let what lies in a mailbox have come a minute ago: servers keep whole seconds."""
    for path in (dovecot.folder / "mail" / address).glob("new/*"):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))


@asynccontextmanager
async def open_mail(store: Store, dovecot: Dovecot, redis_url: str) -> AsyncIterator[MailHarness]:
    """Yield a person with a mailbox, which is not connected yet."""
    await store.say("hello")
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "hello")
    engine = TriggerEngine(store.database, store.make_id, StandingClock(), store.wakeups)
    credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", os.urandom(32))]))
    http = dovecot.http()
    try:
        yield MailHarness(store, dovecot, redis_url, lease.tenant_id, dovecot.new(), engine, credentials, http)
    finally:
        await http.close()
