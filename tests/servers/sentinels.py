"""Two Valkeys, one the other's replica, and three Sentinels that agree which of them is the primary."""

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from onevalet.servers.valkey import program
from tests.eventually import eventually
from tests.ports import free_port

NAME = "valet"


@dataclass(slots=True)
class Group:
    """The servers, by their ports; the first is the primary until it is killed."""

    url: str
    password: str
    servers: list[int]
    watching: list[int]
    primary: asyncio.subprocess.Process

    def client(self, number: int) -> Redis:
        """Return a client of one of the two servers."""
        return Redis(port=self.servers[number], password=self.password, decode_responses=True)

    async def kill_primary(self) -> None:
        """Kill the primary, and wait until each Sentinel names the other in its place."""
        self.primary.kill()
        await self.primary.wait()
        for port in self.watching:
            await eventually(partial(_names, port, self.servers[1]), f"the new primary at {port}")


@asynccontextmanager
async def sentinels() -> AsyncIterator[Group]:
    """Run a group for the block, whose replica follows its primary."""
    password, ports = secrets.token_hex(16), [free_port() for _ in range(5)]
    servers, watching = ports[:2], ports[2:]
    common = [f"requirepass {password}", f"masterauth {password}", 'save ""', "repl-diskless-sync-delay 0"]
    watch = [
        f"sentinel monitor {NAME} 127.0.0.1 {servers[0]} 2",
        f"sentinel auth-pass {NAME} {password}",
        f"sentinel down-after-milliseconds {NAME} 1000",
        f"sentinel failover-timeout {NAME} 5000",
    ]
    hosts = ",".join(f"127.0.0.1:{port}" for port in watching)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="onevalet-sentinels-")))
        primary = await stack.enter_async_context(_running(folder, servers[0], common))
        await stack.enter_async_context(_running(folder, servers[1], [*common, f"replicaof 127.0.0.1 {servers[0]}"]))
        group = Group(f"redis+sentinel://:{password}@{hosts}/{NAME}/0", password, servers, watching, primary)
        await _until_linked(group)
        for port in watching:
            await stack.enter_async_context(_running(folder, port, watch, "--sentinel"))
        await _until_watched(watching)
        yield group


@asynccontextmanager
async def _running(
    folder: Path, port: int, lines: list[str], *options: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    config = folder / f"{port}.conf"
    config.write_text("\n".join(["bind 127.0.0.1", f"port {port}", f"dir {folder}", *lines]) + "\n")
    process = await asyncio.create_subprocess_exec(
        str(program()), str(config), *options, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _until_linked(group: Group) -> None:
    async def linked() -> bool:
        with suppress(RedisError, OSError):  # it is still starting
            return bool((await replica.info("replication")).get("master_link_status") == "up")
        return False

    async with group.client(1) as replica:
        await eventually(linked)


async def _until_watched(ports: list[int]) -> None:
    """Wait until each Sentinel knows the two others, without whom none is elected."""
    for port in ports:
        await eventually(partial(_knows_all, port), f"what the Sentinel at {port} knows")


async def _knows_all(port: int) -> bool:
    with suppress(RedisError, OSError):  # it is still starting
        state = await _told(port)
        return bool(state["num-other-sentinels"] == 2 and state["num-slaves"] == 1)
    return False


async def _names(port: int, primary: int) -> bool:
    """Return whether a Sentinel takes the server at a port for the primary."""
    return str((await _told(port))["port"]) == str(primary)


async def _told(port: int) -> dict[str, Any]:
    async with Redis(port=port, decode_responses=True) as sentinel:
        state: dict[str, Any] = await sentinel.sentinel_master(NAME)  # type: ignore[no-untyped-call]
        return state
