"""The event bus: publish events, each of which is handled once by each group of subscribers."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial

import structlog
from redis.exceptions import RedisError

from abilities.events.store import ClaimedEvent, EventRef, EventStore, WorkState
from abilities.events.types import Event, EventHandler, UnreadableEvent
from core import tracing
from core.db.database import Database
from core.errors import StoreUnavailable
from core.http.peer import PERSON
from core.ids import IdMaker, make_id
from core.queue.claim_loop import Runner
from core.queue.wakeups import RedisWakeups, Wakeups, listen
from core.tracing import SpanKind

DUE = "events"
"""The events' kind of due work."""
SLOTS = 8
"""Events of a group that a process handles at once."""
POLL = timedelta(seconds=2)
"""The interval of a process without a watch over due work."""
HANDLE_WITHIN = timedelta(seconds=30)
TRIES = 5
"""Attempts before an event is set aside."""
_AWAY = 0.5
"""Seconds before a part that failed is started again."""
_OUTAGE = 30.0
"""Seconds without a failure after which the next failure counts as another outage, and is logged."""

_log = structlog.get_logger()


@dataclass(slots=True)
class _Group:
    name: str
    runner: Runner[ClaimedEvent]
    handlers: dict[str, EventHandler] = field(default_factory=dict)
    parts: list[asyncio.Task[None]] = field(default_factory=list)


