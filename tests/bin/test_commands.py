"""The commands of bin/ on machines of several kinds, with stand-ins for uv and the Pythons."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEAD_SHIM = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"
UV = '#!/bin/sh\n[ "$1" = --version ] && echo "uv 0.13.9 (x)" && exit\necho "uv $* in $(pwd) with ${UV_PYTHON:-none}"\n'
RUN = "run --no-dev --group local --all-extras"
UV_WITHOUT_PYTHON = """#!/bin/sh
case "$1 $2" in
    "--version ") echo "uv 0.13.9 (x)" ;;
    "python find") [ -e "$HOME/python" ] || { echo "error: No interpreter found" >&2; exit 2; } ;;
    "python install")
        [ -e "$HOME/network" ] || { echo "error: Failed to download: dns error" >&2; exit 1; }
        : >"$HOME/python" ;;
    *)
        [ -e "$HOME/python" ] || { echo "error: Failed to download: dns error" >&2; exit 2; }
        echo "uv $* in $(pwd) with ${UV_PYTHON:-none}" ;;
esac
"""
OLD_UV = '#!/bin/sh\necho "uv 0.4.1 (x)"\n'
PYTHON = '#!/bin/sh\n[ "$1 $3" = "-c {version}" ] && echo "$0"\n'
PIP_FOR_UV = """#!/bin/sh
case "$1 $2" in
    "-c "*) echo "$0" ;;
    "-m venv") mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
    "-m pip") cp "$HOME/new-uv" "$(dirname "$0")/uv" ;;
esac
"""


class Machine:
    """A copy of the scripts, an empty home, and a PATH of our own before the system's tools."""

    def __init__(self, folder: Path) -> None:
        self.home, self.path, self.project = folder / "home", folder / "path", folder / "project folder"
        for made in (self.home, self.path):
            made.mkdir()
        shutil.copytree(ROOT / "bin", self.project / "bin")
        for tool in ("sh", "dirname", "cat", "ls", "mkdir", "rm", "cp", "tail"):
            path = shutil.which(tool)
            assert path
            (self.path / tool).symlink_to(path)

    def put(self, path: Path, text: str) -> Path:
        """Put a program somewhere."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run(self, command: str, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command from another folder; PATH has nothing but ours."""
        return subprocess.run(
            [self.project / "bin" / command, *words],
            env={"HOME": str(self.home), "PATH": str(self.path), **settings},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine without uv and without Python on PATH."""
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("command", "runs"),
    [("dev", f"{RUN} -m onevalet dev"), ("test", "run pytest"), ("onevalet", f"{RUN} -m onevalet"), ("uv", "")],
)
def test_a_command_hands_its_words_on_from_the_project_s_folder(machine: Machine, command: str, runs: str) -> None:
    machine.put(machine.path / "uv", UV)

    done = machine.run(command, "--one", "two words", UV_PYTHON="/chosen")

    assert done.stdout == f"uv {f'{runs} --one'.strip()} two words in {machine.project} with /chosen\n"
    assert done.returncode == 0


def test_shims_that_do_not_run_and_an_old_uv_are_passed_over(machine: Machine) -> None:
    machine.put(machine.path / "uv", DEAD_SHIM)
    machine.put(machine.path / "python3.12", DEAD_SHIM)
    machine.put(machine.home / ".local/bin/uv", OLD_UV)
    machine.put(machine.home / ".pyenv/versions/3.11.7/bin/uv", UV)
    python = machine.home / ".pyenv/versions/3.12.1/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)

    done = machine.run("test")

    assert done.stdout.startswith(f"uv run pytest in {machine.project} with ")
    chosen = done.stdout.strip().rpartition(" ")[2]
    assert Path(chosen).resolve() == Path(sys.executable).resolve()


@pytest.mark.skipif(Path("/usr/bin/python3.12").exists(), reason="this machine's own Python would be chosen")
def test_a_newer_python_is_taken_where_there_is_no_3_12(machine: Machine) -> None:
    machine.put(machine.path / "uv", UV)
    newest = machine.put(machine.path / "python3.14", PYTHON.format(version="3.14"))
    assert machine.run("test").stdout.endswith(f" with {newest}\n")

    newer = machine.put(machine.path / "python3.13", PYTHON.format(version="3.13"))
    assert machine.run("test").stdout.endswith(f" with {newer}\n")


@pytest.fixture
def bare(machine: Machine) -> Machine:
    """Return a machine with uv and without any Python that fits."""
    folders = (Path("/usr/bin"), Path("/usr/local/bin"))
    if any(folder.joinpath(f"python3.{minor}").exists() for folder in folders for minor in (12, 13, 14)):
        pytest.skip("this machine's own Python would be chosen")
    machine.put(machine.path / "uv", UV_WITHOUT_PYTHON)
    return machine


@pytest.mark.parametrize("command", ["dev", "onevalet", "test", "uv"])
def test_a_python_that_cannot_be_downloaded_is_said_in_a_sentence(bare: Machine, command: str) -> None:
    done = bare.run(command)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "onevalet: no Python 3.12, 3.13 or 3.14 found, downloading one",
        "onevalet: uv could not download Python (see .uv.log): install Python 3.12 and try again.",
    ]
    assert "dns error" in (bare.project / ".uv.log").read_text()


def test_a_python_is_downloaded_where_there_is_none(bare: Machine) -> None:
    bare.put(bare.home / "network", "")
    first = bare.run("test")
    assert first.stdout == f"uv run pytest in {bare.project} with none\n"
    assert not (bare.project / ".uv.log").exists()
    assert bare.run("test").stderr == "", "it is there from now on"


def test_without_uv_one_is_installed_into_the_project(machine: Machine) -> None:
    machine.put(machine.path / "python3", PIP_FOR_UV)
    machine.put(machine.home / "new-uv", UV)

    done = machine.run("test", UV_PYTHON="/chosen")

    assert done.stdout == f"uv run pytest in {machine.project} with /chosen\n"
    assert (machine.project / ".uv" / "bin" / "uv").exists()
    assert machine.run("test", UV_PYTHON="/chosen").stderr == ""


def test_a_uv_that_cannot_be_installed_is_said_in_a_sentence(machine: Machine) -> None:
    machine.put(machine.path / "python3", PIP_FOR_UV)

    done = machine.run("dev")

    assert done.returncode == 1
    assert "uv could not be installed" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_project_of_another_user_is_said_in_a_sentence(machine: Machine) -> None:
    machine.project.chmod(0o555)

    done = machine.run("dev")

    assert done.returncode == 1
    assert "is not yours to write" in done.stderr
