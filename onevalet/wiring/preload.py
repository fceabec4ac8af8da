"""What a worker imports: seconds of work, done before it serves anybody."""

import importlib

_LOADED = (
    *("jobs.worker", "jobs.turns", "jobs.delivery", "jobs.catchup", "jobs.upkeep"),
    *(
        "onevalet.app",
        "onevalet.wiring.orchestrator",
        "twilio.rest",
        "channels.slack.receive",
        "channels.telegram.receive",
    ),
    *("notify.slack.send", "notify.telegram.send"),
)
"""What takes long to import, and what a worker needs whatever its settings."""


async def load_worker() -> None:
    """Import what a worker needs. It holds up the loop, on which nobody may wait yet."""
    from core.llm.litellm_client import LiteLLMClient
    from onevalet.demo.model import DEMO_MODEL

    for name in _LOADED:
        importlib.import_module(name)
    await LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL).warm_up()
