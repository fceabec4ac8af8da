"""The page shows of a mutant what it changed, and of the rooms those in which something went unnoticed."""

from pathlib import Path

import pytest

from tests.mutants import report
from tests.mutants.choice import Choice
from tests.mutants.judging import Case, Verdict
from tests.mutants.operators import Mutant
from tests.mutants.report import change, table, write
from tests.mutants.rooms import Chosen


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("if pause > 0:", "if pause >= 0:", "`if pause > 0:` → `if pause >= 0:`"),
        (
            "cut = _cut(text, start, room - weigh(opened), fences, borders)",
            "cut = _cut(text, start, room + weigh(opened), fences, borders)",
            "`room - weigh(` → `room + weigh(`",
        ),
        (
            'return cls(one.key if one else "", names, tuple(olds.get(key) for key in keys))',
            'return cls(one.key if one else "mutated", names, tuple(olds.get(key) for key in keys))',
            '`else "",` → `else "mutated",`',
        ),
        (
            'raise ConfigError("Reading the mailbox needs a database: set DATABASE_URL.")',
            "pass",
            '`raise ConfigError("Reading the mailbox needs a d…` left out',
        ),
        (
            "return value_that_is_long and that_repeats and that_repeats",
            "return value_that_is_long and that_repeats",
            "`and that_repeats and that_repeats` → `and that_repeats`",
        ),
    ],
)
def test_what_was_changed_in_a_long_line_is_shown(before: str, after: str, shown: str) -> None:
    assert change(before, after) == shown


def test_rooms_with_nothing_unnoticed_share_a_row() -> None:
    found = {"channels": ("", "test_c"), "notify": ("test_a",), "jobs": ("test_b",)}
    verdicts = [verdict(room, by) for room, tests in found.items() for by in tests]
    assert list(table(verdicts, with_subset=False))[2:] == [
        "| channels | 2 | 1 | 50% |",
        "| the others | 2 | 2 | 100% |",
        "| all | 4 | 3 | 75% |",
    ]


def test_the_unnoticed_are_listed_beside_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAGE", "UNNOTICED"):
        monkeypatch.setattr(report, name, tmp_path / name)
    write([verdict("jobs", ""), verdict("notify", "test_a")], 8, with_subset=False)
    write([verdict("parse", "test_a")], 9, with_subset=False)
    page, missed = (tmp_path / "PAGE").read_text(), (tmp_path / "UNNOTICED").read_text()
    assert missed == "## The pure rooms\n\nnone\n\n## Anywhere\n\na.py:1: `a = 1` → `a = 2`\n"
    assert page.index("## The pure rooms\n\nSeed 9.") < page.index("## Anywhere\n\nSeed 8.")
    assert "a = 2" not in page


def verdict(room: str, noticed_by: str) -> Verdict:
    mutant = Mutant("a.py", 1, range(1, 2), "a = 1", "a = 2", "a = 1\n")
    none = Choice((), ran=False, anew=False)
    return Verdict(Case(Chosen(room, mutant, ()), none, none), noticed_by)
