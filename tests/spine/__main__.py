"""`python -m tests.spine`: the full run by command; exits 1 when a promise did not hold."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.nursery import Nursery
from tests.spine.run import FAULTS, run_spine, show
from tests.spine.texts import CHANNELS


def main() -> None:
    """Run and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.spine")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", action="append", choices=FAULTS, default=[], help="struck in the middle, in order")
    parser.add_argument("--channel", action="append", choices=CHANNELS, default=[], help="all three unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Nursery() as nursery:
        [report] = asyncio.run(
            run_spine(
                Path(folder),
                nursery,
                messages=options.messages,
                people=options.people,
                rounds=[options.fault],
                channels=options.channel or CHANNELS,
                seed=options.seed,
            )
        )
    sys.stdout.write(show(report) + "\n")
    found = report.findings
    well = found.rows == found.answered == options.messages and not (found.lost or found.doubled or found.out_of_order)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
