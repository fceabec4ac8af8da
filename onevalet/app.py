"""The composition root: run a process of each kind, built from the settings by `onevalet.wiring`."""

import asyncio

from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.supervision.garbage import keep_loaded
from onevalet.supervision.loop_watch import worker_watch
from onevalet.supervision.worker_start import ALONE, WorkerStart


async def run_web(settings: Settings, stop: asyncio.Event) -> None:
    """Run a web process until told to stop."""
    from onevalet.wiring.tracing import open_tracing
    from onevalet.wiring.web import open_web

    try:
        async with open_tracing(settings, "web"), open_web(settings):
            keep_loaded()
            await stop.wait()
    except OSError as error:
        raise ConfigError(f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}.") from error


async def run_worker(settings: Settings, stop: asyncio.Event, start: WorkerStart = ALONE) -> None:
    """Run a worker process until told to stop. A process for quarantined turns also ends when none is left."""
    from onevalet.wiring.metrics import open_worker_metrics
    from onevalet.wiring.tracing import open_tracing
    from onevalet.wiring.worker import open_worker

    async with (
        worker_watch(settings, start) as watch,
        open_tracing(settings, "worker"),
        open_worker_metrics(settings, start),
        open_worker(settings, start=start, note_stalls=watch.note_stalls) as until_ended,
    ):
        keep_loaded()
        watch.begin_work()
        ends = [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(until_ended())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
