"""What no file of the product may have, and the printed list of what is largest."""

import pytest

from tests.shipping.harness import PRODUCT, python_files
from tests.shipping.limits import (
    MEASURES,
    SHOWN,
    Check,
    breaches,
    class_lines,
    imports,
    largest,
    literal_splats,
    parameters,
    unformatted_lines,
)

MAX_LINES = 410
WELL = {
    unformatted_lines: "a = '# fmt: skip'  # fmt: a word of its own\n",
    literal_splats: "a = [*b, *c()]\nf(*a, *(x for x in b))\n",
}
PLANTED = [
    (unformatted_lines, "a = [\n    1, 2,\n]  # fmt: skip\n"),
    (unformatted_lines, "# fmt: off\na = 1\n"),
    (literal_splats, "f(*('a', 'b'), c)\n"),
    (literal_splats, "a = {*['a', 'b'], 'c'}\n"),
]


@pytest.mark.xdist_group("limits")
def test_no_file_of_the_product_keeps_the_formatter_away() -> None:
    assert {path: found for path, source in python_files(*PRODUCT).items() if (found := breaches(source))} == {}


@pytest.mark.xdist_group("limits")
def test_no_file_of_the_product_is_too_long_to_read_at_once() -> None:
    lines = {path: source.count("\n") for path, source in python_files(*PRODUCT).items()}
    assert {path: count for path, count in lines.items() if count > MAX_LINES} == {}


@pytest.mark.parametrize(("check", "source"), WELL.items())
def test_code_without_a_breach_is_accepted(check: Check, source: str) -> None:
    assert check(source) == []


@pytest.mark.parametrize(("check", "source"), PLANTED)
def test_a_planted_breach_is_found(check: Check, source: str) -> None:
    assert len(check(source)) == 1
    assert breaches(source) == set(check(source))


def test_each_measure_counts_what_a_reader_holds_in_mind() -> None:
    lazy = "import core.ids\nimport core.ids\nimport asyncio\ndef f():\n    from core import clock, errors\n"
    assert list(imports(lazy)) == [(3, "")]
    source = "class A:\n    async def f(self, a, /, b, *c, d, **e): ...\n@app.command('x')\ndef g(a): ...\n"
    assert list(parameters(source)) == [(5, "f")]
    assert list(class_lines(source)) == [(2, "A")]


def test_the_largest_are_listed_first_and_no_more_than_ten() -> None:
    files = {f"core/a{number}.py": "class A:\n" + "    x = 1\n" * number for number in range(1, 13)}
    listed = largest(MEASURES["lines of a class"], files)
    assert [size for size, _, _ in listed] == list(range(13, 13 - SHOWN, -1))
    assert listed[0][1:] == ("core/a12.py", "A")
