"""Every test that docs/security.md names is there, and every row of its tables names one."""

import re

import pytest

from tests.shipping.harness import ROOT, read

PAGE = "docs/security.md"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_RULE = re.compile(r"\|[-|: ]+\|")


def named() -> list[tuple[str, str]]:
    return sorted(set(_NAMED.findall(read(PAGE))))


def rows() -> list[str]:
    """Return the rows of the tables whose last column says what holds them."""
    lines = read(PAGE).splitlines()
    held, rows = False, []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if _RULE.fullmatch(following):
            held = line.rstrip("| ").endswith("held by")
        elif held and line.startswith("|") and not _RULE.fullmatch(line):
            rows.append(line)
    return rows


@pytest.mark.parametrize(("path", "name"), named())
def test_a_test_that_the_page_names_is_there(path: str, name: str) -> None:
    assert (ROOT / path).exists(), path
    assert re.search(rf"^\s*(async )?def {name}\(", read(path), re.MULTILINE), f"{path} has no {name}"


def test_every_promise_of_the_page_names_its_test() -> None:
    table = rows()
    assert len(table) > 20
    assert [row for row in table if not _NAMED.search(row)] == []
