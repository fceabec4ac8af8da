"""Mailboxes on servers that say whatever they like: everybody else's are read meanwhile, and their person is told."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from abilities.mail import watcher as mail_watcher
from abilities.mail.watcher import MAX_PAUSE, TOO_MANY, MailWatcher, WatchLimits
from abilities.mail.watches import MailWatch, MailWatches
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.event import EventTrigger
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.http.guarded_client import GuardedClient
from core.http.peer import FIRST_PAUSE, PERSON
from core.notifications.types import Notification, NotificationStatus, Notified
from tests.abilities.mail.mail_harness import Mailboxes, connected
from tests.clocks import StandingClock
from tests.core.harness import Store
from tests.eventually import eventually
from tests.servers.hostile_mail import (
    CANARY,
    HostileServer,
    Manner,
    Talk,
    drips,
    falls_silent,
    floods,
    hostile_imap,
    says,
)

READ = "select count(*) from mail_watches where tenant_id = $1 and read_at is not null"

QUICK = WatchLimits(poll=0.3, renew=600.0, turn=600.0, pace=0.0)


@dataclass
class Told:
    """Records what people are told."""

    notified: list[tuple[str, Notification]] = field(default_factory=list)

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Record a notification."""
        self.notified.append((tenant_id, notification))
        return Notified(notification.category, NotificationStatus.QUEUED)


class Impatient(MailWatches):
    """Watches that are tried again at once, and what they failed by."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.database, "w1")
        self.failed: list[tuple[str, float]] = []

    async def fail(
        self, watch: MailWatch, delay: timedelta, problem: str, *, ended: bool = False, refused: bool = False
    ) -> None:
        """Note a failure, and give the mailbox back for now."""
        self.failed.append((problem, delay.total_seconds()))
        await super().fail(watch, timedelta(0), problem, ended=ended, refused=refused)


@dataclass
class People:
    """People who wait for mail, and their mailboxes by tenant."""

    store: Store
    credentials: CredentialStore
    mailboxes: dict[str, Mailboxes] = field(default_factory=dict)

    async def add(self, phone: str) -> str:
        """Let somebody write for the first time and wait for mail; return their tenant."""
        await self.store.say("hello", sender=phone)
        lease, turn = await self.store.claim_turn()
        await self.store.finish(lease, turn, "hello")
        engine = TriggerEngine(self.store.database, self.store.make_id, StandingClock(), self.store.wakeups)
        await engine.create_task(
            tenant_id=lease.tenant_id,
            trigger=EventTrigger("mail", "mail.received", {}),
            action={"instruction": "Tell me of it"},
        )
        self.mailboxes[lease.tenant_id] = Mailboxes()
        return lease.tenant_id

    async def connect(self, tenant: str, server: HostileServer, *names: str) -> None:
        """Let somebody have mailboxes at a server."""
        for name in names:
            account = server.account(name, login=f"{tenant}-{name}")
            await connected(self.store.database, tenant, self.mailboxes[tenant], account, self.credentials)

    @asynccontextmanager
    async def watched(
        self, *servers: HostileServer, limits: WatchLimits = QUICK, told: Told | None = None
    ) -> AsyncIterator[tuple[MailWatcher, Impatient]]:
        """Run a worker's watcher."""
        watches = Impatient(self.store)
        http = GuardedClient(allowed_hosts=[f"{server.host}:{server.port}" for server in servers])
        watcher = MailWatcher(watches, None, lambda tenant: self.mailboxes[tenant], http, limits, told)
        running = asyncio.create_task(watcher.run())
        try:
            yield watcher, watches
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            await http.close()

    async def read(self, tenant: str) -> int:
        """Return how many mailboxes of somebody were read to their end."""
        return int(str(await self.store.admin.fetchval(READ, tenant)))


@pytest.fixture
def people(store: Store) -> People:
    """Return nobody yet."""
    return People(store, CredentialStore(store.database, SecretKeys([SecretKey("k", os.urandom(32))])))


@pytest.mark.whole("it floods three times until an allowance ends")
async def test_a_server_that_exceeds_again_is_left_alone_longer_and_told_once(people: People) -> None:
    told, ann = Told(), await people.add("+15550000001")
    async with hostile_imap({"IDLE": floods("* 1\r\n")}) as server:
        await people.connect(ann, server, "primary")
        with capture_logs() as logs:
            async with people.watched(server, told=told) as (watcher, watches):
                await eventually(lambda: looks(watcher) and len(watches.failed) >= 3, "three failures")
    assert watches.failed[:3] == [("exceeded", FIRST_PAUSE * times) for times in (1, 2, 4)]
    [(tenant, notification)] = told.notified
    assert tenant == ann
    assert "The mail server of your account primary sends too much data" in notification.text
    assert {line["problem"] for line in logs if line["event"] == "mailbox_failed"} == {"exceeded"}


async def test_others_are_read_while_a_server_babbles_in_idle(people: People) -> None:
    ann, bob = await people.add("+15550000001"), await people.add("+15550000002")
    async with hostile_imap({"IDLE": floods("* 1\r\n")}) as bad, hostile_imap() as good:
        await people.connect(ann, bad, "primary")
        async with people.watched(bad, good) as (watcher, watches):
            await eventually(lambda: bad.sent, "the flood")
            await people.connect(bob, good, "primary")
            watcher.look()
            await eventually(lambda: people.read(bob), "the mailbox of another person")
            assert watches.failed[:1] in ([], [("exceeded", FIRST_PAUSE)])


