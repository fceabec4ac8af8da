"""Rate limits: the messages that a person, and an account of the operator, may send within a minute; counted in Redis.

While Redis is away each process counts in memory. Refusing messages would punish people for our outage, accepting all
would let floods in, and delaying turns would stop everything, though the rest works without Redis. Only exactness is
lost: at worst a person gets the rate once per worker.

By hand, because `limits` counts one thing per call and asks Redis at each: a turn counts its person's messages and its
account together, once however often it is tried, in one round trip, and the fallback to memory would stay.
"""

import asyncio
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import structlog
from redis.exceptions import RedisError, ResponseError

from core.db.redis_client import redis_client

ACCOUNT_FACTOR = 100
"""The rate of an operator's account, in people's rates, beyond which its turns wait."""
REDIS_SECONDS = 1.0
"""Seconds that a count in Redis may take before memory counts instead."""
VERDICT_SECONDS = 3600
VERDICTS_IN_MEMORY = 10_000

MINUTE = 60
_GONE = -2
"""Redis' answer to TTL for a key that does not exist."""
_PREFIX = "onevalet:rate"
# A single round trip, since a turn waits for it. A list of times for a person, newest first, a count for an account.
_SCRIPT = """
local turn, account, person, told = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, messages, limit, account_limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local minute, kept = tonumber(ARGV[5]), ARGV[6]
if not redis.call('SET', turn, 'within', 'NX', 'EX', kept) then
    return redis.call('GET', turn)
end
local used = redis.call('INCR', account)
if used == 1 then
    redis.call('EXPIRE', account, minute)
end
if used > account_limit then
    redis.call('DECR', account)
    redis.call('DEL', turn)
    return 'wait'
end
local taken = 0
while taken < math.min(messages, limit) do
    local oldest = redis.call('LINDEX', person, limit - 1)
    if oldest and tonumber(oldest) >= now - minute then
        break
    end
    if redis.call('LPUSH', person, ARGV[1]) > limit then
        redis.call('LTRIM', person, 0, limit - 1)
    end
    taken = taken + 1
end
if taken > 0 then
    redis.call('EXPIRE', person, minute)
end
if taken > 0 or messages == 0 then
    return 'within'
end
redis.call('DECR', account)
local verdict = redis.call('SET', told, 1, 'NX', 'EX', minute) and 'beyond' or 'silent'
redis.call('SET', turn, verdict, 'EX', kept)
return verdict
"""
_log = structlog.get_logger()


class Rate(StrEnum):
    """The result of a count."""

    WITHIN = "within"
    BEYOND = "beyond"
    """Beyond the person's limit for the first time in this minute: tell them."""
    SILENT = "silent"
    """Beyond the person's limit, and they know it already."""
    WAIT = "wait"
    """The account's limit is reached, which is no person's fault: the turn waits."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The messages of a turn, counted by person and by our account."""

    turn_id: str
    tenant_id: str
    channel: str
    account: str
    messages: int


class Rates:
    """Count messages per minute; a turn is counted once, however often it is checked."""

    def __init__(self, redis_url: str = "") -> None:
        """Without a URL this process counts in memory."""
        self._own = _OwnCounts()
        self._shared = _SharedCounts(redis_url) if redis_url else None
        self._away = False

    async def count(self, counted: Counted, a_minute: int) -> Rate:
        """Count a turn's messages; WITHIN means that there was room for the first message at least."""
        if self._shared is None:
            return self._own.count(counted, a_minute)
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                answer = await self._healed(self._shared, counted, a_minute)
        except (RedisError, OSError, TimeoutError, ValueError) as error:
            if not self._away:
                _log.warning("rates_in_memory", cause=type(error).__name__)
            self._away = True
            return self._own.count(counted, a_minute)
        self._away = False
        return answer

    async def close(self) -> None:
        if self._shared:
            await self._shared.close()

    async def _healed(self, shared: "_SharedCounts", counted: Counted, a_minute: int) -> Rate:
        """Count; a key in Redis that is no count, or never expires, is deleted and counted from zero."""
        try:
            answer = await shared.count(counted, a_minute)
        except (ResponseError, ValueError) as error:
            _log.warning("rates_healed", cause=type(error).__name__)
        else:
            if answer is not Rate.WAIT or await shared.runs_out(counted, a_minute):
                return answer
            _log.warning("rates_healed", cause="it would never run out")
        await shared.forget(counted, a_minute)
        return await shared.count(counted, a_minute)


