"""Importing the face, or what the web process needs of the core, loads no heavy library."""

import subprocess
import sys

import pytest

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
)


def _loaded(code: str) -> set[str]:
    """Run code in a fresh process and give the names of all modules it loaded."""
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_onevalet_loads_nothing_heavy_and_none_of_core() -> None:
    loaded = _loaded("import onevalet")
    assert not loaded & {*HEAVY, "pydantic", "aiohttp", "asyncpg", "structlog"}
    assert not any(name.startswith("core.") for name in loaded)


@pytest.mark.parametrize(
    "code",
    [
        "import core.messaging.messages, core.messaging.channels, core.errors, core.inbox.inbox, core.messaging.outbox",
        "import core.journal.types, core.turns.types, core.loop.config",
        "from onevalet import tool, ToolExecutionContext, ReactLoopConfig",
        "from onevalet import Orchestrator",
        "import core.llm.litellm_client, onevalet.wiring.plugins",
        "import onevalet.wiring.web, channels.sms.receive",
        "from onevalet import Calendars",
    ],
)
def test_the_model_stack_is_loaded_by_none_of_these(code: str) -> None:
    assert not _loaded(code) & set(HEAVY)


def test_every_public_name_is_there_and_no_other() -> None:
    import onevalet

    for name in onevalet.__all__:
        assert getattr(onevalet, name) is not None
    assert set(onevalet.__all__) <= set(dir(onevalet))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        onevalet.nothing  # noqa: B018