class EventBus:
    """Store events in Postgres, and hand them to subscribers, whom a wakeup through Redis tells at once.

    An event is a row before `publish` returns. Each group of subscribers (those that share a name, in any process)
    handles it once; a handler that fails is called again a few times, then the event is set aside with the reason.
    Without Redis everything works, some seconds later. `wakeups`: those of the process; without them the bus has its
    own. `poll`: how often it looks for events by itself, seldom if something calls `look` when some are due.
    """

    def __init__(
        self,
        redis_url: str,
        database: Database,
        make_id: IdMaker = make_id,
        *,
        wakeups: Wakeups | None = None,
        poll: timedelta = POLL,
        handle_within: timedelta = HANDLE_WITHIN,
        tries: int = TRIES,
    ) -> None:
        self.store = EventStore(database, make_id)
        self._make_id = make_id
        self._redis_url = redis_url
        self._wakeups = wakeups
        self._own: RedisWakeups | None = None
        self._poll = poll
        self._handle_within = handle_within
        self._lease = handle_within + timedelta(seconds=5)
        self._tries = tries
        self._groups: dict[str, _Group] = {}

    async def publish(self, event: Event, also: str | None = None, *, source_id: str | None = None) -> bool:
        """Store an event to be handled; return False if the tenant's (source, id) is known already.

        An event without an id gets an id. `also`: another id under which it may be known. `source_id`: the event's
        source, which must still be the tenant's. Raises `SourceGone` if it is not, and `StoreUnavailable` if the event
        could not be stored.
        """
        if not event.id:
            event = replace(event, id=self._make_id("evt"))
        groups = await self.store.keep(event, also, source_id)
        for group in groups or ():
            await self._wake(group, [EventRef(event.tenant_id, event.source, event.id)])
        return groups is not None

    async def hurry(self, group: str, events: Sequence[EventRef]) -> None:
        """Wake a group for events that another room's transaction stored."""
        await self._wake(group, events)

    async def subscribe(self, pattern: str, callback: EventHandler, *, name: str = "") -> None:
        """Call `callback` for each event whose `source:type` matches `pattern` (`*` and `?` are wildcards).

        `name` is the group, by default the pattern: all subscribers of the same name, in any process, share the events.
        Events published before that are not handled yet are included. A group outlives its processes, so that nothing
        is missed until they are back; `unsubscribe` ends it.
        """
        name = name or pattern
        group = self._groups.get(name)
        if group is not None:
            group.handlers[pattern] = callback  # first: an event without a handler counts as handled
        await self.store.add_group(name, pattern)
        if group is None:
            group = self._groups[name] = self._open(name)
        group.handlers[pattern] = callback
        group.runner.look()

    async def unsubscribe(self, pattern: str, *, name: str = "") -> None:
        """End a subscription of the whole group; events being handled here are finished first."""
        name = name or pattern
        group = self._groups.get(name)
        if group is not None:
            group.handlers.pop(pattern, None)
            if not group.handlers:
                await self._end(self._groups.pop(name))
        await self.store.drop_group(name, pattern)

    async def look(self) -> None:
        """Look now for events that are due: new events without a wakeup, retries, and those of a dead process."""
        for group in self._groups.values():
            group.runner.look()

    async def close(self) -> None:
        groups, self._groups = list(self._groups.values()), {}
        await asyncio.gather(*(self._end(group) for group in groups))
        own, self._own = self._own, None
        if own is not None:
            self._wakeups = None
            await own.stop()

    async def _wake(self, group: str, events: Sequence[EventRef]) -> None:
        wakeups = await self._waking()
        for ref in events:
            wakeups.wake(_queue(group), ref.to_row_id())

    async def _waking(self) -> Wakeups:
        if self._wakeups is None:
            self._wakeups = self._own = RedisWakeups(self._redis_url)
            await self._own.start()
        return self._wakeups

    def _open(self, name: str) -> _Group:
        """Start claiming a group's events here: those that wakeups name, and those that are found due."""

        async def claim(row_id: str | None) -> ClaimedEvent | None:
            if row_id is None:
                return await self.store.claim_next(name, self._lease)
            return await self.store.claim(EventRef.from_row_id(row_id), name, self._lease)

        runner = Runner(f"event {name}", claim, lambda claimed: self._run(group, claimed), slots=SLOTS, poll=self._poll)
        hear = partial(listen, self._redis_url, _queue(name), runner.room, runner.ring)
        group = _Group(name, runner)
        group.parts = [asyncio.create_task(_forever(part), name=f"events {name}") for part in (hear, runner.poll)]
        return group

    async def _end(self, group: _Group) -> None:
        for part in group.parts:
            part.cancel()
        await asyncio.wait(group.parts)
        await group.runner.stop(self._handle_within)

    async def _run(self, group: _Group, claimed: ClaimedEvent) -> None:
        event = claimed.event
        PERSON.set(event.tenant_id)
        named = f"{event.tenant_id}:{event.source}:{event.id}"
        try:
            with tracing.span("handle event", SpanKind.CONSUMER, parent=claimed.traceparent, root=named):
                await self._handle(group, claimed)
        except StoreUnavailable as error:
            _log.warning("event_delayed", group=group.name, cause=str(error))  # until its lease ends

    async def _handle(self, group: _Group, claimed: ClaimedEvent) -> None:
        if claimed.attempts > self._tries:
            await self._set_aside(claimed, f"it was tried {self._tries} times, and the last try did not end")
            return
        try:
            async with asyncio.timeout(self._handle_within.total_seconds()):
                for handler in _matching(group, claimed):
                    await handler(claimed.event)
        except asyncio.CancelledError:
            await self.store.end(claimed, WorkState.WAITING)
            raise
        except StoreUnavailable:
            await self._again(claimed, timedelta(seconds=1))
        except UnreadableEvent as error:
            await self._set_aside(claimed, str(error))
        except Exception as error:
            _log.warning(
                "event_handler_failed",
                group=group.name,
                attempt=claimed.attempts,
                exc_info=True,
                event_id=claimed.event.id,
            )
            await self._failed(claimed, f"{type(error).__name__}: {error}")
        else:
            await self.store.end(claimed, WorkState.DONE)

    async def _failed(self, claimed: ClaimedEvent, reason: str) -> None:
        if claimed.attempts >= self._tries:
            await self._set_aside(claimed, reason)
            return
        delay = timedelta(seconds=2 ** (claimed.attempts - 1) * (0.5 + random.random() / 2))
        await self._again(claimed, delay, reason)

    async def _again(self, claimed: ClaimedEvent, delay: timedelta, reason: str = "") -> None:
        """Schedule another attempt at an event, by any process of its group."""
        await self.store.end(claimed, WorkState.WAITING, reason, delay)
        (await self._waking()).come_due(DUE, "", delay)

    async def _set_aside(self, claimed: ClaimedEvent, reason: str) -> None:
        await self.store.end(claimed, WorkState.POISON, reason)
        _log.error("event_set_aside", group=claimed.group, source=claimed.event.source, event_id=claimed.event.id)


def _matching(group: _Group, claimed: ClaimedEvent) -> list[EventHandler]:
    names = [f"{source}:{claimed.event.type}" for source in claimed.names]
    return [
        handler
        for pattern, handler in group.handlers.items()
        if any(fnmatchcase(name, _literal(pattern)) for name in names)
    ]


def _literal(pattern: str) -> str:
    # In a subscription's pattern brackets are literal.
    return pattern.replace("[", "[[]")


def _queue(group: str) -> str:
    return f"onevalet:wake:events:{group}"


async def _forever(work: Callable[[], Awaitable[None]]) -> None:
    """Start endless work again whenever it fails; an outage of Redis or Postgres is logged once."""
    now = asyncio.get_running_loop().time
    quiet_from = now()
    while True:
        try:
            await work()
        except (RedisError, OSError, StoreUnavailable) as error:
            if now() >= quiet_from:
                _log.warning("events_delayed", cause=type(error).__name__)
            quiet_from = now() + _OUTAGE
        except Exception:
            _log.exception("events_failed")
        await asyncio.sleep(_AWAY)