class _Script(Protocol):
    async def __call__(self, keys: list[str], args: list[str | int | float]) -> str: ...


class _SharedCounts:
    """The counts in Redis, which all workers share."""

    def __init__(self, redis_url: str) -> None:
        self._client = redis_client(
            redis_url, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS, decode_responses=True
        )
        self._script: _Script = self._client.register_script(_SCRIPT)

    async def count(self, counted: Counted, a_minute: int) -> Rate:
        """Count a turn's messages. Raises `RedisError`, and `ValueError` for an invalid verdict."""
        limits: list[str | int | float] = [a_minute, a_minute * ACCOUNT_FACTOR, MINUTE, VERDICT_SECONDS]
        return Rate(await self._script(_keys(counted, a_minute), [time.time(), counted.messages, *limits]))

    async def forget(self, counted: Counted, a_minute: int) -> None:
        """Restart the turn's counts."""
        await self._client.delete(*_keys(counted, a_minute))

    async def runs_out(self, counted: Counted, a_minute: int) -> bool:
        """Return whether the account's count ends within the minute."""
        seconds: int = await self._client.ttl(_keys(counted, a_minute)[1])
        return 0 <= seconds <= MINUTE or seconds == _GONE

    async def close(self) -> None:
        await self._client.aclose(close_connection_pool=True)


def _keys(counted: Counted, a_minute: int) -> list[str]:
    """Return the keys of the turn's verdict, the account's count, the person's times, and the mark of their warning."""
    return [
        f"{_PREFIX}:turn:{counted.turn_id}",
        # People of different rates over the same account are counted apart.
        f"{_PREFIX}:account:{counted.channel}:{counted.account}:{a_minute}",
        f"{_PREFIX}:person:{counted.tenant_id}",
        f"{_PREFIX}:told:{counted.tenant_id}",
    ]


@dataclass(slots=True)
class _OwnCounts:
    """The same counts in this process' memory."""

    verdicts: OrderedDict[str, Rate] = field(default_factory=OrderedDict)
    accounts: dict[tuple[str, str, int], deque[float]] = field(default_factory=dict)
    people: dict[str, deque[float]] = field(default_factory=dict)
    told: dict[str, deque[float]] = field(default_factory=dict)
    swept: float = 0.0

    def count(self, counted: Counted, a_minute: int) -> Rate:
        """Count a turn's messages."""
        if known := self.verdicts.get(counted.turn_id):
            return known
        self._sweep(now := time.monotonic())
        account = self.accounts.setdefault((counted.channel, counted.account, a_minute), deque())
        if not _has_room(account, a_minute * ACCOUNT_FACTOR, now):
            return Rate.WAIT
        rate = self._person(counted, a_minute, now)
        if rate is Rate.WITHIN:
            account.append(now)
        self.verdicts[counted.turn_id] = rate
        if len(self.verdicts) > VERDICTS_IN_MEMORY:
            self.verdicts.popitem(last=False)
        return rate

    def _person(self, counted: Counted, a_minute: int, now: float) -> Rate:
        times = self.people.setdefault(counted.tenant_id, deque())
        taken = 0
        # Message by message: those taken together with the last message that had room are answered with it.
        while taken < min(counted.messages, a_minute) and _has_room(times, a_minute, now):
            times.append(now)
            taken += 1
        if taken or not counted.messages:
            return Rate.WITHIN
        told = self.told.setdefault(counted.tenant_id, deque())
        if not _has_room(told, 1, now):
            return Rate.SILENT
        told.append(now)
        return Rate.BEYOND

    def _sweep(self, now: float) -> None:
        """Forget, once a minute, those of whom nothing came for a minute."""
        if now - self.swept < MINUTE:
            return
        self.swept = now
        self.accounts = {key: times for key, times in self.accounts.items() if _has_any(times, now)}
        self.people = {key: times for key, times in self.people.items() if _has_any(times, now)}
        self.told = {key: times for key, times in self.told.items() if _has_any(times, now)}


def _has_room(times: deque[float], limit: int, now: float) -> bool:
    """Return whether fewer than `limit` times are of the last minute; drop the older times."""
    while times and times[0] < now - MINUTE:
        times.popleft()
    return len(times) < limit


def _has_any(times: deque[float], now: float) -> bool:
    return bool(times) and times[-1] >= now - MINUTE
