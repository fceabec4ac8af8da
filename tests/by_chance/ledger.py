"""The ledger of failures by chance, `tests/by-chance.toml`: each has a cause after two landings, or the run fails.

Git does not know what landed together. A day with commits after the entry's counts as a landing.
"""

import subprocess
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tests.by_chance.failures import Failure

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "tests" / "by-chance.toml"
LANDINGS = 2
"""How many landings an entry may stand without a cause."""
_SEEN = 300
"""Characters of what was seen."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A failure by chance. `cause` names the defect and the commit that mended its kind; empty until it is known."""

    test: str
    date: date
    commit: str
    seen: str
    cause: str = ""


def read_ledger(path: Path = LEDGER) -> list[Entry]:
    """Return the entries; raise TypeError for one with missing or unknown fields."""
    return [Entry(**entry) for entry in tomllib.loads(path.read_text()).get("failure", [])]


def overdue(entries: Iterable[Entry], landings_since: Callable[[str], int]) -> list[Entry]:
    """Return the entries that should have a cause by now."""
    return [entry for entry in entries if not entry.cause and landings_since(entry.commit) > LANDINGS]


def landings_since(commit: str) -> int:
    """Return on how many days there are commits after this one; 0 if the clone does not have it."""
    told = _git("log", "--format=%cs", f"{commit}..HEAD")
    return len(set(told.split())) if told is not None else 0


def entry_of(failure: Failure, commit: str, today: date) -> str:
    """Return a failure as an entry of the ledger, without a cause."""
    lines = [line.strip() for line in failure.printed.splitlines() if line.startswith("E ")] or [
        failure.printed.strip()
    ]
    seen = " ".join(" ".join(lines).split())[:_SEEN]
    quoted = {"test": failure.test, "commit": commit, "seen": seen}
    fields = {name: '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for name, value in quoted.items()}
    return (
        f"\n[[failure]]\ntest = {fields['test']}\ndate = {today.isoformat()}\n"
        f'commit = {fields["commit"]}\nseen = {fields["seen"]}\ncause = ""\n'
    )


def head() -> str:
    """Return the commit that is checked out; empty outside of git."""
    return (_git("rev-parse", "--short=10", "HEAD") or "").strip()


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
