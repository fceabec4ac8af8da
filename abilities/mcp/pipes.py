"""An MCP server as our child process, connected by its pipes, with a message a line, and ended with its children.

Its output is read up to a bound, and no faster than it is parsed: a full pipe holds up the server, not us. Its own log,
which may hold anything, is discarded.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from abilities.mcp.hearing import Ear
from abilities.mcp.types import McpServer
from core.children.child_environment import child_environment

_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""The variables that a server inherits, besides the paths of libraries: the rest may hold secrets."""
_CHUNK = 64 * 1024
_GRACE = 2.0
"""Seconds in which a server ends by itself once its input ends, and then after a signal."""
_POLL = 0.01


class Pipes:
    """The pipes of a server that runs."""

    def __init__(self, process: Process, ear: Ear) -> None:
        self._process = process
        self._ear = ear

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of the server's output, until it ends. Raises `PeerExceeded`."""
        async for line in self._ear.lines(self._chunks()):
            yield line

    async def send(self, line: bytes) -> None:
        """Write a line to the server; waits while it reads none. Raises `OSError` if it has ended."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - it was asked for
        stdin.write(line + b"\n")
        await stdin.drain()

    async def _chunks(self) -> AsyncIterator[bytes]:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it was asked for
        while chunk := await stdout.read(_CHUNK):
            yield chunk


@asynccontextmanager
async def started(server: McpServer, ear: Ear) -> AsyncIterator[Pipes]:
    """Run a server inside the block. Raises `OSError` and `ValueError` if it does not start."""
    process = await asyncio.create_subprocess_exec(
        *server.command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        cwd=server.folder,
        env=child_environment(**_inherited(os.environ)) | dict(server.env),
        start_new_session=True,
    )
    try:
        yield Pipes(process, ear)
    finally:
        ending = asyncio.ensure_future(_end(process, at_once=ear.exceeded is not None))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending  # waits even if cancelled: an unended server would stay
            raise


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    # A shell would run an exported function.
    return {name: environment[name] for name in _INHERITED if not environment.get(name, "()").startswith("()")}


async def _end(process: Process, *, at_once: bool) -> None:
    """End a server and all that it started: by the end of its input, by a signal, by force."""
    transport = getattr(process, "_transport", None)
    try:
        if not at_once and process.stdin is not None:
            process.stdin.close()
            if await _ended(process):
                return
            _signal(process, signal.SIGTERM)
            await _ended(process)
        _signal(process, signal.SIGKILL)
        await _ended(process)
    finally:
        if transport is not None:  # a child that lives on may hold the pipes open
            transport.close()


async def _ended(process: Process) -> bool:
    """Return whether a process ended; `wait` would wait for its pipes too, which children may hold."""
    loop = asyncio.get_running_loop()
    limit = loop.time() + _GRACE
    while process.returncode is None:
        if loop.time() >= limit:
            return False
        await asyncio.sleep(_POLL)
    return True


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
