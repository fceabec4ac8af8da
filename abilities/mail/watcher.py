"""New mail: the mailboxes of tasks are watched, and new messages become events.

A mailbox is watched by a single worker, under a lease. All of a worker's mailboxes share its event loop. New messages
are stored as events together with the position after them, so that none is missed or reported twice.
"""

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

import structlog

from abilities.events.bus import EventBus
from abilities.events.source_types import MAIL
from abilities.events.store import EventRef
from abilities.mail.idle import Arrival, IdleMailbox, open_mailbox
from abilities.mail.new_mail import event_of
from abilities.mail.watches import LEASE, MailWatch, MailWatches, Position
from core.credentials.types import Ability, OpenAccount
from core.errors import AccountMissing, LeaseLost, OneValetError, StoreUnavailable
from core.http.peer import PERSON, Pauses, Slots
from core.http.types import HttpClient
from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop, speaking
from core.notifications.types import Notification, Notifier
from core.queue.due import ASK_ANYWAY
from core.tools.person_access import AccountAccess
from providers.email.imap_wire import ImapError, ImapExceeded, ImapRefused, LoginRefused
from providers.email.messages import read_messages
from providers.email.types import MailFailed, MailFailure, StoredMail

CLOCKS_APART = timedelta(hours=1)
"""How far back mail is read if a mailbox has renumbered its messages."""
FIRST_PAUSE, MAX_PAUSE = 2.0, 600.0
"""Seconds before a mailbox is tried again: doubling, up to the maximum."""
SURE_AFTER = 8
"""Refused logins in a row after which a refusal without a reason counts as final."""

LOGIN, NO_MAILBOX, UNFORESEEN = MailFailure.LOGIN.value, "no_mailbox", "unforeseen"
"""Problems: the server refuses the login, the account has no mailbox, an unexpected error."""
EXCEEDED, TOO_MANY = MailFailure.EXCEEDED.value, "too_many"
"""Further problems: the server sends more than it may, and its person has more mailboxes than a worker watches."""
CATEGORY = "account"

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """`mailboxes` of a worker, at most `of_a_person` of them for a single person.

    `poll` and `renew` are seconds: between two looks without IDLE, and the length of an IDLE. `batch` messages are
    stored together; `at_once` mailboxes connect or read at the same time, each of a different person, each for `turn`
    seconds at most. `pace`: minimum seconds between the beginnings of two looks, no matter how often a server reports
    news.
    """

    mailboxes: int = 200
    of_a_person: int = 20
    poll: float = 120.0
    renew: float = 180.0
    batch: int = 20
    at_once: int = 8
    turn: float = 45.0
    pace: float = 1.0


