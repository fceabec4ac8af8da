"""A round over the rows of all people holds up nobody for one row whose work fails, which comes again later and later.

A round is a loop that waits for something of each row that a function across all people has returned. It goes by
`take_each`, over rows that their function claims with a pause that grows; the notifier's goes by `Setbacks`.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.shipping.harness import ROOT, python_files

ROOMS = ("abilities", "core", "jobs", "notify")
OTHERWISE = {
    "find_spared": "the engine sets the task aside of which the database refuses the values",
    "find_set_aside": "an operator reads it",
    "find_failed_notices": "an operator reads it",
    "find_owners": "the round is of groups: it tells the few owners of the installation of one",
    "find_delayed": "the place of each is read; that each is told of goes by Setbacks",
}
"""Functions whose rows are gone through in another way, and why."""
SPINE = {"due_reminders": "a reminder is one statement, and the spine's rows have no pause of their own"}
"""Functions of rounds by `take_each` that claim nothing."""
_ACROSS = r"\b(?:find|claim|due)_\w+\("
_READS = re.compile(r"select .+? from ((?:find|claim|due)_\w+)\(")
_FUNCTION = re.compile(r"^create function (\w+)\(.*?(?=^create function |\Z)", re.DOTALL | re.MULTILINE)


@cache
def across() -> dict[str, str]:
    """Return the SQL functions that look across all people, with their texts."""
    texts = [path.read_text() for room in ROOMS for path in (ROOT / room).rglob("sql/functions/*.sql")]
    found = [found for text in texts for found in _FUNCTION.finditer(text)]
    return {one[1]: one[0] for one in found if "security definer" in one[0]}


@cache
def trees() -> dict[str, ast.Module]:
    """Return all modules that may have a round, by their paths."""
    names = re.compile("|".join((r"\btake_each\b", _ACROSS, *(rf"\.{name}\(" for name in readers()))))
    return {path: ast.parse(text) for path, text in python_files(*ROOMS).items() if names.search(text)}


@cache
def readers() -> dict[str, str]:
    """Return the methods that return rows of such a function, by their names."""
    return {
        function.name: source
        for text in python_files(*ROOMS).values()
        if re.search(_ACROSS, text)
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.AsyncFunctionDef)
        and any(isinstance(node, ast.Return) for node in ast.walk(function))
        for node in ast.walk(function)
        if (source := _read_in(node))
    }


def _read_in(node: ast.AST) -> str | None:
    found = _READS.match(str(node.value)) if isinstance(node, ast.Constant) else None
    return found[1] if found and found[1] in across() else None


def source_of(value: ast.AST, named: dict[str, str]) -> str | None:
    """Return the function across all people whose rows an expression has."""
    for node in ast.walk(value):
        if source := _read_in(node):
            return source
        if isinstance(node, ast.Name) and node.id in named:
            return named[node.id]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in readers():
            return readers()[node.func.attr]
    return None


def rounds(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each round: the function whose rows it goes through, and `loop`, `setbacks` or `take_each`."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)):
        named: dict[str, str] = {}
        for assigned in (node for node in ast.walk(function) if isinstance(node, ast.Assign)):
            for target in (target for target in assigned.targets if isinstance(target, ast.Name)):
                if source := source_of(assigned.value, named):
                    named[target.id] = source
        for node in ast.walk(function):
            if isinstance(node, ast.For) and (source := source_of(node.iter, named)):
                waits = [part for step in node.body for part in ast.walk(step) if isinstance(part, ast.Await)]
                by_setbacks = any(".does(" in ast.unparse(wait) for wait in waits)
                if waits:
                    yield source, "setbacks" if by_setbacks else "loop"
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "take_each":
                yield source_of(node.args[0], named) or ast.unparse(node), "take_each"


def breaches(tree: ast.Module) -> list[str]:
    """Return the functions whose rows are gone through so that one may hold up the others, or comes again at once."""
    return [
        source
        for source, way in rounds(tree)
        if (way == "loop" and source not in OTHERWISE)
        or (way == "take_each" and source not in SPINE and "pause_after(" not in across().get(source, ""))
    ]


def test_one_row_whose_work_fails_holds_up_no_others() -> None:
    found = {path: wrong for path, tree in trees().items() if (wrong := breaches(tree))}
    assert found == {}


def test_each_way_out_is_still_used() -> None:
    used = {source for tree in trees().values() for source, way in rounds(tree) if way != "setbacks"}
    assert {*OTHERWISE, *SPINE} <= used


def test_planted_rounds_are_found() -> None:
    rows = "async def once(d):\n    rows = await d.rows('select * from find_joint($1)', 1)\n"
    plain = rows.replace("find_joint", "claim_wishes") + "    for row in rows:\n        await do(row)\n"
    apart = rows + "    await take_each(rows, do, 'x')\n"
    assert breaches(ast.parse(plain)) == ["claim_wishes"]
    assert breaches(ast.parse(apart)) == ["find_joint"]
    assert breaches(ast.parse(apart.replace("find_joint", "claim_joint"))) == []
