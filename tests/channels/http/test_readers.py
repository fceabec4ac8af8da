"""Clients that take a long answer slowly, or ask for many: each person's stand in a line of their own, and end."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from channels.http import readers
from channels.http.app import build_app, serve
from channels.http.files import OF_A_PERSON, WAITING, FileRoutes
from channels.http.readers import GRACE, SLOWEST, Taking
from core.clock import Clock
from core.files.blobs import FolderStore
from core.files.kinds import FileKind
from core.files.links import FileLinks
from core.files.store import FileStore
from core.files.types import FileContent
from core.messaging.messages import Media
from tests.clocks import StandingClock
from tests.core.harness import Store
from tests.eventually import eventually, never

BODY = bytes(range(256)) * 4096 * 8
"""More than the system keeps for a client that reads nothing."""


@dataclass
class House:
    """Two people's files behind links, and the connections to them."""

    port: int
    paths: dict[str, str]
    routes: FileRoutes
    clients: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    async def ask(self, person: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Ask for a person's file, and read nothing yet."""
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.setblocking(False)
        await asyncio.get_running_loop().sock_connect(link, ("127.0.0.1", self.port))
        reader, writer = await asyncio.open_connection(sock=link, limit=4096)
        writer.write(f"GET {self.paths[person]} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        self.clients.append((reader, writer))
        return reader, writer

    async def status(self, person: str) -> tuple[int, int]:
        """Ask for a person's file; return the status, and the bytes of the body that came."""
        return await taken(*await self.ask(person))

    def hang_up(self) -> None:
        """Break all connections off."""
        for _, writer in self.clients:
            writer.transport.abort()

    @property
    def waiting(self) -> int:
        """Return how many requests are answered or wait for that."""
        return self.routes._asked.total()


async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, int]:
    head = await reader.readuntil(b"\r\n\r\n")
    size = 0
    while piece := await reader.read(1 << 20):
        size += len(piece)
    return int(head.split()[1]), size


@asynccontextmanager
async def open_house(store: Store, folder: Path) -> AsyncIterator[House]:
    clock = StandingClock()
    kept, links = FileStore(store.database, FolderStore(folder)), FileLinks([b"k" * 32], "")
    paths = {}
    for number, person in enumerate(("ann", "ben")):
        await store.say("hello", sender=f"+1555000000{number}")
        tenant = str(await store.db.identities.one("tenant_id", user_key=f"+1555000000{number}"))
        told = Media("", "application/octet-stream", f"{person}.bin")
        file = await kept.keep(tenant, BODY + person.encode(), FileKind.OTHER, FileContent(), told, clock.now())
        await kept.keep_made(tenant, file, told.name, clock.now())
        paths[person] = links.make(tenant, file, clock.now())
    routes = FileRoutes(kept, links, cast(Clock, clock))
    app = build_app([], ready=_ready, extra_routes=routes.routes())
    async with serve(app, "127.0.0.1", 0) as port, AsyncExitStack() as stack:
        house = House(port, paths, routes)
        stack.callback(house.hang_up)
        yield house


async def _ready() -> bool:
    return True


async def test_promise_12_who_reads_no_file_keeps_nobody_else_from_theirs(store: Store, tmp_path: Path) -> None:
    async with open_house(store, tmp_path) as house:
        first = [await house.ask("ann") for _ in range(WAITING)]
        await eventually(lambda: house.waiting == WAITING, "requests that wait")
        statuses = Counter([(await house.status("ann"))[0] for _ in range(5)])
        assert statuses == {429: 5}, "no number of them holds all connections"
        assert await house.status("ben") == (200, len(BODY) + 3)
        both = await asyncio.gather(*(taken(*client) for client in first))
        assert set(both) == {(200, len(BODY) + 3)}, "who takes them gets them all"
        assert house.waiting == 0


async def test_promise_12_a_file_that_is_not_taken_makes_room_for_the_next(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(store, tmp_path) as house:
        with monkeypatch.context() as patch:
            patch.setattr(readers, "GRACE", 0.0)
            patch.setattr(readers, "SLOWEST", 1 << 40)
            slow = [await house.ask("ann") for _ in range(2 * OF_A_PERSON)]
            for reader, writer in slow:
                assert await _cut(reader, writer), "the rest never comes"
        assert await house.status("ann") == (200, len(BODY) + 3)
        assert house.waiting == 0


async def _cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Return whether an answer ends before its end."""
    try:
        return (await taken(reader, writer))[1] < len(BODY) + 3
    except (ConnectionError, asyncio.IncompleteReadError):
        return True


async def test_an_answer_in_pieces_may_last_as_long_as_its_client_takes_them() -> None:
    taking = Taking()
    for _ in range(3):
        async with taking.of(3600 * SLOWEST):
            await asyncio.sleep(0)
        taking._waited += 3600
    taking._waited += GRACE
    with pytest.raises(TimeoutError):
        async with taking.of(0):
            await never()