@dataclass(slots=True)
class MailWatcher:
    """The mailboxes that this worker watches. Any number of workers may run a watcher."""

    watches: MailWatches
    bus: EventBus | None
    accounts: Callable[[str], AccountAccess]
    http: HttpClient
    limits: WatchLimits = WatchLimits()
    notifier: Notifier | None = None
    """Tells people of a server that sends more than it may, and of a mailbox beyond those that are watched."""
    running: dict[MailWatch, asyncio.Task[None]] = field(default_factory=dict)
    _asked: asyncio.Event = field(default_factory=asyncio.Event)
    _turns: Slots = field(init=False)
    _pauses: Pauses = field(default_factory=lambda: Pauses("watch"))
    _told: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._turns = Slots(self.limits.at_once)

    def look(self) -> None:
        """Look at once for unwatched mailboxes."""
        self._asked.set()

    async def run(self) -> None:
        """Watch until cancelled."""
        try:
            while True:
                try:
                    await self._share()
                except StoreUnavailable as error:
                    _log.warning("mail_watches_delayed", cause=str(error))
                with suppress(TimeoutError):
                    async with asyncio.timeout(LEASE.total_seconds() / 4 if self.running else ASK_ANYWAY):
                        await self._asked.wait()
                self._asked.clear()
        finally:
            await self._end(list(self.running))
            with suppress(StoreUnavailable):
                await self.watches.leave()

    async def _share(self) -> None:
        """Renew the leases, end the watches that this worker no longer holds, and begin new watches."""
        held = list(await self.watches.keep()) if self.running else []
        await self._end([watch for watch in self.running if watch not in held])
        if room := self.limits.mailboxes - len(held):
            held += await self.watches.claim(room)
        people = Counter(watch.tenant_id for watch in self.running)
        for watch in held:
            if watch in self.running:
                continue
            if people[watch.tenant_id] >= self.limits.of_a_person:
                await self._leave_out(watch)
                continue
            people[watch.tenant_id] += 1
            self.running[watch] = asyncio.create_task(self._watch(watch), name="mailbox")

    async def _leave_out(self, watch: MailWatch) -> None:
        """Give back a mailbox beyond its person's limit, and notify that person once."""
        try:
            position = await self.watches.position(watch)
            if position is None:
                return
            sentence = gettext_noop(
                "I look for new mail in at most {most} of your mailboxes, so for now I leave out your account"
                " {account}."
            )
            await self._tell_once(watch, position, TOO_MANY, sentence)
            await self.watches.fail(watch, timedelta(seconds=MAX_PAUSE), TOO_MANY)
        except LeaseLost:
            return

    async def _end(self, watches: Sequence[MailWatch]) -> None:
        ending = [self.running[watch] for watch in watches if watch in self.running]
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending)
        for watch in watches:
            self.running.pop(watch, None)  # a task that had not begun could not do that itself

    async def _watch(self, watch: MailWatch) -> None:
        """Watch a mailbox until that fails; the next step is stored with the failure."""
        PERSON.set(watch.tenant_id)
        try:
            await self._until_it_fails(watch)
        finally:
            self.running.pop(watch, None)

    async def _until_it_fails(self, watch: MailWatch) -> None:
        log = _log.bind(tenant=watch.tenant_id, mailbox=watch.id)
        try:
            position = await self.watches.position(watch)
            if position is None:
                return
            try:
                await self._read_on(watch, position)
            except LeaseLost:
                return
            except Exception as error:
                outcome = outcome_of(error, position.failures)
                if outcome.problem == UNFORESEEN:
                    # The outermost handler of a watch: a mailbox may not end the others.
                    log.exception("mailbox_failed")
                else:
                    log.info("mailbox_failed", problem=outcome.problem, cause=type(error).__name__)
                refused = (
                    outcome.problem == LOGIN and outcome.ended
                )  # its person is notified (abilities.accounts.idle_grants)
                exceeds = outcome.problem == EXCEEDED
                pause = await self._exceeded(watch, position) if exceeds else _pause(position)
                await self.watches.fail(watch, pause, outcome.problem, ended=outcome.ended, refused=refused)
        except StoreUnavailable:
            log.info("mailbox_delayed")  # the watch begins again when leases are renewed, or run out

    async def _exceeded(self, watch: MailWatch, position: Position) -> timedelta:
        """Notify a person once of a server that sends more than it may; return how long it is left alone.

        Counted here, since a mailbox's failures are reset when it was read to its end, which may happen each time.
        """
        pause = timedelta(seconds=self._pauses.exceeded(watch.tenant_id, watch.id))
        sentence = gettext_noop(
            "The mail server of your account {account} sends too much data, so I look there for new mail less and"
            " less often until it stops."
        )
        await self._tell_once(watch, position, EXCEEDED, sentence)
        return pause

    async def _tell_once(self, watch: MailWatch, position: Position, problem: str, sentence: str) -> None:
        if self.notifier is None or (watch.id, problem) in self._told:
            return
        with speaking(await self.watches.language(watch.tenant_id)):
            text = gettext(sentence, account=position.account_name, most=self.limits.of_a_person)
        key = f"mail {problem} {position.service} {position.account_name} {position.changed_at.isoformat()}"
        await self.notifier.notify(watch.tenant_id, Notification(text, CATEGORY, dedupe_key=key))
        self._told.add((watch.id, problem))

    async def _read_on(self, watch: MailWatch, position: Position) -> None:
        """Read new messages, wait, and repeat."""
        need = f"{position.service}:{Ability.MAIL_READ}"
        account = await self.accounts(watch.tenant_id).open(need, position.account_name)
        loop = asyncio.get_running_loop()
        async with AsyncExitStack() as stack:
            async with self._turns.of(watch.tenant_id), self._time():
                mailbox = await stack.enter_async_context(open_mailbox(account, self.http))
            opened = loop.time()
            while True:
                began = loop.time()
                try:
                    await self._read(watch, account, mailbox)
                except StoreUnavailable as error:
                    _log.warning("new_mail_delayed", cause=str(error))
                    await asyncio.sleep(0.5 + random.random())
                else:
                    await mailbox.wait(self.limits.renew, self.limits.poll)
                    await asyncio.sleep(max(0.0, began + self.limits.pace - loop.time()))
                if loop.time() - opened > MAX_PAUSE:
                    self._pauses.kept_to_it(watch.tenant_id, watch.id)
                    self._told.discard((watch.id, EXCEEDED))

    async def _read(self, watch: MailWatch, account: OpenAccount, mailbox: IdleMailbox) -> None:
        """Store arrivals since the position as events, in batches; other mailboxes run between them."""
        position = await self.watches.position(watch)
        if position is None:
            raise LeaseLost
        name = name_of(account)
        async with self._turns.of(watch.tenant_id), self._time():
            arrivals, last = await find_new(mailbox, position, name)
        batches = [arrivals[at : at + self.limits.batch] for at in range(0, len(arrivals), self.limits.batch)] or [[]]
        for batch in batches:
            whole = batch is batches[-1]
            async with self._turns.of(watch.tenant_id):
                async with self._time():
                    mails = await fetch_mails(mailbox, batch)
                events = await read_events(account, mails)
            reached = max(last, batch[-1].uid if batch else 0) if whole else batch[-1].uid
            new = await self.watches.take(watch, name, mailbox.validity, reached, events, whole=whole)
            for group, ids in new.by_group.items():
                if self.bus is not None:
                    await self.bus.hurry(group, [EventRef(watch.tenant_id, MAIL, id) for id in ids])
            if new.count:
                _log.info("mail_received", tenant=watch.tenant_id, count=new.count)

    @asynccontextmanager
    async def _time(self) -> AsyncIterator[None]:
        """Limit how long a mail server may hold a turn, no matter how long each answer takes."""
        try:
            async with asyncio.timeout(self.limits.turn):
                yield
        except TimeoutError as error:
            raise ImapError("no answer in time") from error


