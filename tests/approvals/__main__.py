"""`python -m tests.approvals`: a thousand races by command; exits 1 when one ended as it may not."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from onevalet.migrating import migrate
from tests.approvals.harness import open_races
from tests.approvals.run import Found, run_races, show
from tests.forker import Forker
from tests.services import private_postgres, private_valkey


def main() -> None:
    """Run and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.approvals")
    parser.add_argument("--races", type=int, default=1000)
    parser.add_argument("--people", type=int, default=9)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--deadly", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report = asyncio.run(_run(options.races, options.people, options.kills, options.seed, options.deadly))
    sys.stdout.write(show(report) + "\n")
    sys.exit(1 if report.wrong else 0)


async def _run(races: int, people: int, kills: int, seed: int, deadly: int) -> Found:
    with tempfile.TemporaryDirectory() as folder, Forker() as forker:
        async with private_postgres() as postgres, private_valkey() as valkey:
            await migrate(postgres.url)
            async with open_races(Path(folder), postgres.url, valkey.url, people, forker) as harness:
                return await run_races(harness, races, kills, seed, deadly)


if __name__ == "__main__":
    main()
