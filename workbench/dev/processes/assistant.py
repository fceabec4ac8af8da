"""Runs the assistant in this process or in two of its own, switches between both, and restarts dead processes."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event

import structlog

from core.errors import RequestRefused
from core.json_types import JsonObject
from onevalet.settings import Settings
from workbench.dev.processes.child import Part, Wanted, open_part, run_child
from workbench.dev.processes.forking import CONTEXT, make_process

log = structlog.get_logger()
_LOOK = 0.1
_ENDS_WITHIN = 15.0
_STARTS_WITHIN = 120.0


@dataclass(slots=True)
class _Child:
    """A process and its number of restarts."""

    process: ForkServerProcess
    ready: Event
    restarts: int = 0

    @property
    def state(self) -> str:
        if not self.process.is_alive():
            return "dead"
        return "running" if self.ready.is_set() else "starting"


@dataclass(slots=True)
class Assistant:
    """Web and worker of a `dev`. Open it with `running`."""

    wanted: Wanted
    _here: dict[Part, AsyncExitStack] | None = None
    _children: dict[Part, _Child] = field(default_factory=dict)
    _watching: asyncio.Task[None] | None = None
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def running(self, *, processes: bool) -> AsyncIterator[None]:
        """Run within the block."""
        await self._start(processes=processes)
        try:
            yield
        finally:
            await self._stop()

    @property
    def has_processes(self) -> bool:
        return self._here is None

    def shown(self) -> JsonObject:
        """Return each process with its pid and state; none if all runs in this process."""
        return {
            "processes": self.has_processes,
            "parts": {
                part.value: {"pid": child.process.pid, "state": child.state, "restarts": child.restarts}
                for part, child in self._children.items()
            },
        }

    async def change(self, *, processes: bool) -> None:
        """Run in child processes or in-process; work under way is finished or handed on."""
        async with self._changing:
            if processes is not self.has_processes:
                await self._stop()
                await self._start(processes=processes)

    async def restart(self, settings: Settings, between: Callable[[], None]) -> None:
        """End all of it, call `between`, and start it with other settings."""
        async with self._changing:
            processes = self.has_processes
            await self._stop()
            between()
            self.wanted = replace(self.wanted, settings=settings)
            await self._start(processes=processes)

    async def renew(self, settings: Settings, between: Callable[[], None]) -> None:
        """Go on with other settings: end the worker, call `between`, and start a worker with them.

        Web keeps its own until its next start, as it calls no model. Raises the errors of a worker's start.
        """
        async with self._changing:
            self.wanted = replace(self.wanted, settings=settings)
            if self._here is not None:
                if (old := self._here.pop(Part.WORKER, None)) is not None:
                    await old.aclose()
                between()
                self._here[Part.WORKER] = await self._open(Part.WORKER)
                return
            await self._stop_watching()
            await self._end(Part.WORKER)
            between()
            self._children[Part.WORKER] = self._spawn(Part.WORKER)
            await self._await_children()
            self._watching = asyncio.create_task(self._watch())

    def kill(self, name: str) -> None:
        """Kill a process as `kill -9` does. Raises `RequestRefused` if there is none."""
        child = self._children.get(Part(name)) if name in set(Part) else None
        if child is None or not child.process.is_alive():
            raise RequestRefused(f"There is no process {name} to kill: the assistant runs within `dev`, or it starts.")
        log.warning("killed_from_the_page", part=name, pid=child.process.pid)
        child.process.kill()

    async def _start(self, *, processes: bool) -> None:
        if not processes:
            here: dict[Part, AsyncExitStack] = {}
            try:
                for part in (Part.WORKER, Part.WEB):
                    here[part] = await self._open(part)
            except BaseException:
                await _close(here)
                raise
            self._here = here
            return
        self._here = None
        for part in (Part.WORKER, Part.WEB):
            self._children[part] = await asyncio.to_thread(self._spawn, part)  # the first waits for imports
        await self._await_children()
        self._watching = asyncio.create_task(self._watch())

    async def _open(self, part: Part) -> AsyncExitStack:
        stack = AsyncExitStack()
        try:
            await open_part(stack, part, self.wanted)
        except BaseException:
            await stack.aclose()
            raise
        return stack

    async def _await_children(self) -> None:
        async with asyncio.timeout(_STARTS_WITHIN):
            for child in self._children.values():
                while child.state == "starting":
                    await asyncio.to_thread(child.ready.wait, _LOOK)

    async def _stop(self) -> None:
        await self._stop_watching()
        # The way in is closed before the worker.
        for part in (Part.WEB, Part.WORKER):
            await self._end(part)
        if self._here is not None:
            here, self._here = self._here, None
            await _close(here)

    async def _stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
            self._watching = None

    async def _end(self, part: Part) -> None:
        if (child := self._children.pop(part, None)) is not None:
            child.process.terminate()
            await asyncio.to_thread(child.process.join, _ENDS_WITHIN)
            child.process.kill()

    async def _watch(self) -> None:
        """Restart dead processes."""
        while True:
            await asyncio.sleep(_LOOK)
            for part, child in list(self._children.items()):
                if not child.process.is_alive():
                    log.warning("process_died", part=part.value, exit_code=child.process.exitcode)
                    fresh = self._spawn(part)
                    fresh.restarts = child.restarts + 1
                    self._children[part] = fresh

    def _spawn(self, part: Part) -> _Child:
        ready = CONTEXT.Event()
        process = make_process(part.value, os.environ, run_child, part, self.wanted, ready)
        process.start()
        return _Child(process, ready)


async def _close(here: dict[Part, AsyncExitStack]) -> None:
    """Close the way in before the worker."""
    async with AsyncExitStack() as stack:
        for part in (Part.WORKER, Part.WEB):
            if part in here:
                stack.push_async_callback(here[part].aclose)
