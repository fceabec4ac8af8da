"""Run a script over untrusted bytes in a process of its own: what it breaks, fills or hangs is not the worker."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path

MAX_OUT = 8 * 1024 * 1024
"""Bytes that a script may answer with."""
_PIECE = 64 * 1024


class ChildFailed(Exception):
    """The process ended without an answer: it broke, took too long, or said too much."""


async def run_in_child(script: Path, data: bytes, *, seconds: float = 10.0) -> bytes:
    """Return what a script writes to its standard output, given `data` at its standard input.

    The script gets nothing of our environment and has to limit its own memory (`resource`) before it reads. It is
    killed after so many seconds of wall time. Raises `ChildFailed`.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(script),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={"PATH": os.defpath},
        start_new_session=True,  # a signal for the worker's group, such as Ctrl+C, is not for it
    )
    writing = asyncio.create_task(_write(process, data))
    try:
        async with asyncio.timeout(seconds):
            out = await _read(process)
            await writing
            code = await process.wait()
    except TimeoutError as error:
        raise ChildFailed("it took too long") from error
    finally:
        writing.cancel()
        await _end(process)
    if code:
        raise ChildFailed(f"it ended with {code}")
    return out


async def _write(process: Process, data: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    with suppress(BrokenPipeError, ConnectionResetError):  # it ended early: its code says so
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _read(process: Process) -> bytes:
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    out = bytearray()
    while piece := await process.stdout.read(_PIECE):
        out += piece
        if len(out) > MAX_OUT:
            raise ChildFailed("it says too much")
    return bytes(out)


async def _end(process: Process) -> None:
    """Kill the process and all that it started, where it still runs."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    # A pipe with too much in it is not read on, so its end is not seen, and `wait` waits for that.
    while await process.stdout.read(_PIECE):
        continue
    await process.wait()
