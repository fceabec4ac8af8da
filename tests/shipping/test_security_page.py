"""Every row of docs/security.md has a number in docs/measured/security.md, and the tests named there exist."""

import re

import pytest

from tests.shipping.harness import ROOT, read

PAGE = "docs/security.md"
TESTS = "docs/measured/security.md"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_RULE = re.compile(r"\|[-|: ]+\|")


def named() -> list[tuple[str, str]]:
    return sorted(set(_NAMED.findall(read(TESTS))))


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


def test_every_promise_has_its_own_number_in_the_list_of_tests() -> None:
    numbers = [row.rstrip("| ").rpartition("| ")[2] for row in rows()]
    listed = re.findall(r"^(\d+)\. (.*)$", read(TESTS), re.MULTILINE)
    assert len(numbers) > 20
    assert numbers == [number for number, _ in listed] == [str(number) for number in range(1, len(numbers) + 1)]
    assert [number for number, tests in listed if not _NAMED.search(tests)] == []
