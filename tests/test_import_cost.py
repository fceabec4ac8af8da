"""Importing the face, or what the web process needs of the core, loads no heavy library."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

HEAVY = (
    "litellm",
    "openai",
    "mcp",
    "typeagent",
    "agents.clock",
    "telegram",
    "twilio",
    "icalendar",
    "recurring_ical_events",
    "aiosmtplib",
    "opentelemetry.sdk",
    "opentelemetry.exporter",
)


_WITHOUT_THE_MODEL = (
    "import core.messaging.messages, core.messaging.channels, core.errors, core.inbox.inbox, core.messaging.outbox",
    "import core.journal.types, core.turns.types, core.loop.config",
    "from onevalet import tool, ToolExecutionContext, ReactLoopConfig",
    "from onevalet import Orchestrator",
    "import providers.models.litellm_client, onevalet.wiring.plugins",
    "import onevalet.wiring.web, channels.sms.receive",
    "import onevalet.wiring.tracing, core.tracing, jobs.turns.runner, jobs.reports",
    "from onevalet import Calendars",
    "import channels.email.receive, notify.email.send, providers.email.mailbox, providers.email.smtp",
    "import abilities.mail.idle",
)


def _loaded(*codes: str) -> list[set[str]]:
    """Run codes one after the other in a fresh process; return the names of all modules loaded after each."""
    lines = [line for code in codes for line in (code, "print(*sys.modules)")]
    script = "\n".join(["import sys", *lines])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stdout.splitlines()]


def test_import_onevalet_loads_nothing_heavy_and_none_of_core() -> None:
    (loaded,) = _loaded("import onevalet")
    assert not loaded & {*HEAVY, "pydantic", "aiohttp", "asyncpg", "structlog"}
    assert not any(name.startswith("core.") for name in loaded)


def test_the_model_stack_is_loaded_by_none_of_these() -> None:
    # In one process, which costs a second: who loads something heavy is the first that has it.
    loaded = zip(_WITHOUT_THE_MODEL, _loaded(*_WITHOUT_THE_MODEL), strict=True)
    assert [(code, names & set(HEAVY)) for code, names in loaded if names & set(HEAVY)] == []


def test_every_public_name_is_there_and_no_other() -> None:
    import onevalet

    for name in onevalet.__all__:
        assert getattr(onevalet, name) is not None
    assert set(onevalet.__all__) <= set(dir(onevalet))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        onevalet.nothing  # noqa: B018
