"""Change one line of the product at a time, and say which changes the tests notice.

    uv run pytest -p tests.mutants.lines              # learns which test runs which lines, once
    uv run -m tests.mutants [ROOM ...] [--each 20]    # the pure rooms
    uv run -m tests.mutants --anywhere 100            # all rooms, by their lines

Each mutant is tried by the tests that run its line, the cheapest first, in copies of the tree. `--only FILE` names a
part of the tests, one a line: they go first, and both scores are told.
"""

import argparse
import random
import sys
from pathlib import Path

from tests.mutants.judging import Verdict, cases_of, judged, where
from tests.mutants.line_map import MAP, LineMap
from tests.mutants.report import table, unnoticed, write
from tests.mutants.rooms import PURE, anywhere, of_pure_rooms
from tests.shipping.harness import ROOT


def main() -> None:
    """Try mutants and print what was noticed."""
    parser = _parser()
    asked = parser.parse_args()
    if unknown := [name for name in asked.room if name not in PURE]:
        parser.error(f"there is no pure room {unknown[0]}")
    path = ROOT / asked.map
    if not path.exists():
        sys.exit(f"There is no {path}: `uv run pytest -p tests.mutants.lines` learns it.")
    seed = random.SystemRandom().randrange(10_000) if asked.seed is None else asked.seed
    known = LineMap(path)
    only = frozenset(asked.only.read_text(encoding="utf-8").splitlines()) if asked.only else None
    chosen = anywhere(asked.anywhere, seed) if asked.anywhere else of_pure_rooms(asked.room or PURE, asked.each, seed)
    _say(f"seed {seed}, {len(chosen)} mutants, {len(known.tests)} tests known")
    if changed := known.changed():
        _say(f"changed since the map was made, so any test of theirs is taken: {', '.join(changed)}")
    verdicts = judged(cases_of(chosen, known, only), asked.jobs, _tell)
    for line in ["", *table(verdicts, bool(asked.only)), "", "unnoticed:", *unnoticed(verdicts)]:
        _say(line)
    if asked.write:
        write(verdicts, seed, bool(asked.only))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("room", nargs="*", help=f"of {', '.join(PURE)}; all of them if none is named")
    parser.add_argument("--each", type=int, default=20, help="mutants of each pure room (20)")
    parser.add_argument("--anywhere", type=int, metavar="N", help="N mutants anywhere in the product instead")
    parser.add_argument("--seed", type=int, help="draws the same lines again")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree side by side (2)")
    parser.add_argument("--map", default=MAP, metavar="FILE", help=f"what was learned of the tests ({MAP})")
    parser.add_argument("--only", type=Path, metavar="FILE", help="ids of the tests of a subset, one a line")
    parser.add_argument("--write", action="store_true", help="write docs/measured/mutants.md")
    return parser


def _tell(verdict: Verdict) -> None:
    mutant = verdict.chosen.mutant
    by = f"noticed by {verdict.noticed_by}: {verdict.how}" if verdict.noticed_by else "NOT NOTICED"
    _say(f"{where(mutant)}  {mutant.before}  →  {mutant.after}\n    {by}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
