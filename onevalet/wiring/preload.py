"""Import what a worker needs: seconds of work, done before it serves anybody."""

import asyncio
import gc
import importlib
from collections.abc import Iterator

from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings


async def load_worker(settings: Settings | None = None, *, litellm: bool = True) -> None:
    """Import what a worker with these settings needs, and what its abilities load.

    Without settings: what any worker needs, and nothing of abilities, so that `dev` starts soon. The demo model needs
    no litellm. This blocks the event loop, so nothing may depend on it yet.
    """
    for name in _modules(settings):
        importlib.import_module(name)
    if settings is not None:
        for ability in all_abilities():
            if ability.loads is not None:
                ability.loads(settings)
    if litellm:
        from providers.models import litellm_library

        await asyncio.to_thread(litellm_library.load)


def keep_loaded() -> None:
    """Take what is loaded out of garbage collection: to search all of it would stop the loop for up to 250 ms.

    What is forked from here shares the pages of it, which no collection writes to.
    """
    gc.collect()
    gc.freeze()


def _modules(settings: Settings | None) -> Iterator[str]:
    """Yield the slow imports. An SDK is 10 MB and a tenth of a second, so only those of channels that are on."""
    yield "onevalet.wiring.worker"
    if settings is None or settings.sms_on:
        yield from ("channels.sms.catchup", "notify.sms.send", "twilio.rest.api")
    if settings is None or settings.slack_on:
        yield from ("channels.slack.receive", "notify.slack.send")
    if settings is None or settings.telegram_on:
        yield from ("channels.telegram.receive", "notify.telegram.send")
