"""What is installed for production, by an image or a wheel: the product, and nothing of the workbench."""

import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from tests.shipping.harness import ROOT, SHIPPED, clean_environment, read, tracked_files
from tests.shipping.image import copy_image, image_files

_TESTED = """
from onevalet.testing import ScriptedModel, make_context, rehearse
try:
    from onevalet.testing import Scenario
except ImportError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the image has."""
    folder = tmp_path_factory.mktemp("installed")
    copy_image(folder)
    return folder


def run_in(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with the packages of the tests but not with the project, which a .pth file leads to."""
    path = os.pathsep.join([str(folder), sysconfig.get_path("purelib")])
    return subprocess.run(
        [sys.executable, "-S", *words],
        cwd=folder,
        env=clean_environment(PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", **settings),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_image_has_the_whole_product_and_nothing_of_the_workbench() -> None:
    copied = set(image_files())
    assert {path.parts[0] for path in copied if len(path.parts) > 1} == set(SHIPPED)
    product = {inner for path in tracked_files() if (inner := path.relative_to(ROOT)).parts[0] in SHIPPED}
    # .dockerignore leaves out no file of the product by its ending.
    assert product - copied == set()


def test_the_wheel_has_the_same_packages_as_the_image() -> None:
    packed = tomllib.loads(read("pyproject.toml"))["tool"]["uv"]["build-backend"]["module-name"]
    assert sorted(packed) == sorted(SHIPPED)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("dev",), "`dev` is not part of this installation: run bin/dev in a clone"),
        (("simulate", "any.scenario.toml"), "`simulate` is not part of this installation: run it in a clone"),
        (("worker",), "ONEVALET_MODEL is not set: name a model"),
    ],
)
def test_what_is_left_out_is_told_in_a_sentence(installed: Path, words: tuple[str, ...], sentence: str) -> None:
    addresses = {"DATABASE_URL": "postgresql://127.0.0.1:9/none", "REDIS_URL": "redis://127.0.0.1:9/0"}
    done = run_in(installed, "-m", "onevalet", *words, ONEVALET_HOME=str(installed / "home"), **addresses)
    assert done.returncode == 2, done.stderr[-1000:]
    assert done.stderr.splitlines()[-1].startswith(sentence), done.stderr[-1000:]


def test_tools_are_rehearsed_there_and_scenarios_are_not(installed: Path) -> None:
    done = run_in(installed, "-c", _TESTED)
    assert done.returncode == 0, done.stderr[-1000:]
    assert done.stdout.startswith("Scenarios are read and played in a clone of the project")


def test_no_demo_model_answers_there(installed: Path, tmp_path: Path) -> None:
    asked = "from onevalet.wiring.workbench import demo_model; print(demo_model())"
    (tmp_path / "workbench").mkdir()
    (tmp_path / "workbench" / "__init__.py").write_text('"""Of somebody else."""\n')
    assert run_in(installed, "-c", asked).stdout == "None\n"
    found = run_in(installed, "-c", f"import sys; sys.path.append({str(tmp_path)!r}); {asked}")
    assert found.stdout == "None\n", found.stderr[-1000:]
