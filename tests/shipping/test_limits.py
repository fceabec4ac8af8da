"""Limits that keep classes and files small for a reason of their own; the number of lines only warns."""

from functools import cache

import pytest

from tests.shipping.harness import PRODUCT, python_files
from tests.shipping.limits import (
    MAX_CLASS_LINES,
    MAX_IMPORTS,
    MAX_PARAMETERS,
    Check,
    breaches,
    large_classes,
    literal_splats,
    many_imports,
    many_parameters,
    unformatted_lines,
)

PUBLIC_NAMES = "onevalet/__init__.py"
"""A table of names for plugins: it must import every module that has one."""

STILL_OVER: dict[str, set[str]] = {}
"""What is over a limit today. It may only shrink."""

IN_LIMIT = {
    large_classes: "class Small:\n" + "    x = 1\n" * (MAX_CLASS_LINES - 1),
    many_imports: "".join(f"import core.m{n}\n" for n in range(MAX_IMPORTS)) + "import core.m1\nimport asyncio\n",
    many_parameters: "class A:\n    def f(self, a, b, c, d, e, f, g, *h): ...\n"
    + "@app.command('x')\ndef g(a, b, c, d, e, f, g, h, i): ...\n",
    unformatted_lines: "a = '# fmt: skip'  # fmt: a word of its own\n",
    literal_splats: "a = [*b, *c()]\nf(*a, *(x for x in b))\n",
}
OVER = [
    (large_classes, "def f():\n    class Large:\n" + "        x = 1\n" * MAX_CLASS_LINES),
    (many_imports, "".join(f"from core.m{n} import a\n" for n in range(MAX_IMPORTS)) + "def f():\n    import jobs.m\n"),
    (
        many_imports,
        "from core import "
        + ", ".join(["errors", "ids", "clock", "json_types", "replies"])
        + "\nif TYPE_CHECKING:\n"
        + "".join(f"    import core.m{n}\n" for n in range(MAX_IMPORTS - 4)),
    ),
    (many_parameters, "def f(" + ", ".join(f"a{n}" for n in range(MAX_PARAMETERS + 1)) + "): ...\n"),
    (many_parameters, "class A:\n    async def f(self, a, /, b, c, d, *e, f, g, h, **i): ...\n"),
    (unformatted_lines, "a = [\n    1, 2,\n]  # fmt: skip\n"),
    (unformatted_lines, "# fmt: off\na = 1\n"),
    (literal_splats, "f(*('a', 'b'), c)\n"),
    (literal_splats, "a = {*['a', 'b'], 'c'}\n"),
]


@cache
def found() -> dict[str, set[str]]:
    """Return the breaches of every file of the product that has any."""
    allowed = {PUBLIC_NAMES: {f"over {MAX_IMPORTS} imports"}}
    each = {path: breaches(source) - allowed.get(path, set()) for path, source in python_files(*PRODUCT).items()}
    return {path: names for path, names in each.items() if names}


@pytest.mark.xdist_group("limits")
def test_no_file_of_the_product_is_over_a_limit() -> None:
    new = {path: over for path, names in found().items() if (over := names - STILL_OVER.get(path, set()))}
    assert new == {}, "divide it by meaning: these limits are on what a reader must hold in mind"


@pytest.mark.xdist_group("limits")
def test_what_is_within_the_limits_again_leaves_the_table() -> None:
    over = found()
    assert {path: done for path, names in STILL_OVER.items() if (done := names - over.get(path, set()))} == {}


@pytest.mark.parametrize(("check", "source"), IN_LIMIT.items())
def test_code_at_its_limit_is_accepted(check: Check, source: str) -> None:
    assert check(source) == []


@pytest.mark.parametrize(("check", "source"), OVER)
def test_a_planted_breach_is_found(check: Check, source: str) -> None:
    assert len(check(source)) == 1
    assert breaches(source) == set(check(source))


def test_the_exceptions_are_still_needed() -> None:
    assert many_imports(python_files(*PRODUCT)[PUBLIC_NAMES])
