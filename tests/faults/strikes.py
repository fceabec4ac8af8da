"""What can be done to the system: each strike returns when it is over, and is noted with that moment."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import asyncpg
from redis.asyncio import Redis

from tests.eventually import eventually
from tests.faults.database import read_value
from tests.faults.harness import Harness
from tests.faults.members import Member
from tests.faults.proxy import Trouble

type Strike = Callable[[Harness], Awaitable[None]]

_BACKEND = "select pid from pg_stat_activity where application_name like 'onevalet w%' order by random() limit 1"


async def kill_member(harness: Harness, member: Member) -> None:
    """SIGKILL one of our processes, and start it again after a moment, as a supervisor would."""
    await member.kill(harness.chance)
    harness.strike("kill", member.name)


async def kill_one_that_worked(harness: Harness) -> bool:
    """SIGKILL one that has done work in this life; False when none has yet."""
    ready = [member for member in harness.members if member.has_worked]
    if not ready:
        return False
    await kill_member(harness, harness.chance.choice(ready))
    return True


async def roll(harness: Harness) -> None:
    """Restart every process by SIGTERM, one after another, as a deploy does."""
    for member in harness.members:
        code = await member.end(signal.SIGTERM)
        member.start()
        if member.command == "web":
            await harness.until_ready(member)
        else:
            await asyncio.sleep(0.5)
        harness.strike("deploy", f"{member.name} {code}")


async def restart_postgres(harness: Harness) -> None:
    """A fast restart, away for up to two seconds."""
    await harness.postgres.stop()
    await asyncio.sleep(harness.chance.random() * 2)
    await harness.postgres.start()
    harness.strike("postgres fast")


async def crash_postgres(harness: Harness) -> None:
    """An immediate shutdown, which recovers from its log."""
    assert harness.postgres.pid is not None
    os.kill(harness.postgres.pid, signal.SIGQUIT)
    await eventually(lambda: not harness.postgres.running, "the end of Postgres")
    await harness.postgres.start()
    harness.strike("postgres immediate")


async def kill_backend(harness: Harness) -> None:
    """SIGKILL the process behind one of our connections: Postgres then ends all and recovers."""
    pid = await read_value(harness, _BACKEND)
    if pid is None:
        return
    witness = await harness.connect()
    os.kill(pid, signal.SIGKILL)
    await eventually(witness.is_closed, "the end of all backends")
    await eventually(partial(_answers, harness), "Postgres again")
    harness.strike("postgres backend")


async def flush_redis(harness: Harness) -> None:
    """FLUSHALL."""
    async with Redis.from_url(harness.valkey.url) as redis:
        await redis.flushall()
    harness.strike("redis flushall")


async def crash_redis(harness: Harness) -> None:
    """SIGKILL, and a start at once."""
    assert harness.valkey.pid is not None
    os.kill(harness.valkey.pid, signal.SIGKILL)
    await harness.valkey.start()
    harness.strike("redis kill")


def redis_away(seconds: float) -> Strike:
    """Make a strike that keeps Redis away for so long."""

    async def strike(harness: Harness) -> None:
        await harness.valkey.stop()
        await asyncio.sleep(seconds)
        await harness.valkey.start()
        harness.strike("redis away")

    return strike


def trouble(wire: str, kind: Trouble, seconds: float) -> Strike:
    """Make a strike that troubles a wire for so long."""

    async def strike(harness: Harness) -> None:
        harness.wires[wire].be(kind)
        await asyncio.sleep(seconds)
        harness.wires[wire].be(Trouble.NONE)
        # What half closed or trickled stays broken: a real network's connections end as well.
        harness.wires[wire].cut()
        harness.strike(f"{wire} {kind.value}")

    return strike


async def _answers(harness: Harness) -> bool:
    with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        await (await harness.connect()).close()
        return True
    return False