def name_of(account: OpenAccount) -> str:
    """Return a name that tells an account's mailbox from another mailbox under the same account name."""
    said = f"{account.login}\0{account.servers.get('imap', '')}"
    return hashlib.sha256(said.encode()).hexdigest()[:32]


async def find_new(mailbox: IdleMailbox, position: Position, name: str) -> tuple[Sequence[Arrival], int]:
    """Return the new messages of a mailbox, and the number up to which it is read by then.

    If its messages were renumbered, those from about the time of the last look count as new: known events are not
    stored twice.
    """
    if position.mailbox == name and position.validity == mailbox.validity:
        return await mailbox.after(position.last_uid), position.last_uid
    since = position.since
    if position.mailbox and position.mailbox != name:
        since = max(since, position.changed_at)
    elif position.read_at is not None:
        since = max(since, position.read_at - CLOCKS_APART)
    arrivals = await mailbox.since(since)
    if mailbox.next_uid:
        return arrivals, mailbox.next_uid - 1
    newest = await mailbox.last(1)
    return arrivals, newest[0].uid if newest else 0


async def fetch_mails(mailbox: IdleMailbox, arrivals: Sequence[Arrival]) -> list[StoredMail]:
    """Return messages, without those that have been moved or deleted."""
    fetched = [(await mailbox.fetch(arrival.uid), arrival) for arrival in arrivals]
    return [replace(mail, received=mail.received or arrival.at) for mail, arrival in fetched if mail is not None]


async def read_events(account: OpenAccount, mails: Sequence[StoredMail]) -> list[JsonObject]:
    """Return the events of messages."""
    messages = await read_messages([mail.data for mail in mails])
    return [event_of(account.account, mail, message) for mail, message in zip(mails, messages, strict=True)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The failure of a mailbox. `ended`: only new data for its account can change it."""

    problem: str
    ended: bool = False


def outcome_of(error: Exception, failures: int) -> Outcome:
    """Return the meaning of an error for a mailbox that has failed so often in a row before."""
    match error:
        case LoginRefused():
            return Outcome(LOGIN, error.sure or failures + 1 >= SURE_AFTER)
        case AccountMissing():
            return Outcome(NO_MAILBOX, ended=True)
        case MailFailed():
            return Outcome(error.failure.value, error.failure in (MailFailure.BARRED, MailFailure.WRONG))
        case ImapExceeded():
            return Outcome(EXCEEDED)
        case ImapError():
            return Outcome(MailFailure.UNREACHABLE.value)
        case ImapRefused():
            return Outcome(MailFailure.REFUSED.value)
        case OneValetError():
            return Outcome("account")
    return Outcome(UNFORESEEN)


def _pause(position: Position) -> timedelta:
    seconds = min(FIRST_PAUSE * 2 ** min(position.failures, 20), MAX_PAUSE)
    return timedelta(seconds=seconds * (0.75 + random.random() / 2))
