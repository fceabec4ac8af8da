"""Pauses of peers that exceeded their allowance, shared between processes through Redis.

Otherwise such a peer would cost each process its whole allowance, and again after each start. No process waits for
Redis: each uses the pauses that it knows, and while Redis is away or empty, those that it noted itself.
"""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress

import structlog
from redis.exceptions import RedisError

from core.db.redis_client import redis_client
from core.http.peer import MAX_PAUSE, Pause, Pauses

KEY = "onevalet:left-alone"
EVERY = 5.0
"""Seconds between two looks for pauses of other processes. A new pause of this process is shared at once."""
_SECONDS = 2.0
"""Seconds to wait for Redis."""
_SAME = 0.1
"""Seconds by which two readings of a pause may differ: each reading is converted between two clocks."""

_log = structlog.get_logger()


class SharedPauses:
    """Share the pauses of this process while it runs: by default all of them."""

    def __init__(self, redis_url: str, pauses: Collection[Pauses] = Pauses.shared) -> None:
        self._pauses = pauses
        self._redis = redis_client(
            redis_url, decode_responses=True, socket_connect_timeout=_SECONDS, socket_timeout=_SECONDS
        )
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_away = self._is_told = False

    async def start(self) -> None:
        """Read the known pauses before any request to a peer. Redis may be away still; that is not logged."""
        Pauses.on_news.add(self._news.set)
        await self._try(quietly=True)
        self._task = asyncio.create_task(self._run(), name="shared pauses")

    async def stop(self) -> None:
        """Stop sharing."""
        Pauses.on_news.discard(self._news.set)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._redis.aclose()

    async def _run(self) -> None:
        while True:
            if self._is_away:
                await asyncio.sleep(EVERY)
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(EVERY):
                        await self._news.wait()
            self._news.clear()
            await self._try()

    async def _try(self, *, quietly: bool = False) -> None:
        try:
            await self._exchange()
        except (RedisError, OSError, TimeoutError) as error:
            if not quietly and not self._is_told:
                _log.warning("pauses_not_shared", cause=type(error).__name__)
                self._is_told = True
            self._is_away = True
        else:
            self._is_away = self._is_told = False

    async def _exchange(self) -> None:
        """Exchange pauses in both directions, the later pause of each peer; this also refills an emptied Redis."""
        async with self._redis.pipeline(transaction=False) as asked:
            asked.time()
            asked.hgetall(KEY)
            (seconds, micros), rows = await asked.execute()
        now = seconds + micros / 1_000_000
        there = {name: pause for name, row in rows.items() if (pause := _read(row, now))}
        told = dict[str, str]()
        for pauses in tuple(self._pauses):
            ahead = pauses.clock() - now
            pauses.learn({name: Pause(pause.times, pause.until + ahead) for name, pause in there.items()})
            told |= _later(pauses.known, there, ahead, now)
        over = [name for name in rows if name not in there and name not in told]
        if not told and not over:
            return
        async with self._redis.pipeline(transaction=False) as telling:
            if told:
                telling.hset(KEY, mapping=told)
                telling.expire(KEY, int(2 * MAX_PAUSE) + 1)
            if over:
                telling.hdel(KEY, *over)
            await telling.execute()


def _later(here: Mapping[str, Pause], there: Mapping[str, Pause], ahead: float, now: float) -> dict[str, str]:
    """Return the pauses that end later here, in Redis' form. `ahead`: seconds by which our clock is ahead of Redis'."""
    told = {}
    for name, pause in here.items():
        until = pause.until - ahead
        if until + MAX_PAUSE > now and (name not in there or until > there[name].until + _SAME):
            told[name] = f"{pause.times} {until:.3f}"
    return told


def _read(row: str, now: float) -> Pause | None:
    """Parse a pause from Redis; None if it is over or unreadable."""
    try:
        times, until = row.split()
        pause = Pause(int(times), float(until))
    except ValueError:
        return None
    return pause if now < pause.until + MAX_PAUSE and pause.until < now + 2 * MAX_PAUSE else None