async def test_slow_mailboxes_of_one_person_hold_one_turn_and_others_are_read(people: People) -> None:
    ann, bob = await people.add("+15550000001"), await people.add("+15550000002")
    async with hostile_imap({"UID FETCH": falls_silent}) as slow, hostile_imap() as good:
        await people.connect(ann, slow, *(f"box{number}" for number in range(QUICK.at_once)))
        async with people.watched(slow, good) as (watcher, _):
            await eventually(lambda: any("FETCH" in line for talk in slow.talks for line in talk.heard), "a slow look")
            await people.connect(bob, good, "primary")
            watcher.look()
            await eventually(lambda: people.read(bob), "the mailbox of another person")
            assert await people.read(ann) == 0
            assert sum(any("FETCH" in line for line in talk.heard) for talk in slow.talks) == 1


async def test_a_mailbox_is_read_in_the_share_of_its_person(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    persons, find = set[str](), mail_watcher.find_new

    async def found(*args: Any) -> Any:
        persons.add(PERSON.get())
        return await find(*args)

    monkeypatch.setattr(mail_watcher, "find_new", found)
    ann, bob = await people.add("+15550000001"), await people.add("+15550000002")
    async with hostile_imap() as good:
        for person in (ann, bob):
            await people.connect(person, good, "primary")
        async with people.watched(good):
            await eventually(lambda: len(persons) == 2, "both mailboxes")
    assert persons == {ann, bob}


async def test_a_turn_ends_with_its_time_however_often_its_server_answers(people: People) -> None:
    ann = await people.add("+15550000001")
    limits = replace(QUICK, turn=0.5)
    async with hostile_imap({"UID FETCH": drips(0.05, "* 1 FETCH (")}) as slow:
        await people.connect(ann, slow, "primary")
        async with people.watched(slow, limits=limits) as (_, watches):
            await eventually(lambda: watches.failed, "the end of the turn")
            assert watches.failed[0][0] == "unreachable"


async def test_so_many_mailboxes_of_a_person_are_watched_and_the_others_told(people: People) -> None:
    told, ann, bob = Told(), await people.add("+15550000001"), await people.add("+15550000002")
    async with hostile_imap() as good:
        await people.connect(ann, good, "a", "b", "c", "d")
        await people.connect(bob, good, "primary")
        async with people.watched(good, limits=replace(QUICK, of_a_person=3), told=told) as (watcher, watches):
            await eventually(lambda: people.read(bob), "the mailbox of another person")
            await eventually(lambda: watches.failed, "one too many")
            assert set(watches.failed) == {(TOO_MANY, MAX_PAUSE)}
            assert sum(watch.tenant_id == ann for watch in watcher.running) == 3
            watcher.look()
            await eventually(lambda: len(watches.failed) > 1, "the same one again")
    [(tenant, notification)] = told.notified
    assert tenant == ann
    assert notification.text.startswith("I look for new mail in at most 3 of your mailboxes, so for now I leave out")


async def test_news_without_end_is_looked_at_by_the_pace(people: People) -> None:
    ann = await people.add("+15550000001")
    async with hostile_imap({"IDLE": says("* 2 EXISTS")}) as server:
        await people.connect(ann, server, "primary")
        async with people.watched(server, limits=replace(QUICK, pace=3600.0)) as (_, watches):
            await eventually(
                lambda: any("DONE" in line for talk in server.talks for line in talk.heard), "the first IDLE"
            )
            await eventually(lambda: people.read(ann), "the first look")
            assert sum("FETCH" in line for talk in server.talks for line in talk.heard) <= 3
            assert watches.failed == []


async def test_what_a_mail_server_says_is_in_no_line_of_the_log(people: People) -> None:
    ann = await people.add("+15550000001")

    async def refuses(talk: Talk) -> None:
        await talk.say(f"{talk.tag} NO [{CANARY.upper()}] {CANARY}\r\n")

    wrong = f"* 1 FETCH (UID {'9' * 5000} {CANARY}"
    manners: list[tuple[str, Manner]] = [
        *((f"END {command}", refuses) for command in ("LOGIN", "CAPABILITY", "EXAMINE", "UID SEARCH", "IDLE")),
        *((command, says(wrong)) for command in ("GREETING", "UID FETCH")),
        ("EXAMINE", says(f"* OK [UIDVALIDITY {'9' * 5000}] {CANARY}")),
        ("IDLE", says(f"* BYE {CANARY}")),
        ("UID SEARCH", says(f"* SEARCH {'9' * 5000} {CANARY}")),
    ]
    for command, manner in manners:
        async with hostile_imap({command: manner}) as server:
            await people.connect(ann, server, "primary")
            failed, logs = await failures_at(people, server)
        assert any(line["event"] == "mailbox_failed" for line in logs)
        assert not any(CANARY in line.lower() or "unforeseen" in line for line in map(str, logs))
        assert {problem for problem, _ in failed} <= {"login", "refused", "unreachable"}


async def failures_at(people: People, server: HostileServer) -> tuple[list[tuple[str, float]], Sequence[EventDict]]:
    """Return how the mailboxes of a server fail, and what is logged of it."""
    with capture_logs() as logs:
        async with people.watched(server, limits=replace(QUICK, renew=0.1)) as (_, watches):
            await eventually(lambda: watches.failed, "a failure")
    return watches.failed, logs


def looks(watcher: MailWatcher) -> bool:
    """Let a watcher look again at once."""
    watcher.look()
    return True
