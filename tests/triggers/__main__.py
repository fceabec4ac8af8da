"""`python -m tests.triggers`: two workers, one of them killed every few seconds, a thousand tasks due over minutes.

Then a burst of 200 events, while one of two consumers is killed and replaced. The clock runs five times as fast for
the tasks. Exits 1 when anything ran twice, early or not at all.
"""

import argparse
import asyncio
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from onevalet.migrating import migrate
from tests.services import private_postgres, private_valkey
from tests.triggers.bursts import Burst, run_burst
from tests.triggers.harness import REPEATS, Outcome, Plan, run_plan


def main() -> None:
    """Run it and print what became of the tasks."""
    parser = argparse.ArgumentParser(prog="python -m tests.triggers")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=5.0)
    parser.add_argument("--kill-every", type=float, default=3.0)
    options = parser.parse_args()
    again = options.tasks // 10 // REPEATS
    span = timedelta(minutes=options.minutes)
    plan = Plan(options.tasks - again * REPEATS, again, span, options.rate, options.kill_every, lease=10)
    with tempfile.TemporaryDirectory() as folder:
        outcome, burst = asyncio.run(_run(Path(folder), plan))
    for line in (*outcome.lines(), burst.line()):
        sys.stdout.write(f"{line}\n")
    sys.exit(0 if outcome.well and burst.well else 1)


async def _run(folder: Path, plan: Plan) -> tuple[Outcome, Burst]:
    async with private_postgres() as postgres, private_valkey() as valkey:
        await migrate(postgres.url)
        outcome = await run_plan(folder, postgres.url, valkey.url, plan)
    async with private_postgres() as postgres, private_valkey() as valkey:
        await migrate(postgres.url)
        return outcome, await run_burst(folder, postgres.url, valkey.url)


if __name__ == "__main__":
    main()
