"""A balancer as operators have one: each connection goes to the next web process that answers."""

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

type Address = tuple[str, int]
_PATIENCE = 60.0
"""Seconds that a connection lasts through the balancer."""


@asynccontextmanager
async def balanced(ports: Callable[[], Sequence[int | Address]]) -> AsyncIterator[int]:
    """Serve on a free port for the block, passing bytes on to ports of this machine or elsewhere; return the port."""
    turn = itertools.count()

    def next_one() -> Address:
        known = ports()
        chosen = known[next(turn) % len(known)]
        return ("127.0.0.1", chosen) if isinstance(chosen, int) else chosen

    listener = socket.create_server(("127.0.0.1", 0))
    async with passed_on(listener, next_one, _PATIENCE):
        yield int(listener.getsockname()[1])


@asynccontextmanager
async def passed_on(
    listener: socket.socket, find: Callable[[], Address], patience: float | None = None
) -> AsyncIterator[None]:
    """Pass each connection on, for the block, to where it is found to lead."""
    open_writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        try:
            async with asyncio.timeout(patience):
                far_reader, far_writer = await asyncio.open_connection(*find())
                try:
                    await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
                finally:
                    far_writer.close()
        except (OSError, TimeoutError):
            writer.transport.abort()  # a web process is away: the provider sees its connection cut
        finally:
            open_writers.discard(writer)
            writer.close()

    server = await asyncio.start_server(serve, sock=listener)
    async with server:
        yield
        server.close()
        for writer in list(open_writers):
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(65536):
        writer.write(block)
        await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.write_eof()
