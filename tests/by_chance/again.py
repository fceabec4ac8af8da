"""Run what failed again, each test once and alone: one that passes failed by chance, one that fails refuses the run."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from tests.by_chance.failures import Failure, append, read

MOST = 3
"""How many tests of one run may fail by chance."""
type Runner = Callable[[str], bool]


def run_again(failed: Path, kept: Path, passes: Runner | None = None) -> int:
    """Return the exit code that a run goes on with after a step of it failed.

    `failed` are the failures of the step. Those that pass now are added to `kept`, which has those of earlier steps.
    """
    failures, before = read(failed), read(kept)
    if not failures:
        typer.echo("The run failed, but no test did: see above.")
        return 1
    if len(failures) + len(before) > MOST:
        typer.echo(
            f"{len(failures) + len(before)} tests of this run failed, and no more than {MOST} may fail by chance:"
        )
        typer.echo("\n".join(f"  {failure.test}" for failure in (*before, *failures)))
        return 1
    again = [failure for failure in failures if not (passes or _passes)(failure.test)]
    append(kept, [failure for failure in failures if failure not in again])
    for failure in again:
        typer.echo(f"Failed again, alone: {failure.test}")
    return 1 if again else 0


def tell(kept: Path) -> list[Failure]:
    """Print the last lines of a run: which of its tests failed by chance, and how. Return them."""
    failures = read(kept)
    if not failures:
        typer.echo("No test failed by chance.")
    for failure in failures:
        typer.echo(f"\n-- failed by chance, and passed when it ran again alone: {failure.test}\n{failure.printed}")
    if failures:
        typer.echo("\nFailed by chance, each a defect of its kind to be mended (tests/by-chance.toml):")
        typer.echo("\n".join(f"  {failure.test}" for failure in failures))
    return failures


def _passes(test: str) -> bool:
    typer.echo(f"\n-- again, alone: {test}")
    return subprocess.run(command(test), check=False).returncode == 0


def command(test: str) -> Sequence[str]:
    """Return the command that runs one test alone, whichever tier it is of."""
    return [sys.executable, "-m", "pytest", "-n0", "-m", "slow or not slow", test]
