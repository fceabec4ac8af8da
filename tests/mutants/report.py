"""What was noticed, by room, and what was not: for the terminal and for docs/measured."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from tests.mutants.judging import Verdict, where
from tests.mutants.rooms import PURE
from tests.shipping.harness import ROOT

PAGE = ROOT / "docs/measured/mutants.md"
UNNOTICED = ROOT / "docs/measured/unnoticed.txt"
_HEAD = """# Mutants

How often the tests notice that one line of the product was changed: a comparison flipped, a condition negated, a
constant replaced, a statement or a result left out. Log lines, metrics and the catalogues are left alone.
`bin/uv run -m tests.mutants --help` says how it is measured; `--write` wrote this page. A mutant that means the same as
the original counts as unnoticed; [unnoticed.txt](unnoticed.txt) has each. "Subset" is the promise tier alone.
"""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_SHORT = 48
"""Letters of a line that the page shows whole."""
_AROUND = 3
"""Tokens on each side of a change: a word and a space, as a rule."""


def table(verdicts: Sequence[Verdict], with_subset: bool) -> Iterator[str]:
    """Yield the lines of a table by room, with the sum last; rooms with nothing unnoticed share a row."""
    yield "| room | mutants | noticed | score |" + (" of the subset |" if with_subset else "")
    yield "|---|---|---|---|" + ("---|" if with_subset else "")
    rooms: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        rooms.setdefault(verdict.chosen.room, []).append(verdict)
    for room, of in rooms.items():
        if not all(verdict.noticed_by for verdict in of):
            yield _row(room, of, with_subset)
    if others := [verdict for of in rooms.values() if all(one.noticed_by for one in of) for verdict in of]:
        yield _row("the others", others, with_subset)
    yield _row("all", verdicts, with_subset)


def unnoticed(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a line on each mutant that no test noticed."""
    for verdict in verdicts:
        if not verdict.noticed_by:
            mutant = verdict.chosen.mutant
            tests = f"{len(verdict.case.tests)} tests" if verdict.case.whole.ran else "no test runs it"
            yield f"- {where(mutant)} ({tests}): {_code(mutant.before)} → {_code(mutant.after)}"


def change(before: str, after: str) -> str:
    """Return what a mutant changed in its line, with the tokens around it; a short line is shown whole."""
    if after == "pass" and len(before) > _SHORT:
        return f"{_code(before[:_SHORT] + '…')} left out"
    if len(before) <= _SHORT:
        return f"{_code(before)} → {_code(after)}"
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = _same(old, new)
    end = min(_same(old[::-1], new[::-1]), min(len(old), len(new)) - start)
    first, last = max(start - _AROUND, 0), max(end - _AROUND, 0)
    return " → ".join(_code("".join(tokens[first : len(tokens) - last]).strip()) for tokens in (old, new))


def write(verdicts: Sequence[Verdict], seed: int, with_subset: bool) -> None:
    """Write the part of the page and of the list that these verdicts are of, and keep the other."""
    is_pure = all(verdict.chosen.room in PURE for verdict in verdicts)
    missed = [verdict.chosen.mutant for verdict in verdicts if not verdict.noticed_by]
    _put(PAGE, _HEAD, is_pure, [f"Seed {seed}.", "", *table(verdicts, with_subset)])
    _put(UNNOTICED, "", is_pure, [f"{where(mutant)}: {change(mutant.before, mutant.after)}" for mutant in missed])


def _put(file: Path, head: str, is_pure: bool, lines: Sequence[str]) -> None:
    """Replace one of the two parts of a file."""
    title, other = ("The pure rooms", "Anywhere") if is_pure else ("Anywhere", "The pure rooms")
    kept = _section(file.read_text(encoding="utf-8"), other) if file.exists() else ""
    part = "\n".join([f"## {title}", "", *(lines or ["none"]), ""])
    parts = [head, *((part, kept) if is_pure else (kept, part))]
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(filter(None, parts)), encoding="utf-8")


def _row(room: str, verdicts: Sequence[Verdict], with_subset: bool) -> str:
    noticed = sum(bool(verdict.noticed_by) for verdict in verdicts)
    row = f"| {room} | {len(verdicts)} | {noticed} | {noticed / (len(verdicts) or 1):.0%} |"
    subset = sum(verdict.by_subset for verdict in verdicts)
    return row + (f" {subset / (len(verdicts) or 1):.0%} |" if with_subset else "")


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many first tokens two lines share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _code(line: str) -> str:
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _section(text: str, title: str) -> str:
    _, found, rest = text.partition(f"## {title}\n")
    return (found + rest.partition("\n## ")[0]).rstrip("\n") + "\n" if found else ""
