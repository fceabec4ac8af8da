"""Run a script over untrusted bytes in a process of its own: what it breaks, fills or hangs is not the worker."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE

MAX_OUT = 8 * 1024 * 1024
"""Bytes that a script may answer with."""


class ChildFailed(Exception):
    """The process ended without an answer: it broke, took too long, or said too much."""


async def run_in_child(script: Path, data: bytes, *, seconds: float = 10.0, max_out: int = MAX_OUT) -> bytes:
    """Return what a script writes to its standard output, given `data` at its standard input.

    The script gets nothing of our environment and has to limit its own memory (`resource`) before it reads. It is
    killed after so many seconds of wall time, or more than `max_out` bytes. Raises `ChildFailed`.
    """
    transport, child = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Child(max_out),
        sys.executable,
        "-I",
        str(script),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={"PATH": os.defpath},
        start_new_session=True,  # a signal for the worker's group, such as Ctrl+C, is not for it
    )
    stdin, stdout = transport.get_pipe_transport(0), transport.get_pipe_transport(1)
    assert isinstance(stdin, asyncio.WriteTransport)  # noqa: S101 - a pipe was asked for
    assert isinstance(stdout, asyncio.ReadTransport)  # noqa: S101
    try:
        async with asyncio.timeout(seconds):
            stdin.write(data)  # if it ends before it has read all, its code says so
            stdin.write_eof()
            await child.done.wait()
    except TimeoutError as error:
        raise ChildFailed("it took too long") from error
    finally:
        if transport.get_returncode() is None:
            with suppress(ProcessLookupError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
        # Both pipes are closed, not used up: nobody reads the output, and what the child started may hold them open.
        if stdin.get_write_buffer_size():
            stdin.abort()
        stdout.close()
        await child.gone.wait()
    if len(child.out) > max_out:
        raise ChildFailed("it says too much")
    if code := transport.get_returncode():
        raise ChildFailed(f"it ended with {code}")
    return bytes(child.out)


class _Child(asyncio.SubprocessProtocol):
    """Gather the output. `done`: there is nothing more to wait for; `gone`: the process and its pipes are no more."""

    _transport: asyncio.BaseTransport

    def __init__(self, max_out: int) -> None:
        self._max_out = max_out
        self.out = bytearray()
        self.done = asyncio.Event()
        self.gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, to close it in the end."""
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take a piece of the output."""
        if len(self.out) > self._max_out:
            return
        self.out += data
        if len(self.out) > self._max_out:
            self.done.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the process has ended and its output is read."""
        self._transport.close()
        self.done.set()
        self.gone.set()
