"""The wheel: a program in a folder of its own imports OneValet from it and runs the first example of its page."""

import asyncio
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import pytest

from core.json_types import objects_in
from tests.documents.blocks import write_files
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from tests.shipping.harness import ROOT, SHIPPED, clean_environment, find_uv, run, tracked_files
from workbench.demo.model import DEMO_MODEL

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]
_WHERE = """
import importlib, sys
for name in sys.argv[1:]:
    print(importlib.import_module(name).__file__)
"""
_REHEARSED = """
from onevalet import ToolExecutionContext, tool
from onevalet.testing import make_context

@tool(effect="read")
async def dozens(count: int, context: ToolExecutionContext) -> str:
    \"\"\"Tell how many so many dozens are.\"\"\"
    return str(12 * count)

async def test_dozens():
    assert await dozens(12, make_context()) == "144"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not here: the tests were not started by `uv run`")
    folder = tmp_path_factory.mktemp("wheel")
    run([uv, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)])
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel: Path) -> Path:
    """Return the Python of an environment that has the wheel; what the wheel depends on is that of the tests."""
    environment, uv = wheel.parent / "venv", str(find_uv())
    run(
        [
            uv,
            "venv",
            "--quiet",
            "--no-project",
            "--python",
            sysconfig.get_config_var("py_version_short"),
            str(environment),
        ]
    )
    program = environment / "bin" / "python"
    run([uv, "pip", "install", "--quiet", "--no-deps", "--python", str(program), str(wheel)], folder=wheel.parent)
    [packages] = environment.glob("lib/python3.*/site-packages")
    # This brings packages, and not the .pth files beside them, one of which names the project's folder.
    (packages / "of_the_tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return program


def test_the_wheel_has_every_file_of_the_product_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    files = {path.relative_to(ROOT) for path in tracked_files()}
    shipped = {path.as_posix() for path in files if path.parts[0] in SHIPPED and len(path.parts) > 1}
    assert {name for name in packed if ".dist-info/" not in name} == shipped


def test_every_package_is_imported_from_another_folder(python: Path, tmp_path: Path) -> None:
    done = run([str(python), "-c", _WHERE, *SHIPPED], folder=tmp_path, environment=clean_environment())
    home = python.parents[1].resolve()
    assert [Path(line).resolve().is_relative_to(home) for line in done.split()] == [True] * len(SHIPPED), done


async def test_the_first_example_of_the_page_runs_in_another_folder(python: Path, tmp_path: Path) -> None:
    first = write_files("docs/embedding.md", tmp_path)[0]
    async with ScriptedModel(_as_the_demo_model) as model:
        named = {"ONEVALET_MODEL": "openai/scripted", "OPENAI_API_BASE": model.url, "OPENAI_API_KEY": "sk-test"}
        printed = await asyncio.to_thread(_run_tests, python, first, tmp_path, **named)
    assert "1 passed" in printed
    assert model.calls


def test_an_installed_program_without_a_model_is_told_to_name_one(python: Path, tmp_path: Path) -> None:
    first = write_files("docs/embedding.md", tmp_path)[0]
    assert "ConfigError: ONEVALET_MODEL is not set: name a model" in _run_tests(python, first, tmp_path)


def test_a_tool_is_rehearsed_in_another_folder(python: Path, tmp_path: Path) -> None:
    (tmp_path / "test_rehearsed.py").write_text(_REHEARSED)
    printed = _run_tests(python, tmp_path / "test_rehearsed.py", tmp_path, "-p", "onevalet.testing.plugin")
    assert "1 passed" in printed, printed


def _run_tests(python: Path, file: Path, folder: Path, *options: str, **settings: str) -> str:
    """Run tests of a reader's in the environment that has the wheel; return what is printed."""
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-o", "asyncio_mode=auto", "-p", "no:cacheprovider", *options, str(file)],
        cwd=folder,
        env=clean_environment(ONEVALET_HOME=str(folder / "home"), **settings),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return done.stdout[-6000:] + done.stderr[-1000:]


def _as_the_demo_model(call: ModelCall) -> Reply:
    """Answer over the wire as the demo model does in a clone, for which the example is written."""
    functions = objects_in([tool["function"] for tool in objects_in(call.body.get("tools"))])
    offered = {str(function["name"]): str(function.get("description", "")) for function in functions}
    answer = DEMO_MODEL.answer(call.messages, offered)
    if answer.tool_calls:
        return calls(*((asked.name, asked.arguments) for asked in answer.tool_calls))
    return text(answer.text or "")
