"""The page shows of a mutant where it is and what it changed."""

import pytest

from tests.mutants.report import change


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
            '`raise ConfigError("Reading the mailbox needs a database: set DATABASE_URL.")` → `pass`',
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
