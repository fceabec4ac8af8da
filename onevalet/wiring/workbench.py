"""The way into `dev`, which an image does not have."""

import asyncio

from onevalet.settings import Settings
from onevalet.wiring.extras import require_local


async def start_dev(settings: Settings, stop: asyncio.Event, *, processes: bool = False) -> None:
    """Run `dev` until told to stop; `processes`: see `run_dev`. Raises `ConfigError` where it is left out."""
    require_local()
    from workbench.dev.run import run_dev

    await run_dev(settings, stop, processes=processes)
