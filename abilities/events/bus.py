"""The event bus: publish events, each of which is handled once by each group of subscribers."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase

import structlog
from redis.exceptions import RedisError

from abilities.events.store import ClaimedEvent, EventRef, EventStore, WorkState
from abilities.events.streams import EventStreams
from abilities.events.types import Event, EventHandler, UnreadableEvent
from core import tracing
from core.db.database import Database
from core.errors import StoreUnavailable
from core.ids import IdMaker, make_id
from core.tracing import SpanKind

SLOTS = 8
"""Events of a group that one process handles at once."""
HANDLE_WITHIN = timedelta(seconds=30)
TRIES = 5
"""Attempts before an event is set aside."""

_log = structlog.get_logger()


@dataclass(slots=True)
class _Group:
    name: str
    handlers: dict[str, EventHandler] = field(default_factory=dict)
    reading: list[asyncio.Task[None]] = field(default_factory=list)
    running: set[asyncio.Task[None]] = field(default_factory=set)
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SLOTS))


class EventBus:
    """Store events in Postgres, speed them up through Redis Streams, and hand them to subscribers.

    An event is a row before `publish` returns. Each group of subscribers (those that share a name, in any process)
    handles it once; a handler that fails is called again a few times, then the event is set aside with the reason.
    Without Redis everything works, some seconds later. `sweep`: how often events that a stream lost are searched for.
    """

    def __init__(
        self,
        redis_url: str,
        database: Database,
        make_id: IdMaker = make_id,
        *,
        sweep: timedelta = timedelta(seconds=2),
        handle_within: timedelta = HANDLE_WITHIN,
        tries: int = TRIES,
    ) -> None:
        self.store = EventStore(database, make_id)
        self._make_id = make_id
        self._streams = EventStreams(redis_url, make_id("con"))
        self._sweep = sweep
        self._handle_within = handle_within
        self._lease = handle_within + timedelta(seconds=5)
        self._tries = tries
        self._groups: dict[str, _Group] = {}

    async def publish(self, event: Event, also: str | None = None, *, source_id: str | None = None) -> bool:
        """Store an event to be handled; return False when the tenant's (source, id) is known already.

        An event without an id gets one. `also`: another id under which it may be known. `source_id`: the event's
        source, which must still be the tenant's. Raises `SourceGone` when it is not, and `StoreUnavailable` when the
        event could not be stored.
        """
        if not event.id:
            event = replace(event, id=self._make_id("evt"))
        groups = await self.store.keep(event, also, source_id)
        for group in groups or ():
            await self._streams.add(group, [EventRef(event.tenant_id, event.source, event.id)])
        return groups is not None

    async def hurry(self, group: str, events: Sequence[EventRef]) -> None:
        """Pass stored events to a group at once: those that a transaction of another room stored itself."""
        await self._streams.add(group, events)

    async def subscribe(self, pattern: str, callback: EventHandler, *, name: str = "") -> None:
        """Call `callback` for each event whose `source:type` matches `pattern` (`*` and `?` are wildcards).

        `name` is the group, by default the pattern: all subscribers of one name, in any process, share the events.
        Events published before that are not handled yet are included. A group outlives its processes, so that
        nothing is missed until they are back; `unsubscribe` ends it.
        """
        name = name or pattern
        await self.store.add_group(name, pattern)
        group = self._groups.setdefault(name, _Group(name))
        group.handlers[pattern] = callback
        if not group.reading:
            group.reading = [
                asyncio.create_task(_forever(lambda: self._read(group)), name=f"events {name}"),
                asyncio.create_task(_forever(lambda: self._sweep_up(group)), name=f"sweep {name}"),
            ]

    async def unsubscribe(self, pattern: str, *, name: str = "") -> None:
        """End a subscription of the whole group; events being handled here are finished first."""
        name = name or pattern
        group = self._groups.get(name)
        if group is not None:
            group.handlers.pop(pattern, None)
            if not group.handlers:
                await self._end(self._groups.pop(name))
        await self.store.drop_group(name, pattern)

    async def close(self) -> None:
        groups, self._groups = list(self._groups.values()), {}
        await asyncio.gather(*(self._end(group) for group in groups))
        await self._streams.close()

    async def _end(self, group: _Group) -> None:
        for task in group.reading:
            task.cancel()
        if group.reading:
            await asyncio.wait(group.reading)
        if group.running:
            await asyncio.wait(group.running, timeout=self._handle_within.total_seconds())
        for task in group.running:
            task.cancel()
        if group.running:
            await asyncio.wait(group.running)
        await self._streams.leave(group.name)

    async def _read(self, group: _Group) -> None:
        await group.free.acquire()
        group.free.release()
        count = max(1, group.free._value)
        for entry in await self._streams.read(group.name, count, self._sweep):
            await self._start(group, entry.ref, entry.entry_id)

    async def _sweep_up(self, group: _Group) -> None:
        """Put events that the stream lost back into it; where that fails, handle them here."""
        await asyncio.sleep(self._sweep.total_seconds() * (0.75 + random.random() / 2))
        try:
            for entry in await self._streams.take_over(group.name, self._lease):
                await self._start(group, entry.ref, entry.entry_id)
        except (RedisError, OSError) as error:
            _log.info("event_take_over_delayed", cause=type(error).__name__)
        lost = await self.store.find_work(group.name, self._sweep)
        if not lost:
            return
        _log.info("events_put_back", group=group.name, count=len(lost))
        if not await self._streams.add(group.name, lost):
            for ref in lost:
                await self._start(group, ref, "")

    async def _start(self, group: _Group, ref: EventRef, entry_id: str) -> None:
        await group.free.acquire()
        task = asyncio.create_task(self._guarded(group, ref, entry_id), name=f"event {group.name}")
        group.running.add(task)
        task.add_done_callback(group.running.discard)
        task.add_done_callback(lambda _: group.free.release())

    async def _guarded(self, group: _Group, ref: EventRef, entry_id: str) -> None:
        # Nothing above this would catch an error: it is logged here, and the end of the lease brings the event back.
        try:
            claimed = await self.store.claim(ref, group.name, self._lease)
            if claimed is not None:
                named = f"{ref.tenant_id}:{ref.source}:{ref.id}"
                with tracing.span("handle event", SpanKind.CONSUMER, parent=claimed.traceparent, root=named):
                    await self._handle(group, claimed)
            if entry_id:
                await self._streams.acknowledge(group.name, entry_id)
        except StoreUnavailable as error:
            _log.warning("event_delayed", group=group.name, cause=str(error))
        except Exception:
            _log.exception("event_failed", group=group.name)

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
            await self.store.end(claimed, WorkState.WAITING, delay=timedelta(seconds=1))
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
        await self.store.end(claimed, WorkState.WAITING, reason, delay)

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


async def _forever(work: Callable[[], Awaitable[None]]) -> None:
    """Repeat a piece of work forever; an outage of Redis or Postgres is logged once."""
    away = False
    while True:
        try:
            await work()
            away = False
        except (RedisError, OSError, StoreUnavailable) as error:
            if not away:
                _log.warning("events_delayed", cause=type(error).__name__)
            away = True
            await asyncio.sleep(0.5)
        except Exception:
            _log.exception("events_failed")
            await asyncio.sleep(1)
