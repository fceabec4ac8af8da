"""The Pythons that pyproject.toml names are those that everything can be installed on."""

import os
import re
import subprocess
import tomllib

import pytest

from tests.shipping.harness import ROOT, clean_environment, find_uv, read, run

PYTHONS = ("3.12", "3.13", "3.14")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")


def test_the_project_names_each_python_and_no_other() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    named = [line.removeprefix("Programming Language :: Python :: ") for line in project["classifiers"][1:]]
    assert tuple(named) == PYTHONS
    assert project["requires-python"] == ">=3.12,<3.15"
    assert "OneValet runs on Python 3.12, 3.13 and 3.14." in read("docs/deploy.md")


def test_the_folders_that_run_on_a_newer_python_are_there() -> None:
    [named] = re.findall(r"^newer=\((.+?)\)$", read(".ci/run"), re.MULTILINE | re.DOTALL)
    folders = run(["bash", "-c", f"printf '%s\\n' {' '.join(named.split())}"]).split()
    assert len(folders) > 10
    assert [folder for folder in folders if not any((ROOT / folder).rglob("test_*.py"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_every_dependency_has_a_wheel(python: str, platform: str) -> None:
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not here: the tests were not started by `uv run`")
    words = ["--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", python]
    done = subprocess.run(
        [uv, "pip", "compile", *words, "--python-platform", platform, "requirements.txt"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not os.environ.get("CI") and re.search("Failed to fetch|sending request", done.stderr):
        pytest.skip("the packages cannot be looked up from here")
    assert done.returncode == 0, done.stderr[-2000:]
