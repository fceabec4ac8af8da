"""Scripts for child processes: what they tell of themselves, and whether a process is still there.

A process is named by its pid and the moment of its start: pids come again.
"""

import os
from pathlib import Path

from core.children.child_process import run_in_child
from tests.patience import PATIENCE

_NAMED = """
import os, sys, time
def named(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return f"{pid}.{stat.read().rpartition(')')[2].split()[19]}"
both = f"{named(os.getppid())} {named(os.getpid())}"
"""
TELLS = f"{_NAMED}sys.stdout.write(both)\n"
"""Tells the name of the process that is kept for the script, and that of the job."""
WAITS = f"""{_NAMED}
here = os.path.dirname(__file__) + "/"
name = sys.stdin.read()
with open(here + name + ".new", "w") as file:
    file.write(both)
os.rename(here + name + ".new", here + name)
while not os.path.exists(here + name + ".go"):
    time.sleep(0.005)
sys.stdout.write(both)
"""
"""Tells the same in a file that has the name at its input, and once more when there is one with ".go"."""


def written(folder: Path, text: str) -> Path:
    """Return a script with a text."""
    path = folder / "script.py"
    path.write_text(text)
    return path


async def run_told(script: Path, data: bytes = b"") -> tuple[str, str]:
    """Run a script that tells the kept process and the job."""
    kept, job = (await run_in_child(script, data, seconds=PATIENCE)).decode().split()
    return kept, job


def told_in(path: Path) -> tuple[str, ...]:
    """Return the names in a file; none as long as there is none."""
    return tuple(path.read_text().split()) if path.exists() else ()


def send(name: str, number: int) -> None:
    """Send a signal to a process."""
    os.kill(number_of(name), number)


def number_of(name: str) -> int:
    """Return the pid of a process that is there."""
    return int(name.partition(".")[0])


def has_ended(name: str) -> bool:
    """Return whether a process does nothing any more."""
    pid, _, start = name.partition(".")
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return fields[0] == "Z" or fields[19] != start
