"""`python -m tests.spine`: the full run by command; exits 1 when a promise did not hold."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.forker import Forker
from tests.spine.run import FAULTS, run_spine, show
from tests.spine.texts import CHANNELS


def main() -> None:
    """Run and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.spine")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1, help="so many messages each, one after the other")
    parser.add_argument("--webs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", action="append", choices=FAULTS, default=[], help="struck in the middle, in order")
    parser.add_argument("--channel", action="append", choices=CHANNELS, default=[], help="all three unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Forker() as forker:
        reports = asyncio.run(
            run_spine(
                Path(folder),
                forker,
                messages=options.messages,
                people=options.people,
                rounds=[options.fault] * options.rounds,
                channels=options.channel or CHANNELS,
                seed=options.seed,
                webs=options.webs,
                workers=options.workers,
            )
        )
    for report in reports:
        sys.stdout.write(show(report) + "\n")
    well = all(report.findings.kept(options.messages * number) for number, report in enumerate(reports, start=1))
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
