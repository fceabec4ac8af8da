"""A wire that can be troubled: a TCP proxy between the gateway and Postgres, Redis or the providers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import StrEnum

_BLOCK = 65536


class Trouble(StrEnum):
    """What is wrong with the wire."""

    NONE = "none"
    CUT = "cut"
    """Every connection is reset, and each new one."""
    DELAY = "delay"
    """Each block comes a quarter of a second late."""
    HALF_CLOSE = "half_close"
    """What the far side says ends after its next block; what we say still arrives."""
    BLACK_HOLE = "black_hole"
    """Nothing arrives and nothing fails; what was said arrives when it is over, as TCP does."""
    TRICKLE = "trickle"
    """One byte a second, each way."""


class Proxy:
    """Pass bytes on to a port of this machine, as well as the trouble lets it."""

    def __init__(self, far_port: int, *, delay: float = 0.25, byte_every: float = 1.0) -> None:
        self.port = 0
        self.connections = 0
        self._far_port = far_port
        self._delay = delay
        self._byte_every = byte_every
        self._trouble = Trouble.NONE
        self._changed = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()

    def be(self, trouble: Trouble) -> None:
        """Have this trouble from now on, on open connections too."""
        self._trouble = trouble
        self._changed.set()
        self._changed = asyncio.Event()
        if trouble is Trouble.CUT:
            self.cut()

    def cut(self) -> None:
        """Reset what is open now."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to its end."""
        self.connections += 1
        self._writers.add(writer)
        try:
            if self._trouble is Trouble.CUT:
                writer.transport.abort()
                return
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._far_port)
            self._writers.add(far_writer)
            try:
                await self._carry(reader, writer, far_reader, far_writer)
            finally:
                self._writers.discard(far_writer)
                far_writer.transport.abort()
        except OSError:
            pass  # the far side is away: the near one sees its connection end
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _carry(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        there = asyncio.create_task(self._copy(reader, far_writer, answers=False))
        back = asyncio.create_task(self._copy(far_reader, writer, answers=True))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.ALL_COMPLETED)
        finally:
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with suppress(OSError):
            while block := await reader.read(_BLOCK):
                await self._pass_on(block, writer)
                if answers and self._trouble is Trouble.HALF_CLOSE:
                    break
        with suppress(OSError, RuntimeError):
            writer.write_eof()

    async def _pass_on(self, block: bytes, writer: asyncio.StreamWriter) -> None:
        while self._trouble is Trouble.BLACK_HOLE:
            await self._changed.wait()
        if self._trouble is Trouble.DELAY:
            await asyncio.sleep(self._delay)
        sent = 0
        while self._trouble is Trouble.TRICKLE and sent < len(block):
            writer.write(block[sent : sent + 1])
            await writer.drain()
            sent += 1
            await asyncio.sleep(self._byte_every)
        writer.write(block[sent:])
        await writer.drain()


@asynccontextmanager
async def proxied(far_port: int, *, delay: float = 0.25, byte_every: float = 1.0) -> AsyncIterator[Proxy]:
    """Run a proxy before a port for the block."""
    proxy = Proxy(far_port, delay=delay, byte_every=byte_every)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = int(server.sockets[0].getsockname()[1])
    try:
        yield proxy
    finally:
        server.close()
        proxy.be(Trouble.CUT)
        await asyncio.sleep(0)
