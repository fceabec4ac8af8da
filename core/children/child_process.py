"""Run a script over untrusted bytes in a process of its own: a crash, a hang or full memory spares the worker.

Interpreters start slowly, and libraries for files import slowly: a kept process forks each job (`kept_process.py`).
The job's input and output are pipes of its own, so no process between it and the worker sees a byte of them.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from core.children.child_job import Unreadable
from core.children.kept_process import KeptProcess, kept_for
from core.http.peer import PERSON, Slots
from core.json_types import read_json

SECONDS = 60.0
"""The limit of wall time, ample for a busy machine; the child's own limit is of CPU."""
MAX_OUT = 8 * 1024 * 1024
"""Bytes that a script may answer with."""
READERS = Slots(3)
"""Jobs of all scripts that this process runs at a time, at most one for each person.

A job may take 512 to 816 MB: a worker of 2 GB can spare that for two of the largest, or three of the others. Should
three of the largest be filled at once, the system ends a job before the process (`child_job`).
"""
_STUCK_SECONDS = 10.0
"""Seconds after which a kept process that has not ended a job never will."""
_PIECE = 256 * 1024


class ChildFailed(Exception):
    """The process ended without an answer: it broke, took too long, or wrote too much."""


class NoChild(ChildFailed):
    """No process could be started: that says nothing about the bytes that it was to read."""


async def ask_child(
    script: Path,
    asked: Mapping[str, Any],
    data: bytes = b"",
    *,
    max_out: int = MAX_OUT,
) -> tuple[dict[str, Any], bytes]:
    """Return the answer of a script that runs `core.children.child_job`: its values, and its bytes.

    It waits for its turn among `READERS`, in the share of the person for whom this task works (`PERSON`). Raises
    `Unreadable` with the script's reason, else as `run_in_child`.
    """
    async with READERS.of(PERSON.get()):
        out = await run_in_child(script, json.dumps(asked).encode() + b"\n" + data, max_out=max_out)
    head, _, body = out.partition(b"\n")
    try:
        found = read_json(head)
    except ValueError as error:
        raise ChildFailed("it answers with no JSON") from error
    if not isinstance(found, dict):
        raise ChildFailed("it answers with no object")
    if failure := found.get("failure"):
        raise Unreadable(str(failure))
    return found, body


async def run_in_child(script: Path, data: bytes, *, seconds: float = SECONDS, max_out: int = MAX_OUT) -> bytes:
    """Return the standard output of a script, given `data` at its standard input.

    The script gets nothing of our environment but the search paths of libraries, and has to limit its own memory
    (`resource`) before it reads. It is killed at the limit of wall time, or after more than `max_out` bytes. It runs
    as `__main__`; the modules that it imports at its top, and the modules in its constant `PRELOADED`, are loaded
    already. Raises `ChildFailed`, and `NoChild` if no process could be started.
    """
    try:
        async with asyncio.timeout(seconds), _begun(script) as job:
            return await job.answer(data, max_out)
    except TimeoutError as error:
        raise ChildFailed("it took too long") from error


@asynccontextmanager
async def _begun(script: Path) -> AsyncIterator["_Job"]:
    """Begin a job, and clean up after it."""
    for _ in range(2):  # a kept process that has ended is started again
        kept = kept_for(script)
        with ExitStack() as files:
            job = _Job(kept, files)
            try:
                if await job.begin():
                    yield job
                    return
            finally:
                await job.end()
        kept.end()
    raise NoChild("nothing runs it")


class _Job:
    """A run of a script: its input and output, and the socket on which the kept process reports."""

    def __init__(self, kept: KeptProcess, files: ExitStack) -> None:
        self._loop = asyncio.get_running_loop()
        self._kept = kept
        self._theirs = files.enter_context(ExitStack())
        stdin, self._stdin = _pipe(self._theirs, files)
        self._stdout, stdout = _pipe(files, self._theirs)
        self._told, told = socket.socketpair()
        files.enter_context(self._told).setblocking(False)
        self._theirs.enter_context(told)
        for ours in (self._stdin, self._stdout):
            os.set_blocking(ours.fileno(), False)
        self._files = (stdin.fileno(), stdout.fileno(), told.fileno())
        self._is_gone = True

    async def begin(self) -> bool:
        """Ask the kept process to fork; return false if it has ended."""
        try:
            while not self._kept.ask(self._files):  # noqa: ASYNC110 - a loop watches a socket for one call only
                await asyncio.sleep(0.01)
        except OSError:
            return False
        self._theirs.close()
        self._is_gone = False
        said = await self._hear(1)
        if said == "-":
            raise NoChild("there is no room for another process")
        return bool(said)

    async def answer(self, data: bytes, max_out: int) -> bytes:
        """Return all that the script writes."""
        writing = asyncio.create_task(self._write(data))
        try:
            out = await self._read(max_out)
            code = await self._hear(16)
        finally:
            writing.cancel()  # its exit code shows if it ended before it had read all
            await asyncio.wait([writing])
        if not code:
            raise ChildFailed("the process that keeps it has ended")
        if code != "0":
            raise ChildFailed(f"it ended with {code}")
        return out

    async def end(self) -> None:
        """Kill the job unless it has ended, and wait for its end."""
        try:
            async with asyncio.timeout(_STUCK_SECONDS):
                while not self._is_gone:
                    with suppress(OSError):  # the kept process has ended
                        self._told.shutdown(socket.SHUT_WR)
                    await self._hear(16)
        except TimeoutError:
            self._kept.end()

    async def _hear(self, most: int) -> str:
        """Return the next words of the kept process, empty at its end. All but the first byte means the job is gone."""
        said = b""
        with suppress(ConnectionError):
            said = await self._loop.sock_recv(self._told, most)
        self._is_gone = said != b"+"
        return said.decode()

    async def _write(self, data: bytes) -> None:
        left = memoryview(data)
        with self._stdin, suppress(BrokenPipeError):
            while left:
                left = left[self._stdin.write(left) or 0 :]  # None if nothing fits
                if left:
                    await _ready(self._stdin, self._loop.add_writer, self._loop.remove_writer)

    async def _read(self, max_out: int) -> bytes:
        out = bytearray()
        while (piece := self._stdout.read(_PIECE)) != b"":
            if piece is None:
                await _ready(self._stdout, self._loop.add_reader, self._loop.remove_reader)
                continue
            out += piece
            if len(out) > max_out:
                raise ChildFailed("it says too much")
        return bytes(out)


def _pipe(readers: ExitStack, writers: ExitStack) -> tuple[FileIO, FileIO]:
    read, write = os.pipe()
    return readers.enter_context(FileIO(read, "r")), writers.enter_context(FileIO(write, "w"))


async def _ready(file: FileIO, add: Callable[..., None], remove: Callable[..., object]) -> None:
    """Wait until something can be read from a file, or written to it."""
    ready = asyncio.Event()
    add(file, ready.set)
    try:
        await ready.wait()
    finally:
        remove(file)
