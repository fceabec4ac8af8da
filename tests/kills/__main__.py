"""`python -m tests.kills`: every point between steps and inside them, with and without the journal."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from onevalet.migrating import migrate
from tests.forker import Forker
from tests.kills.harness import BETWEEN, INSIDE, Fate, run_kills
from tests.services import private_postgres, private_valkey


def main() -> None:
    """Run the matrix and print it; exits 1 when a promise did not hold, or a mutation did not break it."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    for number in range(1, options.rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            fates = asyncio.run(_round(Path(folder)))
        for fate in fates:
            well = as_it_should_be(fate)
            failed += not well
            sys.stdout.write(
                f"round {number}  {fate.plan:<18} {'ok  ' if well else 'FAIL'} processes {len(set(fate.runs))}"
                f"  model calls {fate.model_calls}  marks {fate.marks}  answers {len(fate.answers)}\n"
            )
    sys.exit(1 if failed else 0)


def as_it_should_be(fate: Fate) -> bool:
    """Return whether a turn went as its plan lets it: whole between steps, bounded inside one, doubled when dropped."""
    plan = fate.plan.removesuffix(" drop")
    if plan != fate.plan:
        return fate.died and not fate.well
    return fate.bounded if plan in INSIDE else fate.well


async def _round(folder: Path) -> list[Fate]:
    plans = ["begun", *BETWEEN, *INSIDE, *(f"{point} drop" for point in BETWEEN)]
    with Forker() as forker:
        async with private_postgres() as postgres, private_valkey() as valkey:
            await migrate(postgres.url)
            return await run_kills(folder, postgres.url, valkey.url, plans, forker)


if __name__ == "__main__":
    main()
