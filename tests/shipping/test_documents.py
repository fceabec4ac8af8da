"""What the documents name is there: commands, files, links."""

import importlib.util
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from onevalet.cli import help_page
from onevalet.cli.main import app
from onevalet.wiring.plugins import load_plugins
from tests.page.shown import PICTURE, RECORD, record
from tests.shipping.harness import ROOT, clean_environment, read, run
from workbench.dev.run import describe
from workbench.pages.catalogues import sentences

DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_COMMAND = re.compile(r"bin/onevalet((?: [a-z][a-z-]*)*)")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PLACE = re.compile(r"\]\(([^)#\s]*)#([^)]+)\)")
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:md|toml|yml|txt))`")


MOST_WORDS = 30
"""Words in a cell of a table: a longer text is a paragraph, or a list."""
STUMBLED = (
    "is wired to, it says", "no longer be reached in one place", "asked anew", "meet silence", "is an error at start",
    "is content", "turn and turn", "worth a look", "hands nothing over", "another place of", "take both for you",
    "gave nobody this code", "counts for one hour", "here that this decides",
)  # fmt: skip
"""What a native reader who tried the product stumbled over."""


def options_of_commands() -> dict[str, set[str]]:
    """Walk the command line: every command, with those below it as `group command`, and its options."""
    found: dict[str, set[str]] = {}

    def walk(group: TyperGroup, before: str) -> None:
        for name, command in group.commands.items():
            found[f"{before}{name}"] = {option for parameter in command.params for option in parameter.opts}
            if isinstance(command, TyperGroup):
                walk(command, f"{before}{name} ")

    group = get_command(app)
    assert isinstance(group, TyperGroup)
    walk(group, "")
    return found


def commands() -> set[str]:
    return set(options_of_commands())


def found_in(look: Callable[[str], Sequence[str]], documents: Sequence[str] = DOCUMENTS) -> dict[str, Sequence[str]]:
    """Return the findings of a look, by document."""
    return {document: found for document in documents if (found := look(document))}


def test_every_command_a_document_names_exists() -> None:
    known = commands()

    def unknown(document: str) -> list[str]:
        named = [words.strip() for words in _COMMAND.findall(read(document))]
        return [words for words in named if words and not any(f"{words} ".startswith(f"{name} ") for name in known)]

    assert found_in(unknown) == {}


def test_every_command_is_documented() -> None:
    named = {words.strip() for words in _COMMAND.findall(read("docs/commands.md"))}
    known = commands()
    groups = {name for name in known if any(other.startswith(f"{name} ") for other in known)}
    assert known - groups - named == set()


@pytest.mark.parametrize("option", ["json", "tenant"])
def test_the_page_marks_the_commands_that_take_an_option(option: str) -> None:
    entries = re.split(r"^- `bin/onevalet ([a-z-]+(?: [a-z-]+)*)", read("docs/commands.md"), flags=re.MULTILINE)[1:]
    marked = {name for name, says in zip(entries[::2], entries[1::2], strict=True) if f"[{option}]" in says}
    assert marked == {name for name, options in options_of_commands().items() if f"--{option}" in options}


def test_the_page_has_the_commands_under_the_headings_of_the_help() -> None:
    sections = re.findall(r"^## (.+)\n\n((?:[- ] .*\n)+)", read("docs/commands.md"), re.MULTILINE)
    shown = {title: [name.split()[0] for name in _COMMAND.findall(rows)] for title, rows in sections}
    firsts = {title: tuple(dict.fromkeys(names)) for title, names in shown.items() if title in help_page.headings()}
    assert firsts == help_page.headings()


def test_help_names_every_command() -> None:
    printed = run([sys.executable, "-m", "onevalet", "--help"], environment=clean_environment(COLUMNS="120"))
    top = {name.split()[0] for name in commands()}
    assert {name for name in top if not re.search(rf"\b{re.escape(name)}\b", printed)} == set()


def test_help_of_dev_says_how_to_choose_its_port() -> None:
    printed = run([sys.executable, "-m", "onevalet", "dev", "--help"], environment=clean_environment(COLUMNS="120"))
    printed = " ".join(printed.split())
    assert "PORT (8080)" in printed
    assert "PORT=9000 bin/dev" in printed
    assert "PORT=9000 bin/dev" in read("README.md")


def test_the_readmes_sample_of_the_start_has_the_lines_of_the_real_one() -> None:
    sample = re.search(r"^OneValet is running\..*?^```", read("README.md"), re.MULTILINE | re.DOTALL)
    assert sample is not None
    shown = re.findall(r"^  (\w+(?: key)?) {2,}", sample[0], re.MULTILINE)
    lines = re.findall(r'^ {8}\("(\w+(?: key)?)", ', inspect.getsource(describe), re.MULTILINE)
    assert shown == [*lines, "gateway", "simulator", "console"]


def test_no_document_asks_for_a_uv_that_a_newcomer_has_not() -> None:
    """`bin/uv` is the one that `bin/dev` found or installed."""
    asking = re.compile(r"(?<!bin/)\buv (?:run|export|sync)\b.*|uv run -m onevalet")
    others = ("workbench/simulator/page/index.html", "workbench/dev/run.py", "onevalet/cli/building.py")
    assert found_in(lambda document: asking.findall(read(document)), [*DOCUMENTS, *others]) == {}


def test_what_readers_stumbled_over_is_in_no_page_and_no_sentence() -> None:
    said = {document: " ".join(read(document).split()) for document in DOCUMENTS}
    said |= {"the catalogue": " ".join(str(message.id) for message in sentences())}
    assert [(where, words) for where, text in said.items() for words in STUMBLED if words in text] == []


