"""Rate limits: the messages that a person, and an account of ours, may send within a minute; counted in Redis.

While Redis is away each process counts in memory. Refusing messages would punish people for our outage, accepting all
would let floods in, and delaying turns would stop everything, though the rest works without Redis. Only exactness is
lost: at worst a person gets the rate once per worker.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import structlog
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, RateLimiter
from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError, ResponseError

ACCOUNT_FACTOR = 100
"""The rate of an account of ours, in people's rates, beyond which its turns wait."""
REDIS_SECONDS = 1.0
"""Seconds that a count in Redis may take before memory counts instead."""
VERDICT_SECONDS = 3600
VERDICTS_IN_MEMORY = 10_000

MINUTE = 60
_GONE = -2
"""Redis' answer to TTL for a key that does not exist."""
_PREFIX = "onevalet:rate"
_TOLD = RateLimitItemPerMinute(1, namespace="told")
_log = structlog.get_logger()


class Rate(StrEnum):
    """The result of a count."""

    WITHIN = "within"
    BEYOND = "beyond"
    """Beyond the person's limit for the first time in this minute: tell them."""
    SILENT = "silent"
    """Beyond the person's limit, and they were told."""
    WAIT = "wait"
    """The account's limit is reached, which is no person's fault: the turn waits."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A turn's messages, of a person over an account of ours."""

    turn_id: str
    tenant_id: str
    channel: str
    account: str
    messages: int


class Rates:
    """Count messages per minute; a turn is counted once, however often it is checked."""

    def __init__(self, redis_url: str = "") -> None:
        """Without a URL this process counts in memory."""
        memory = MemoryStorage()
        self._own = _Counter(MovingWindowRateLimiter(memory), FixedWindowRateLimiter(memory), _OwnVerdicts())
        self._client = _client(redis_url) if redis_url else None
        self._shared = _shared_counter(redis_url, self._client) if self._client else None
        self._away = False

    async def count(self, counted: Counted, a_minute: int) -> Rate:
        """Count a turn's messages; WITHIN means that there was room for the first one at least."""
        if self._shared is None:
            return await self._own.count(counted, a_minute)
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                answer = await self._healed(self._shared, counted, a_minute)
        except (RedisError, OSError, TimeoutError, ValueError) as error:
            if not self._away:
                _log.warning("rates_in_memory", cause=type(error).__name__)
            self._away = True
            return await self._own.count(counted, a_minute)
        self._away = False
        return answer

    async def close(self) -> None:
        if self._client:
            await self._client.aclose(close_connection_pool=True)

    async def _healed(self, shared: "_Counter", counted: Counted, a_minute: int) -> Rate:
        """Count; a key in Redis that is no count, or never expires, is deleted and counted from zero."""
        try:
            answer = await shared.count(counted, a_minute)
        except (ResponseError, ValueError) as error:
            _log.warning("rates_healed", cause=type(error).__name__)
        else:
            if answer is not Rate.WAIT or await self._runs_out(counted, a_minute):
                return answer
            _log.warning("rates_healed", cause="it would never run out")
        await shared.forget(counted, a_minute)
        return await shared.count(counted, a_minute)

    async def _runs_out(self, counted: Counted, a_minute: int) -> bool:
        key = _account(a_minute).key_for(counted.channel, counted.account)
        seconds = await self._client.ttl(f"{_PREFIX}:{key}") if self._client else MINUTE
        return 0 <= seconds <= MINUTE or seconds == _GONE


class _Verdicts(Protocol):
    async def get(self, turn_id: str) -> Rate | None: ...

    async def keep(self, turn_id: str, rate: Rate) -> None: ...

    async def drop(self, turn_id: str) -> None: ...


class _RedisVerdicts:
    def __init__(self, client: Redis) -> None:
        self._client = client

    async def get(self, turn_id: str) -> Rate | None:
        known = await self._client.get(f"{_PREFIX}:turn:{turn_id}")
        return Rate(known) if known else None

    async def keep(self, turn_id: str, rate: Rate) -> None:
        await self._client.set(f"{_PREFIX}:turn:{turn_id}", rate.value, ex=VERDICT_SECONDS)

    async def drop(self, turn_id: str) -> None:
        await self._client.delete(f"{_PREFIX}:turn:{turn_id}")


class _OwnVerdicts:
    def __init__(self) -> None:
        self._known: OrderedDict[str, Rate] = OrderedDict()

    async def get(self, turn_id: str) -> Rate | None:
        return self._known.get(turn_id)

    async def keep(self, turn_id: str, rate: Rate) -> None:
        self._known[turn_id] = rate
        if len(self._known) > VERDICTS_IN_MEMORY:
            self._known.popitem(last=False)

    async def drop(self, turn_id: str) -> None:
        self._known.pop(turn_id, None)


@dataclass(frozen=True, slots=True)
class _Counter:
    people: RateLimiter
    accounts: RateLimiter
    verdicts: _Verdicts

    async def count(self, counted: Counted, a_minute: int) -> Rate:
        if known := await self.verdicts.get(counted.turn_id):
            return known
        account = _account(a_minute)
        if not await self.accounts.test(account, counted.channel, counted.account):
            return Rate.WAIT
        rate = await self._person(counted, a_minute)
        if rate is Rate.WITHIN:
            await self.accounts.hit(account, counted.channel, counted.account)
        await self.verdicts.keep(counted.turn_id, rate)
        return rate

    async def _person(self, counted: Counted, a_minute: int) -> Rate:
        item = _person(a_minute)
        taken = 0
        # One by one: messages taken together with the last one that had room are answered with it.
        while taken < min(counted.messages, a_minute) and await self.people.hit(item, counted.tenant_id):
            taken += 1
        if taken or not counted.messages:
            return Rate.WITHIN
        return Rate.BEYOND if await self.people.hit(_TOLD, counted.tenant_id) else Rate.SILENT

    async def forget(self, counted: Counted, a_minute: int) -> None:
        await self.verdicts.drop(counted.turn_id)
        await self.accounts.clear(_account(a_minute), counted.channel, counted.account)
        for item in (_person(a_minute), _TOLD):
            await self.people.clear(item, counted.tenant_id)


def _account(a_minute: int) -> RateLimitItemPerMinute:
    return RateLimitItemPerMinute(a_minute * ACCOUNT_FACTOR, namespace="account")


def _person(a_minute: int) -> RateLimitItemPerMinute:
    return RateLimitItemPerMinute(a_minute, namespace="person")


def _client(redis_url: str) -> Redis:
    pool = ConnectionPool.from_url(
        redis_url, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS, decode_responses=True
    )
    return Redis(connection_pool=pool)


def _shared_counter(redis_url: str, client: Redis) -> _Counter:
    # redis-py, which we use already; the library's default client is another one.
    options: dict[str, Any] = {"connection_pool": client.connection_pool}
    storage = RedisStorage(f"async+{redis_url}", implementation="redispy", key_prefix=_PREFIX, **options)
    return _Counter(MovingWindowRateLimiter(storage), FixedWindowRateLimiter(storage), _RedisVerdicts(client))
