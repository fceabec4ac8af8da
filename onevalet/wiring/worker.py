"""A worker process: turns, deliveries and maintenance, run inside a block."""

from asyncio import Event
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from core.queue.quarantine import QuarantineMode
from jobs.quarantine import QuarantineProcess
from onevalet.settings import Settings
from onevalet.supervision.worker_start import ALONE, WorkerStart
from onevalet.wiring.ability_work import around_work
from onevalet.wiring.connections import check_worker
from onevalet.wiring.worker_parts import WorkerParts
from onevalet.wiring.worker_process import build_process

_log = structlog.get_logger()


@asynccontextmanager
async def open_worker(
    settings: Settings,
    *,
    demo: bool = False,
    start: WorkerStart = ALONE,
    note_stalls: Callable[[Sequence[str]], None] | None = None,
) -> AsyncIterator[Callable[[], Awaitable[object]]]:
    """Run turns and deliveries inside the block. `demo`: the demo model may answer when none is configured.

    `note_stalls` gets a phrase for each stall, every ten seconds.

    Yield a call that waits until the worker ends by itself, as only a process for quarantined turns does.
    """
    check_worker(settings, demo=demo)
    async with AsyncExitStack() as stack:
        parts = await WorkerParts.open(stack, settings, start)
        if start.quarantine is QuarantineMode.ONLY:
            quarantine = QuarantineProcess(parts.turns)
            quarantine.start()
            stack.push_async_callback(quarantine.stop)
            _log.info("quarantine_process_started", worker=parts.name)
            yield quarantine.until_idle
            return
        await stack.enter_async_context(around_work(parts.foundation))
        process = build_process(stack, parts, start.ask, note_stalls)
        process.start()
        stack.push_async_callback(process.stop)
        _log.info("worker_started", worker=parts.name, channels=sorted(parts.outbound.channels))
        yield Event().wait
