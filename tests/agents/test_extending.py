"""The page that tells how to write an agent: its code is written to files and loaded. Its tests: tests/documents."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agents.registry import AgentRegistry
from core.errors import ConfigError
from core.language import catalogue
from core.language.catalogue import gettext, speaking
from core.turns.orchestrator import Orchestrator
from onevalet import StandardAgent, testing
from onevalet.testing import MemoryCredentials, make_context, rehearse
from onevalet.wiring.plugins import load_plugins
from tests.core.builders import FakeModel
from tests.documents.blocks import write_files


@pytest.fixture
def lunch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the files of the page."""
    assert len(write_files("docs/extending.md", tmp_path)) >= 5
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(catalogue, "_folders", [catalogue.LOCALES])
    yield tmp_path / "lunch"
    catalogue.translations.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "lunch"]:
        del sys.modules[name]


def test_the_code_of_the_page_is_a_plugin(lunch: Path) -> None:
    plugins = load_plugins(["agents", "lunch"])
    orchestrator = Orchestrator(FakeModel([]), tools=plugins.tools, agents=AgentRegistry(plugins.agents))
    assert orchestrator.agents.get("OrderLunchAgent") is not None
    assert orchestrator.tools.get("todays_menu") is not None


def test_every_name_the_page_imports_is_public(lunch: Path) -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(lunch.parent.rglob("*.py")))
    imported = set(re.findall(r"^from ([\w.]+) import", written, re.MULTILINE))
    assert imported == {
        "onevalet",
        "onevalet.testing",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "zoneinfo",
        "lunch.cancel",
        "lunch.invitations",
        "lunch.menu",
        "lunch.order",
        "lunch.orders",
        "lunch.sheet",
        "lunch.words",
    }


async def test_what_a_plugins_catalogue_lacks_is_said_as_written(lunch: Path) -> None:
    load_plugins(["lunch"])
    with speaking("de"):
        assert gettext("You have ordered nothing yet.") == "Du hast noch nichts bestellt."
        assert gettext("Stopped.") == "Abgebrochen."
        assert gettext("No salad today.") == "No salad today."
    with speaking("fr"):
        assert gettext("You have ordered nothing yet.") == "You have ordered nothing yet."


async def test_a_packages_own_test_hears_its_catalogue(lunch: Path) -> None:
    """No plugin is loaded in a test that imports what it tests."""
    orders = importlib.import_module("lunch.orders")
    with testing.speaking("de-AT"):
        assert await orders.count_lunches(make_context()) == "Du hast noch nichts bestellt."
    with testing.speaking("fr"):
        assert await orders.count_lunches(make_context()) == "You have ordered nothing yet."


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("de.po", 'msgid "a {b}"\nmsgstr "a {c}"\n', r"de\.po:1: the translation has other fields"),
        ("de.po", 'msgid "a {b}"\nmsgstr "a {b"\n', r"de\.po:1: the translation has other fields"),
        ("de.po", "hello\n", r"de\.po: this is no catalogue"),
        ("nl.po", "", r"nl\.po: there is no language 'nl'"),
    ],
)
def test_a_catalogue_that_is_wrong_is_refused_at_the_start(lunch: Path, name: str, text: str, error: str) -> None:
    (lunch / "locales" / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=error):
        load_plugins(["lunch"])


async def test_a_rehearsal_stops_where_a_person_comes_in() -> None:
    from abilities.mail.tools import SendEmailAgent

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
