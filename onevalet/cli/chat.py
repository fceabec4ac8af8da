"""`chat`: the assistant in the terminal, through the same inbox, turn and outbox as every channel."""

import asyncio
import getpass
import os
import stat
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic import SecretStr

from channels.terminal.receive import TerminalChannel
from core.errors import ConfigError
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, Admission, PersonRole, Policy
from onevalet.servers.home import Running, find_running, hold_home, is_starting
from onevalet.servers.opening import open_services
from onevalet.settings import Settings
from onevalet.wiring.connections import open_connections
from onevalet.wiring.logs import set_up_logs
from onevalet.wiring.secret_keys import key_file
from onevalet.wiring.worker import open_worker

CONSOLE_ACCESS = Access(Policy.OPEN, role=PersonRole.OWNER, open_by=Admission.OPERATOR)
"""Anyone who can run `chat` can read the database too, so no pairing is needed."""
LOG = "chat.log"
"""The log of the newest `chat`, in ONEVALET_HOME."""
QUIT = frozenset({"/quit", "/exit", "/bye"})
"""Lines that end the talk, as they do in other programs of this kind."""
LOOK_EVERY = 0.1
STARTS_WITHIN = 120.0
"""Seconds that a `dev` which holds the folder may take to publish its addresses."""
ANSWER_WITHIN = 300.0
"""Seconds to wait for answers after the last line of a pipe or a file."""


async def run_chat(settings: Settings, stop: asyncio.Event) -> None:
    """Talk until the input ends or Ctrl-C, through a running `dev`, or else through services started here."""
    async with AsyncExitStack() as stack:
        stack.enter_context(_logs_in_file(settings))
        settings = await stack.enter_async_context(_open(settings))
        connections = await stack.enter_async_context(open_connections(settings, "onevalet chat", size=3))
        inbox = Inbox(connections.database, connections.wakeups, make_id, CONSOLE_ACCESS)
        terminal = TerminalChannel(inbox, connections.database, make_id, getpass.getuser())
        _show_hint()
        await _until_first(stop, _talk(terminal))


@contextmanager
def _logs_in_file(settings: Settings) -> Iterator[None]:
    """Keep log lines out of the talk: they go to a file in ONEVALET_HOME."""
    path = settings.onevalet_home / LOG
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written ({error.strerror}): set ONEVALET_HOME to a folder of yours."
        ) from error
    with out:
        set_up_logs(settings.onevalet_log, settings.secrets(), out)
        try:
            yield
        finally:
            set_up_logs(settings.onevalet_log, settings.secrets())


@asynccontextmanager
async def _open(settings: Settings) -> AsyncIterator[Settings]:
    running = await wait_for_start(settings.onevalet_home)
    if running is not None:
        yield settings.model_copy(
            update={"database_url": SecretStr(running.database_url), "redis_url": SecretStr(running.redis_url)}
        )
        return
    async with AsyncExitStack() as stack:
        if settings.database_url is None or settings.redis_url is None:
            stack.enter_context(hold_home(settings.onevalet_home))
        path = key_file(settings.onevalet_home)
        there = path.exists()
        settings = await stack.enter_async_context(open_services(settings))
        if path.exists() and not there:
            sys.stderr.write(f"Made a secret key for stored credentials in {path}: keep a copy of it.\n")
        await stack.enter_async_context(open_worker(settings, demo=True))
        yield settings


async def wait_for_start(home: Path) -> Running | None:
    """Return the `dev` that runs here, waiting if it starts; None if there is none, or if it never gets ready."""
    running, told = find_running(home), False
    end = time.monotonic() + STARTS_WITHIN
    while running is None and time.monotonic() < end and is_starting(home):
        if not told:
            sys.stderr.write("OneValet is starting: one moment.\n")
            told = True
        await asyncio.sleep(LOOK_EVERY)
        running = find_running(home)
    return running


async def _talk(terminal: TerminalChannel) -> None:
    reading = asyncio.create_task(read_lines(terminal.say, sys.stdin))
    showing = asyncio.create_task(_show_answers(terminal))
    try:
        await reading
        async with asyncio.timeout(ANSWER_WITHIN):
            await _until_shown(terminal)
    except TimeoutError:
        _write("(no answer yet: it will be shown the next time)\n")
    finally:
        for task in (reading, showing):
            task.cancel()
        await asyncio.wait([reading, showing])


async def _until_shown(terminal: TerminalChannel) -> None:
    # Other processes write the answers into the database, which can only be polled.
    while await terminal.busy() or await terminal.unread():  # noqa: ASYNC110
        await asyncio.sleep(LOOK_EVERY)


async def read_lines(say: Callable[[str], Awaitable[object]], source: IO[Any]) -> None:
    """Send each line of a pipe, a terminal or a file until it ends, or a line is in `QUIT`."""
    async with aclosing(_lines(source)) as lines:
        async for line in lines:
            text = line.decode(errors="replace").strip()
            if text.lower() in QUIT:
                return
            if text:
                await say(text)


async def _lines(source: IO[Any]) -> AsyncGenerator[bytes]:
    mode = os.fstat(source.fileno()).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or source.isatty()):
        # The loop cannot wait for anything else, such as a file or /dev/null, which has its lines at once.
        with os.fdopen(source.fileno(), "rb", closefd=False) as file:
            while line := await asyncio.to_thread(file.readline):
                yield line
        return
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    try:
        while line := await reader.readline():
            yield line
    finally:
        transport.close()


async def _show_answers(terminal: TerminalChannel) -> None:
    while True:
        for shown in await terminal.unread():
            if shown.text.strip():
                _write(f"\nvalet> {shown.text}\n\n")
            await terminal.mark_read(shown)
        await asyncio.sleep(LOOK_EVERY)


async def _until_first(stop: asyncio.Event, talk: Coroutine[object, object, None]) -> None:
    talking = asyncio.create_task(talk)
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait([talking, stopping], return_when=asyncio.FIRST_COMPLETED)
    for task in (talking, stopping):
        task.cancel()
    await asyncio.wait([talking, stopping])
    if not talking.cancelled():
        talking.result()


def _show_hint() -> None:
    if sys.stdin.isatty():
        _write("Write to your assistant; /quit or Ctrl-D ends.\n")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
