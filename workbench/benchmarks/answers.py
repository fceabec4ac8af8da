"""`python -m workbench.benchmarks.answers`: the number of texts that one web and one worker answer in a second, each
exactly once.

The texts of a round come at once, each from a person of its own, over SMS; the model and the provider answer at once.
The provider's messages are compared with the texts: exactly one answer a text, in order, and nothing unexplained.
Prints the median of the rounds; exits 1 if the checker found anything.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

from tests.forker import Forker
from tests.spine.run import run_spine, show


def main() -> None:
    """Run the rounds and print their times and findings."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.answers")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--messages", type=int, default=150, help="of a round, and as many people")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Forker() as forker:
        reports = asyncio.run(
            run_spine(
                Path(folder),
                forker,
                messages=options.messages,
                people=options.messages,
                rounds=[()] * options.rounds,
                webs=1,
                workers=1,
            )
        )
    rates = [options.messages / report.seconds for report in reports]
    odd = [report for n, report in enumerate(reports, start=1) if not report.findings.kept(options.messages * n)]
    for report in odd:
        sys.stdout.write(show(report) + "\n")
    spread = f"{min(rates):.1f} to {max(rates):.1f}"
    sys.stdout.write(f"answers a second: median {statistics.median(rates):.1f} ({spread}), {len(rates)} rounds\n")
    sys.stdout.write(f"rounds in which a text got another number of answers than one: {len(odd)}\n")
    sys.exit(1 if odd else 0)


if __name__ == "__main__":
    main()
