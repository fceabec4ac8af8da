"""A peer that exceeded its allowance is left alone by all processes, and by those that come after them."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from core.db.redis_client import redis_client
from core.http.peer import FIRST_PAUSE, LeftAlone, Pauses
from onevalet.settings import load_settings
from onevalet.wiring import shared_pauses
from onevalet.wiring.connections import open_connections
from onevalet.wiring.shared_pauses import KEY, SharedPauses
from tests.core.http.harness import Server
from tests.eventually import eventually
from tests.ports import free_port

PEER = ("ann", "mail.example")
ASKING = """
import asyncio, os, signal, sys
from core.http import peer
from core.http.guarded_client import GuardedClient
from core.http.operation import Operation
from core.http.peer import Allowance, LeftAlone, Pauses
from onevalet.wiring.shared_pauses import KEY, SharedPauses
from tests.eventually import eventually

async def main(redis_url, url, host):
    peer.FIRST_PAUSE = 300.0  # longer than three starts may take
    pauses = Pauses("test")
    shared = SharedPauses(redis_url)
    await shared.start()
    http = GuardedClient(allowed_hosts=[host])
    try:
        await Operation(http, Allowance(1000, 10, 60.0), pauses, "ann", host).request("GET", url, max_bytes=10_000)
    except LeftAlone:
        await eventually(lambda: shared._redis.hlen(KEY), "the note in Redis")
    print("asked", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


@asynccontextmanager
async def process(redis_url: str, pauses: Pauses) -> AsyncIterator[SharedPauses]:
    """Share pauses as a process of its own would."""
    shared = SharedPauses(redis_url, [pauses])
    await shared.start()
    try:
        yield shared
    finally:
        await shared.stop()


def is_left_alone(pauses: Pauses) -> bool:
    try:
        pauses.check(*PEER, host=PEER[-1])
    except LeftAlone:
        return True
    return False


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_pauses, "EVERY", 0.05)


@pytest.fixture
async def flooding() -> AsyncIterator[Server]:
    """Yield a server that says more than it may."""
    made = Server(0)
    made.says("/", b"x" * 100_000)
    runner = web.ServerRunner(web.Server(made.answer), shutdown_timeout=0.1)  # type: ignore[arg-type]
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.port = int(runner.addresses[0][1])
    yield made
    await runner.cleanup()


@pytest.mark.whole("it starts processes of its own")
async def test_processes_that_die_in_a_row_ask_a_flooding_server_once(redis_url: str, flooding: Server) -> None:
    for _ in range(3):
        arguments = (redis_url, flooding.url(), f"127.0.0.1:{flooding.port}")
        dying = await asyncio.create_subprocess_exec(
            sys.executable, "-c", ASKING, *arguments, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await dying.communicate()
        assert (said, dying.returncode) == (b"asked\n", -signal.SIGKILL)
    assert len(flooding.seen) == 1


async def test_a_pause_is_known_to_the_other_workers_and_grows_for_all(redis_url: str) -> None:
    here, there = Pauses("imap"), Pauses("imap")
    async with process(redis_url, here), process(redis_url, there):
        assert here.exceeded(*PEER) == FIRST_PAUSE
        await eventually(lambda: is_left_alone(there), "the pause in the other process")
        assert there.exceeded(*PEER) == 2 * FIRST_PAUSE
        await eventually(lambda: [one.times for one in here.known.values()] == [2], "the longer one here")
        assert here.exceeded(*PEER) == 4 * FIRST_PAUSE


async def test_pauses_of_another_kind_are_not_taken_over(redis_url: str) -> None:
    here, there = Pauses("imap"), Pauses("dav")
    async with process(redis_url, here):
        here.exceeded(*PEER)
        async with redis_client(redis_url) as redis:
            await eventually(lambda: redis.hlen(KEY), "the note in Redis")
    async with process(redis_url, there):
        assert not is_left_alone(there)


async def test_a_peer_that_keeps_to_it_has_the_first_pause_again_everywhere(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.http.peer.FIRST_PAUSE", 0.05)
    here, there = Pauses("imap"), Pauses("imap")
    async with process(redis_url, here), process(redis_url, there):
        assert [here.exceeded(*PEER) for _ in range(3)] == [0.05, 0.1, 0.2]
        await eventually(lambda: [one.times for one in there.known.values()] == [3], "the pause in the other process")
        await eventually(lambda: not is_left_alone(here), "its end")
        here.kept_to_it(*PEER)
        await eventually(lambda: [one.times for one in there.known.values()] == [0], "the peace in the other process")
        assert there.exceeded(*PEER) == 0.05


async def test_what_redis_lost_is_told_again(redis_url: str) -> None:
    here = Pauses("imap")
    async with process(redis_url, here), redis_client(redis_url) as redis:
        here.exceeded(*PEER)
        for _ in range(2):
            await eventually(lambda: redis.hlen(KEY), "the note in Redis")
            assert b"mail.example" not in b"".join([*(await redis.hgetall(KEY))])  # type: ignore[misc]
            await redis.flushdb()


async def test_notes_that_say_nothing_are_removed(redis_url: str) -> None:
    async with redis_client(redis_url) as redis:
        notes = {"imap:old": "3 1000.0", "imap:far": "3 99999999999.0", "imap:odd": "nonsense", "imap:nan": "1 nan"}
        await redis.hset(KEY, mapping=notes)  # type: ignore[misc]
        here = Pauses("imap")
        async with process(redis_url, here):
            assert not here.known
        assert not await redis.hlen(KEY)  # type: ignore[misc]


async def test_without_redis_a_process_goes_by_its_own_notes_and_says_so_once() -> None:
    here = Pauses("imap")
    with capture_logs() as logs:
        async with process(f"redis://127.0.0.1:{free_port()}/0", here) as shared:
            here.exceeded(*PEER)
            assert is_left_alone(here)
            for _ in range(3):
                await shared._try()
    assert [line["event"] for line in logs] == ["pauses_not_shared"]


async def test_a_process_of_the_product_shares_them(redis_url: str, database_url: str) -> None:
    here, settings = Pauses("imap"), load_settings(database_url=database_url, redis_url=redis_url)
    async with open_connections(settings, "test", size=3), redis_client(redis_url) as redis:
        here.exceeded(*PEER)
        await eventually(lambda: redis.hlen(KEY), "the note in Redis")
