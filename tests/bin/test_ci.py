"""`.ci/run`, where tests may not be skipped, with stand-ins for uv and the Pythons."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.needs import OPTIONAL, PACKAGES

ROOT = Path(__file__).parents[2]
UV = """#!/bin/sh
[ "$1" = --version ] && echo "uv 0.13.9 (x)" && exit
[ "$*" != "run ${FAILS:-}" ] || { echo "as it fails"; exit 1; }
echo "uv $* by ${UV_PYTHON:-none} in ${UV_PROJECT_ENVIRONMENT:-.venv}"
"""
PYTHON = '#!/bin/sh\n[ "$1 $3" = "-c {version}" ] && echo "$0"\n'
PROGRAMS = ("bash", "cat", "dirname", "grep", "ls", "mkdir", "mktemp", "rm", "sh")


def run_ci(folder: Path, *pythons: str, **settings: str) -> tuple[int, str]:
    """Run a copy of `.ci/run` on a machine that has all it installs; return its exit code and what it printed."""
    programs, project = folder / "programs", folder / "project"
    (folder / "shared" / "specs").mkdir(parents=True)
    programs.mkdir()
    shutil.copytree(ROOT / "bin", project / "bin")
    shutil.copytree(ROOT / ".ci", project / ".ci")
    for name in PROGRAMS:
        (programs / name).symlink_to(str(shutil.which(name)))
    stands = (
        {"uv": UV}
        | dict.fromkeys(installed()[::2], "")
        | {f"python{version}": PYTHON.format(version=version) for version in pythons}
    )
    for name, text in stands.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [project / ".ci" / "run"],
        env={"HOME": str(folder / "home"), "PATH": str(programs), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def installed() -> list[str]:
    """Return what it installs: pairs of program and package."""
    text = (ROOT / ".ci" / "run").read_text().replace("\\\n", "")
    installing = re.search(r"^install_missing (.+)$", text, re.MULTILINE)
    assert installing is not None
    return installing[1].split()


def test_all_tests_run_on_3_12_and_some_folders_on_3_13(tmp_path: Path) -> None:
    code, printed = run_ci(tmp_path, "3.12", "3.13", CI="1")

    assert code == 0, printed
    runs = re.findall(r"^uv run (?:--group slow )?pytest (?:-n4 )?--failures=\S+ (.*)", printed, re.MULTILINE)
    programs = tmp_path / "programs"
    assert [re.sub(r"--junitxml=\S+ ", "", line) for line in runs[1:]] == [
        f"--whole by {programs}/python3.12 in .venv",
        f"-m slow by {programs}/python3.12 in .venv",
    ]
    words, _, where = runs[0].partition(" by ")
    assert where == f"{programs}/python3.13 in {tmp_path}/project/.venv-3.13"
    option, *folders = words.split()
    assert option == "--promises"
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


@pytest.mark.parametrize("check", ["mypy", "ruff check .", "lint-imports --no-logo"])
def test_a_check_that_fails_is_shown_and_nothing_more_runs(tmp_path: Path, check: str) -> None:
    code, printed = run_ci(tmp_path, "3.12", "3.13", CI="1", FAILS=check)

    assert code == 1, printed
    assert printed.splitlines()[-1] == "as it fails"
    beside_types = ["== tests on Python 3.13"] if check == "mypy" else []
    assert [line.partition(":")[0] for line in printed.splitlines() if "== tests" in line] == beside_types


@pytest.mark.skipif(Path("/usr/bin/python3.13").exists(), reason="this machine's own Python would be found")
@pytest.mark.parametrize("ci", ["", "1"], ids=["at home", "in CI"])
def test_without_a_3_13_it_goes_on_outside_ci_only(tmp_path: Path, ci: str) -> None:
    code, printed = run_ci(tmp_path, "3.12", CI=ci)

    assert code == int(bool(ci))
    assert ("Python 3.13 is missing" if ci else "no Python 3.13 is here: left out") in printed
    assert ("-m slow" in printed) != bool(ci)


def test_ci_installs_every_package_that_a_test_fails_without() -> None:
    needed = {package for name, package in PACKAGES.items() if name not in OPTIONAL}
    # PL/Proxy's name has the version of a Postgres, and is installed by a pattern; npm has the linter of the pages.
    assert needed | {"npm"} == set(installed()[1::2])
