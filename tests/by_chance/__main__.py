"""The command of `.ci/run`: `again FAILURES KEPT`, `tell KEPT` and `check`."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import typer

from tests.by_chance.again import run_again, tell
from tests.by_chance.ledger import LEDGER, entry_of, head, landings_since, overdue, read_ledger


def main(words: list[str]) -> int:
    """Run the command and return its exit code."""
    match words:
        case ["again", failed, kept]:
            return run_again(Path(failed), Path(kept))
        case ["tell", kept]:
            return _tell(Path(kept))
        case ["check"]:
            return _check()
    typer.echo(__doc__)
    return 2


def _tell(kept: Path) -> int:
    """Print the failures by chance and their entries, which stand in the ledger where this tree is kept."""
    failures = tell(kept)
    entries = "".join(entry_of(failure, head(), datetime.now(UTC).date()) for failure in failures)
    typer.echo(entries, nl=False)
    if entries and not os.environ.get("CI"):
        with LEDGER.open("a") as ledger:
            ledger.write(entries)
    return 0


def _check() -> int:
    late = overdue(read_ledger(), landings_since)
    for entry in late:
        typer.echo(f"tests/by-chance.toml: {entry.test} failed by chance on {entry.date}, and nobody has said why yet.")
    return 1 if late else 0


sys.exit(main(sys.argv[1:]))
