"""A child process of `dev`: the web server or a worker, with the settings that its parent has made."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing import parent_process
from multiprocessing.synchronize import Event

from aiohttp import web

from onevalet.settings import Settings
from onevalet.supervision.garbage import keep_loaded
from onevalet.supervision.loop_watch import watched_loop
from onevalet.wiring.logs import set_up_logs
from onevalet.wiring.preload import load_worker
from onevalet.wiring.tracing import open_tracing
from onevalet.wiring.web import open_web
from onevalet.wiring.worker import open_worker
from workbench.dev.doors import CONSOLE, DEMO_MODEL, FRONT_PAGE, SIMULATED_CHANNELS
from workbench.dev.front_page import to_page


class Part(StrEnum):
    """A process of the assistant."""

    WEB = "web"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parts to run. `local`: the channels that the simulator serves."""

    settings: Settings
    local: frozenset[str]
    simulator_url: str


async def open_part(stack: AsyncExitStack, part: Part, wanted: Wanted) -> None:
    """Run a part of the assistant within the stack, in any process."""
    if part is Part.WORKER:
        await stack.enter_async_context(open_worker(wanted.settings, demo=DEMO_MODEL.is_open(wanted.settings)))
        return
    settings, front = wanted.settings, web.get("/", to_page(wanted.simulator_url))
    _, channels = await stack.enter_async_context(
        open_web(
            settings,
            extra_routes=[front] if FRONT_PAGE.is_open(settings) else [],
            local=wanted.local if SIMULATED_CHANNELS.is_open(settings) else frozenset(),
            local_console=CONSOLE.is_open(settings),
        )
    )
    for channel in channels:
        if channel.name in wanted.local:
            await channel.setup()


def run_child(part: Part, wanted: Wanted, ready: Event) -> None:
    """Run a part until SIGTERM, or until the parent is gone; `ready` is set once it works."""
    set_up_logs(wanted.settings.onevalet_log, wanted.settings.secrets())
    # Ctrl-C reaches every process of a terminal: the parent ends its children in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_run(part, wanted, ready))


async def _run(part: Part, wanted: Wanted, ready: Event) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    if (parent := parent_process()) is not None:
        loop.add_reader(parent.sentinel, stop.set)
    async with AsyncExitStack() as stack:
        if part is Part.WORKER:
            await load_worker(litellm=bool(wanted.settings.onevalet_model))
        (await stack.enter_async_context(watched_loop())).begin_work()
        await stack.enter_async_context(open_tracing(wanted.settings, part))
        await open_part(stack, part, wanted)
        keep_loaded()
        ready.set()
        await stop.wait()
    # A running thread must not hold up the parent.
    os._exit(0)
