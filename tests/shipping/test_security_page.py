"""Every promise of docs/security.md has a number in docs/measured/security.md, and the tests named there exist."""

import re

from tests.shipping.harness import ROOT, read

PAGE = "docs/security.md"
TESTS = "docs/measured/security.md"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def named() -> list[tuple[str, str]]:
    return sorted(set(_NAMED.findall(read(TESTS))))


def test_each_test_that_the_page_names_is_there() -> None:
    assert named()
    assert [path for path, _ in named() if not (ROOT / path).exists()] == []
    assert [
        (path, name) for path, name in named() if not re.search(rf"^\s*(async )?def {name}\(", read(path), re.MULTILINE)
    ] == []


def test_every_promise_has_its_own_number_in_the_list_of_tests() -> None:
    numbers = re.findall(r"^(\d+)\. ", read(PAGE), re.MULTILINE)
    listed = re.findall(r"^(\d+)\. (.*)$", read(TESTS), re.MULTILINE)
    assert len(numbers) > 20
    assert numbers == [number for number, _ in listed] == [str(number) for number in range(1, len(numbers) + 1)]
    assert [number for number, tests in listed if not _NAMED.search(tests)] == []
