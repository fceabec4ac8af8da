"""What the tests of this folder read: the project's files, its commands, and the output of a process."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHIPPED = ("onevalet", "operations", "channels", "notify", "providers", "jobs", "core", "abilities", "agents")
"""The packages of an installation, in an image or by a wheel."""
PRODUCT = (*SHIPPED, "workbench/demo", "workbench/dev", "workbench/pages", "workbench/scenarios", "workbench/simulator")
"""The folders that are held to the limits of code: all but measurements and tests."""
PACKAGES = (*SHIPPED, "workbench", "tests")


def read(name: str) -> str:
    """Return the text of a file, by its path from the root."""
    return (ROOT / name).read_text(encoding="utf-8")


def instructions(word: str) -> list[str]:
    """List what follows a word of the Dockerfile, in order."""
    return re.findall(rf"^{word} (.+)$", read("Dockerfile").replace("\\\n", ""), re.MULTILINE)


def processes() -> dict[str, list[str]]:
    """Return the Procfile's processes: the words of each command, by name."""
    lines = [line.partition(":") for line in read("Procfile").splitlines() if line.strip()]
    return {name: shlex.split(command) for name, _, command in lines}


@cache
def tracked_files() -> tuple[Path, ...]:
    """List the project's files: those that git tracks, or would track after `git add`."""
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"])
    return tuple(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def copy_compiled(path: Path, copy: Path) -> None:
    """Copy what Python has compiled of a file, which is good for a copy with the same time."""
    compiled, target = (Path(cache_from_source(one)) for one in (path, copy))
    if path.suffix == ".py" and compiled.exists():
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(compiled, target)


@cache
def python_files(*folders: str) -> dict[str, str]:
    """Return the source of every Python file below the folders, by its path from the root."""
    paths = {path.relative_to(ROOT).as_posix(): path for path in tracked_files() if path.suffix == ".py"}
    inside = tuple(f"{folder}/" for folder in folders)
    return {name: path.read_text(encoding="utf-8") for name, path in sorted(paths.items()) if name.startswith(inside)}


def clean_environment(**values: str) -> dict[str, str]:
    """Return this machine's environment without any setting of ours and without this run's own Python."""
    ours = ("ONEVALET_", "TWILIO_", "SLACK_", "TELEGRAM_", "DATABASE_URL", "REDIS_URL", "HOST", "PORT", "PUBLIC_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith((*ours, "PYTHON", "VIRTUAL_ENV"))}
    return kept | values


def find_uv() -> str | None:
    """Return the uv that started the tests, or the one on PATH."""
    return os.environ.get("UV") or shutil.which("uv")


def run(command: list[str], *, folder: Path = ROOT, environment: Mapping[str, str] | None = None) -> str:
    """Run a program and return its output; fail the test with its last output if it exits with an error."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout
