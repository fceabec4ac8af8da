"""A command that a sentence or a page names is one that there is."""

import re
from collections.abc import Iterator

import typer
from typer.core import TyperGroup

from onevalet.cli.main import app
from tests.shipping.harness import PACKAGES, ROOT

ALL = typer.main.get_command(app)
PERIODIC = {("memory", "upkeep")}
"""Work that a worker does now and then, whose name reads like a command."""
_NAMED = re.compile(r"`(?:bin/onevalet )?([a-z]+)((?: [a-z-]+)*)[^`\n]*`")


def named(text: str) -> Iterator[tuple[str, ...]]:
    """Yield each command of a group that stands in backticks, by its words."""
    assert isinstance(ALL, TyperGroup)
    for first, others in _NAMED.findall(text):
        if isinstance(ALL.commands.get(first), TyperGroup):
            yield (first, *others.split())


def is_there(words: tuple[str, ...]) -> bool:
    """Return whether there is such a command, or group of them; what follows a command is its arguments."""
    command: object = ALL
    for word in words:
        if not isinstance(command, TyperGroup):
            return True
        if word not in command.commands:
            return False
        command = command.commands[word]
    return True


def texts() -> Iterator[tuple[str, str]]:
    """Yield every file of the product and of its pages, with what it says."""
    code = [path for package in PACKAGES if package != "tests" for path in sorted((ROOT / package).rglob("*.py"))]
    pages = [ROOT / "README.md", ROOT / ".env.example", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in (*code, *pages):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_no_sentence_names_a_command_that_is_not_there() -> None:
    found = [(path, words) for path, text in texts() for words in named(text)]
    assert len(found) > 50
    assert [(path, " ".join(words)) for path, words in found if not is_there(words) and words not in PERIODIC] == []


def test_a_planted_one_is_found() -> None:
    [words] = named("Add one by `events add`.")
    assert not is_there(words)
    assert all(map(is_there, named("`events source add home`, `tenants`, `mcp token x`")))
