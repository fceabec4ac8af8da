"""A process that is started gets nothing of our environment but where the loader finds libraries."""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from abilities.documents.file import read_content
from core.children.child_environment import child_environment
from core.children.child_process import run_in_child
from core.children.kept_process import end_kept
from core.files.kinds import FileFailure, FileKind
from core.files.types import FileUnreadable
from onevalet.servers.child_process import server_environment
from operations.backups.programs import Login
from tests.shipping.harness import PRODUCT

STARTERS = {"Popen", "run", "create_subprocess_exec", "create_subprocess_shell", "check_output", "call", "check_call"}


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Name a folder of libraries in the environment, as beside a Python whose own library lies nowhere else."""
    folder = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    monkeypatch.setenv("LD_LIBRARY_PATH", folder)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    end_kept()
    yield folder
    end_kept()


def test_where_libraries_are_is_all_that_is_passed_on(libraries: str) -> None:
    assert child_environment(PATH="/bin") == {"PATH": "/bin", "LD_LIBRARY_PATH": libraries}
    for environment in (server_environment(), Login.of("postgresql://ann@localhost/valet").environment):
        assert environment["LD_LIBRARY_PATH"] == libraries
        assert "OPENAI_API_KEY" not in environment


async def test_what_reads_files_finds_its_libraries(libraries: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import os, sys; sys.stdout.write(os.environ['LD_LIBRARY_PATH'])")
    assert (await run_in_child(script, b"")).decode() == libraries


async def test_where_no_process_can_be_started_the_file_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(FileUnreadable) as caught:
        await read_content(b"words", FileKind.TEXT)
    assert caught.value.failure is FileFailure.UNREAD


@pytest.mark.whole("it reads all of the code")
def test_every_environment_of_a_process_that_is_started_has_it() -> None:
    """An environment is made by `child_environment` in the module that passes it on, or by one that it imports."""
    starting = {path: tree for path in _sources() if _passes_an_environment(tree := ast.parse(path.read_text()))}
    assert len(starting) >= 6
    makers = {"child_environment", "server_environment"}
    assert [str(path) for path, tree in starting.items() if not makers & set(_called(tree))] == []


def _sources() -> Iterator[Path]:
    for name in PRODUCT:
        yield from Path(name).rglob("*.py")


def _passes_an_environment(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Call)
        and _name(node.func) in STARTERS
        and any(keyword.arg == "env" for keyword in node.keywords)
        for node in ast.walk(tree)
    )


def _called(tree: ast.AST) -> Iterator[str]:
    return (_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(called: ast.expr) -> str:
    match called:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
