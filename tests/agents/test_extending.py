"""The page that tells how to write an agent: its code is written to files and loaded, and its tests are run."""

import inspect
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agents.registry import AgentRegistry
from core.errors import ConfigError
from core.turns.orchestrator import Orchestrator
from onevalet import StandardAgent
from onevalet.testing import MemoryCredentials, make_context, rehearse
from onevalet.wiring.plugins import load_plugins
from tests.core.builders import FakeModel

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


@pytest.fixture
def lunch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write each block of Python to the file that its first line names."""
    blocks = re.findall(r"^```python\n# (\S+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == PAGE.read_text(encoding="utf-8").count("```python") >= 3
    for name, code in blocks:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code, encoding="utf-8")
    (tmp_path / "lunch" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "lunch"
    for name in [name for name in sys.modules if name.partition(".")[0] == "lunch"]:
        del sys.modules[name]


async def test_the_code_of_the_page_is_a_plugin_whose_tests_pass(lunch: Path) -> None:
    plugins = load_plugins(["agents", "lunch"])
    orchestrator = Orchestrator(FakeModel([]), tools=plugins.tools, agents=AgentRegistry(plugins.agents))
    assert orchestrator.agents.get("OrderLunchAgent") is not None
    assert orchestrator.tools.get("todays_menu") is not None
    tests = runpy.run_path(str(lunch.parent / "tests" / "test_lunch.py"))
    run = [value for name, value in tests.items() if name.startswith("test_")]
    assert len(run) == 3
    for test in run:
        result = test()
        if inspect.isawaitable(result):
            await result


def test_every_name_the_page_imports_is_public() -> None:
    page = PAGE.read_text(encoding="utf-8")
    imported = set(re.findall(r"^from ([\w.]+) import", page, re.MULTILINE))
    assert imported == {"onevalet", "onevalet.testing", "datetime", "enum", "lunch.menu", "lunch.order"}


async def test_a_rehearsal_stops_where_a_person_comes_in() -> None:
    from agents.email import SendEmailAgent

    with pytest.raises(ConfigError, match="has no field 'to'"):
        rehearse(SendEmailAgent, to="sam@example.com")
    with pytest.raises(ConfigError, match="mark it with @valet"):
        rehearse(StandardAgent)
    with pytest.raises(ConfigError, match=r"It asks first: What should it say\?"):
        await rehearse(SendEmailAgent, recipient="sam@example.com").go_on()
    context = make_context(credentials=MemoryCredentials({"email": {"host": "h"}}))
    assert (await context.credentials.accounts("somebody", "email")).chosen == "primary"
    assert await context.credentials.get("somebody", "calendar") is None
    assert [account["service"] for account in await context.credentials.list("somebody")] == ["email"]
