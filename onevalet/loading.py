"""What a worker imports: seconds of work, done before it serves anybody."""

import importlib

_LOADED = (
    *("jobs.worker", "jobs.turns", "jobs.delivery", "jobs.catchup", "jobs.upkeep"),
    *("onevalet.app", "onevalet.assistant", "twilio.rest", "channels.slack.receive", "channels.telegram.receive"),
    *("notify.slack.send", "notify.telegram.send"),
)
"""What takes long to import, and what a worker needs whatever its settings."""


async def load_worker() -> None:
    """Import what a worker needs. It holds up the loop, on which nobody may wait yet."""
    from core.model import LiteLLMClient

    for name in _LOADED:
        importlib.import_module(name)
    await LiteLLMClient("demo/valet").warm_up()
