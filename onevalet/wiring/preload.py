"""Imports of a worker: seconds of work, done before its first turn."""

import asyncio
import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings


async def load_worker(settings: Settings | None = None, *, litellm: bool = True) -> None:
    """Import the modules that a worker with these settings needs, and load those of its abilities.

    Without settings: only the modules of any worker, and none of abilities, so that `dev` starts soon. The demo model
    needs no litellm. This blocks the event loop, so nothing may depend on it yet.
    """
    with _collecting_nothing():
        for name in worker_modules(settings):
            importlib.import_module(name)
        if settings is not None:
            for ability in all_abilities():
                if ability.loads is not None:
                    ability.loads(settings)
        if litellm:
            from providers.models import litellm_library

            await asyncio.to_thread(litellm_library.load)


def worker_modules(settings: Settings | None = None) -> Iterator[str]:
    """Yield the slow imports; without settings, those of any worker.

    An SDK is 10 MB and a tenth of a second, so only those of channels that are on.
    """
    yield "onevalet.wiring.worker"
    if settings is None or settings.sms_on:
        yield from ("channels.sms.catchup", "notify.sms.send", "twilio.rest.api")
    if settings is None or settings.slack_on:
        yield from ("channels.slack.receive", "notify.slack.send")
    if settings is None or settings.telegram_on:
        yield from ("channels.telegram.receive", "notify.telegram.send")


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Stop the garbage collector, which would search all that is loaded again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
