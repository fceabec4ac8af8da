"""Import what a worker needs: seconds of work, done before it serves anybody."""

import asyncio
import importlib

_MODULES = (
    "onevalet.wiring.worker",
    "twilio.rest",
    "channels.slack.receive",
    "channels.telegram.receive",
    "notify.slack.send",
    "notify.telegram.send",
)
"""Slow imports, of which a worker needs all or most, whatever its settings."""


async def load_worker() -> None:
    """Import what a worker needs. This blocks the event loop, so nothing may depend on it yet."""
    from core.llm import litellm_library

    for name in _MODULES:
        importlib.import_module(name)
    await asyncio.to_thread(litellm_library.load)
