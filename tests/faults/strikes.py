"""What can be done to the system: each strike returns when it is over, and is noted with that moment."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncpg
from redis.asyncio import Redis

from tests.faults.harness import House
from tests.faults.members import Member
from tests.faults.proxy import Trouble

type Strike = Callable[[House], Awaitable[None]]


async def kill_member(house: House, member: Member) -> None:
    """SIGKILL one of our processes, and start it again after a moment, as a supervisor would."""
    await member.kill(house.chance)
    house.strike("kill", member.name)


async def kill_one_that_worked(house: House) -> bool:
    """SIGKILL one that has done work in this life; False when none has yet."""
    ready = [member for member in house.members if member.has_worked]
    if not ready:
        return False
    await kill_member(house, house.chance.choice(ready))
    return True


async def roll(house: House) -> None:
    """End every process by SIGTERM and start it anew, one after the other, as a deploy does."""
    for member in house.members:
        code = await member.end(signal.SIGTERM)
        member.start()
        if member.command == "web":
            await house.until_ready(member)
        else:
            await asyncio.sleep(0.5)
        house.strike("deploy", f"{member.name} {code}")


async def restart_postgres(house: House) -> None:
    """A fast restart, away for up to two seconds."""
    await house.postgres.stop()
    await asyncio.sleep(house.chance.random() * 2)
    await house.postgres.start()
    house.strike("postgres fast")


async def crash_postgres(house: House) -> None:
    """An immediate shutdown, which recovers from its log."""
    assert house.postgres.pid is not None
    os.kill(house.postgres.pid, signal.SIGQUIT)
    while house.postgres.running:  # noqa: ASYNC110 - another process ends
        await asyncio.sleep(0.02)
    await house.postgres.start()
    house.strike("postgres immediate")


async def kill_backend(house: House) -> None:
    """SIGKILL the process behind one of our connections: Postgres then ends all and recovers."""
    connection = await house.connect()
    try:
        pid = await connection.fetchval(
            "select pid from pg_stat_activity where application_name like 'onevalet w%' order by random() limit 1"
        )
    finally:
        await connection.close()
    if pid is None:
        return
    os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(0.1)
    await _until_answers(house)
    house.strike("postgres backend")


async def flush_redis(house: House) -> None:
    """FLUSHALL."""
    async with Redis.from_url(house.valkey.url) as redis:
        await redis.flushall()
    house.strike("redis flushall")


async def crash_redis(house: House) -> None:
    """SIGKILL, and a start at once."""
    assert house.valkey.pid is not None
    os.kill(house.valkey.pid, signal.SIGKILL)
    await house.valkey.start()
    house.strike("redis kill")


def redis_away(seconds: float) -> Strike:
    """Make a strike that keeps Redis away for so long."""

    async def strike(house: House) -> None:
        await house.valkey.stop()
        await asyncio.sleep(seconds)
        await house.valkey.start()
        house.strike("redis away")

    return strike


def trouble(wire: str, kind: Trouble, seconds: float) -> Strike:
    """Make a strike that troubles a wire for so long."""

    async def strike(house: House) -> None:
        house.wires[wire].be(kind)
        await asyncio.sleep(seconds)
        house.wires[wire].be(Trouble.NONE)
        # What half closed or trickled stays broken: a real network's connections end as well.
        house.wires[wire].cut()
        house.strike(f"{wire} {kind.value}")

    return strike


async def _until_answers(house: House) -> None:
    while True:
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            await (await house.connect()).close()
            return
        await asyncio.sleep(0.02)