@pytest.mark.parametrize("script", ["bin/dev", "bin/test", "bin/onevalet"])
def test_the_commands_of_the_readme_are_there_and_executable(script: str) -> None:
    first_screen = "\n".join(read("README.md").splitlines()[:45])
    assert re.search(rf"(?:^|`|: ){script}\b", first_screen, re.MULTILINE)
    assert os.access(ROOT / script, os.X_OK)
    assert read(script).startswith("#!/bin/sh\n")


def test_every_module_of_the_tests_that_a_document_runs_exists() -> None:
    def missing(document: str) -> list[str]:
        named = re.findall(r"uv run -m (tests[\w.]*)", read(document))
        return [name for name in named if importlib.util.find_spec(name) is None]

    assert found_in(missing) == {}


def test_every_link_inside_the_project_leads_somewhere() -> None:
    def broken(document: str) -> list[str]:
        links = [link for link in _LINK.findall(read(document)) if "://" not in link]
        return [link for link in links if not (ROOT / document).parent.joinpath(link).exists()]

    assert found_in(broken) == {}


def test_every_link_to_a_place_in_a_document_leads_to_a_heading() -> None:
    def broken(document: str) -> list[str]:
        links = [link for link in _PLACE.findall(read(document)) if not re.match(r".*://|\.\.", link[0])]
        path = ROOT / document
        targets = [(f"{name}#{place}", place, path.parent / name if name else path) for name, place in links]
        return [link for link, place, target in targets if place not in headings(target)]

    assert found_in(broken) == {}


@cache
def headings(path: Path) -> set[str]:
    """Return a document's headings as GitHub names them in links."""
    text = re.sub(r"^( *)```.*?^\1```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_row_of_a_table_stands_in_it() -> None:
    """A blank line ends a table: the rows after it are shown as they were typed."""

    def headless(document: str) -> list[str]:
        tables = [table.partition("\n") for table in re.findall(r"(?:^\|.*\n)+", read(document), re.MULTILINE)]
        return [first for first, _, others in tables if not re.search(r"^\|[-: |]+\|\n", others)]

    assert found_in(headless) == {}


def test_no_cell_of_a_table_is_a_paragraph() -> None:
    def long_cells(document: str) -> list[str]:
        text = re.sub(r"^( *)```.*?^\1```", "", read(document), flags=re.MULTILINE | re.DOTALL)
        cells = [cell for row in re.findall(r"^\|(.*)\|$", text, re.MULTILINE) for cell in row.split(" | ")]
        return [cell for cell in cells if len(cell.split()) > MOST_WORDS]

    assert found_in(long_cells) == {}


def test_what_ships_has_every_tool_that_may_be_offered() -> None:
    plugins = load_plugins(["agents"])
    named = set(re.findall(r"`(\w+)`", read("docs/agents.md")))
    assert plugins.names - {tool.name for tool in plugins.tools if tool.inverse} - named == set()


def test_the_readmes_picture_shows_the_page_and_the_talk_of_now() -> None:
    assert PICTURE.name in read("README.md")
    assert RECORD.read_text() == record(), "take it again: uv run -m tests.page.picture"


def test_the_index_lists_every_page_once_with_a_line_on_it() -> None:
    lines = [line for line in read("docs/README.md").splitlines() if line.startswith("- ")]
    listed = [_LINK.findall(line) for line in lines]
    assert all(len(links) == 1 for links in listed), "one page a line"
    pages = [name.removeprefix("docs/") for name in DOCUMENTS if name.startswith("docs/") and name != "docs/README.md"]
    assert sorted(links[0] for links in listed if not links[0].startswith("..")) == sorted(pages)
    assert [line for line in lines if not re.search(r"\)[:,] \w.{15,}\.$", line)] == []
    assert "(docs/README.md)" in read("README.md")


def test_every_path_a_document_names_exists() -> None:
    def missing(document: str) -> list[str]:
        named = _PATH.findall(read(document))
        # Other things look like paths too: models, URLs, an operator's own folder.
        paths = [path for path in named if "/" not in path or (ROOT / path.split("/")[0]).is_dir()]
        return [path for path in paths if not (ROOT / path).exists()]

    assert found_in(missing, [name for name in DOCUMENTS if Path(name).name != "CHANGELOG.md"]) == {}


def test_every_setting_is_documented() -> None:
    from onevalet.settings import Settings

    text = read("docs/settings.md")
    named = {name.upper() for name in Settings.model_fields if name not in ("loop", "openid")} | {"ONEVALET_LOOP_"}
    assert {name for name in named if name not in text} == set()


def test_the_tool_shown_in_contributing_loads_as_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = re.search(r"^ +```python\n(.*?)^ +```", read("CONTRIBUTING.md"), re.MULTILINE | re.DOTALL)
    assert shown is not None
    (tmp_path / "household_shown.py").write_text(textwrap.dedent(shown[1]))
    monkeypatch.syspath_prepend(tmp_path)
    tools = load_plugins(["household_shown"]).tools
    assert [tool.name for tool in tools] == ["water_plants"]


def test_every_promise_the_readme_claims_has_a_test_that_bears_its_number() -> None:
    claimed = re.findall(r"^\| (\d+) \| ", read("README.md"), re.MULTILINE)
    proven = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for numbers in re.findall(r"def test_promises?((?:_\d+)+)_", path.read_text(encoding="utf-8")):
            proven |= set(numbers.strip("_").split("_"))
    assert claimed
    assert set(claimed) - proven == set()
