"""The layers of core, the few files at its door, and the one importer of each heavy library."""

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.shipping.harness import PRODUCT, clean_environment, python_files, read

MAX_FILES_AT_THE_DOOR = 8
CONTRACT = "the rooms of core, from the top down"
IMPORTERS: dict[str, set[str]] = {
    "litellm": {"providers/models/litellm_library.py"},
    "typeagent": {"abilities/memory/index/typeagent_index.py"},
    "mcp": {"abilities/mcp/sdk.py", "abilities/mcp/streams.py", "operations/programs/sdk.py"},
    "arq": {"jobs/later/queueing.py", "jobs/later/cron.py", "jobs/later/functions.py", "jobs/later/worker.py"},
    "recurring_ical_events": {"abilities/calendar/ical/occurrences.py"},
}
PLANTED = {
    "upward": ("files", "import core.turns.types", "core.turns"),
    "lazily upward": ("db", "def later():\n    from core.people import people", "core.people"),
    "upward for types": ("tools", "if TYPE_CHECKING:\n    from core.turns.types import A", "core.turns"),
    "sideways": ("loop", "import core.inbox.inbox", "core.inbox"),
    "from the door": ("", "import core.db.database", "core.db"),
}
"""Each planted import by its name: the room it is in, the statement, and the room that it reaches."""


@pytest.fixture(scope="module")
def core_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of core, and of our contracts the one on its layers."""
    folder = tmp_path_factory.mktemp("core_alone")
    for path, source in python_files("core").items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source, encoding="utf-8")
    contracts = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    [contract] = [contract for contract in contracts if contract["name"] == CONTRACT]
    lines = ["[importlinter]", "root_package = core", "[importlinter:contract:layers]"]
    for key, value in contract.items():
        lines += [f"{key} =", *(f"    {item}" for item in value)] if isinstance(value, list) else [f"{key} = {value}"]
    (folder / ".importlinter").write_text("\n".join(lines))
    return folder


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter in a folder."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"],
        cwd=folder,
        env=clean_environment(COLUMNS="200"),
        capture_output=True,
        text=True,
        check=False,
    )


def importers(library: str, sources: dict[str, str]) -> set[str]:
    """Return the files that import a library, lazily included."""
    modules = set()
    for path, source in sources.items():
        for node in ast.walk(ast.parse(source)) if library in source else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == library for name in names):
                modules.add(path)
    return modules


def test_a_copy_of_core_keeps_its_layers(core_alone: Path) -> None:
    done = lint(core_alone)
    assert done.returncode == 0, done.stdout
    assert f"{CONTRACT} KEPT" in done.stdout


@pytest.mark.parametrize(("room", "statement", "imported"), PLANTED.values(), ids=PLANTED)
def test_a_planted_import_against_the_layers_is_found(
    core_alone: Path, tmp_path: Path, room: str, statement: str, imported: str
) -> None:
    core = shutil.copytree(core_alone, tmp_path / "planted") / "core"
    (core / room / ("__init__.py" if room else "errors.py")).write_text(f"{statement}\n")
    done = lint(core.parent)
    assert done.returncode == 1, done.stdout
    assert f"is not allowed to import {imported}:" in done.stdout


def test_a_planted_room_without_a_layer_is_found(core_alone: Path, tmp_path: Path) -> None:
    core = shutil.copytree(core_alone, tmp_path / "planted") / "core"
    (core / "hall").mkdir()
    (core / "hall" / "__init__.py").write_text("")
    done = lint(core.parent)
    assert done.returncode == 1, done.stdout
    assert "core.hall" in done.stdout


def test_few_files_stand_at_the_door_of_core() -> None:
    assert len([path for path in python_files("core") if path.count("/") == 1]) <= MAX_FILES_AT_THE_DOOR


@pytest.mark.parametrize(("library", "files"), IMPORTERS.items())
def test_a_heavy_library_is_imported_in_one_place_only(library: str, files: set[str]) -> None:
    sources = python_files(*PRODUCT)
    assert importers(library, sources) == files
    planted = {"core/planted.py": f"def f():\n    from {library}.a import b\n"}
    assert importers(library, sources | planted) == files | set(planted)
