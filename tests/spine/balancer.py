"""A balancer as operators have one: each connection goes to the next web process that answers."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def balanced(ports: Callable[[], Sequence[int]]) -> AsyncIterator[int]:
    """Serve on a free port for the block, passing bytes on; return the port."""
    turn = itertools.count()
    open_writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        try:
            async with asyncio.timeout(60):
                known = ports()
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", known[next(turn) % len(known)])
                try:
                    await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
                finally:
                    far_writer.close()
        except (OSError, TimeoutError):
            writer.transport.abort()  # a web process is away: the provider sees its connection cut
        finally:
            open_writers.discard(writer)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
        server.close()
        for writer in list(open_writers):
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(65536):
        writer.write(block)
        await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.write_eof()
