"""A generator that holds something, such as a subscription, is closed by the function that iterates it."""

import ast
from collections.abc import Iterator

from tests.shipping.harness import PRODUCT, python_files
from tests.shipping.limits import nodes_of

_DECORATED = ("contextmanager", "fixture")
_HOLDS = (ast.With, ast.AsyncWith)
_OTHERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def holding(source: str) -> set[str]:
    """Return the names of the asynchronous generators that yield while they hold something."""
    if "async def" not in source or "yield" not in source:
        return set()
    return {
        node.name
        for node in nodes_of(source)
        if isinstance(node, ast.AsyncFunctionDef)
        and not any(word in ast.unparse(one) for one in node.decorator_list for word in _DECORATED)
        and any(_yields_within(node, held=False))
    }


def left_to_chance(source: str, names: set[str]) -> list[str]:
    """Return the iterations of such generators that nothing closes if they end early."""
    if "async for" not in source:
        return []
    loops = [node.iter for node in nodes_of(source) if isinstance(node, ast.AsyncFor)]
    loops += [node.iter for node in nodes_of(source) if isinstance(node, ast.comprehension) and node.is_async]
    return [ast.unparse(one) for one in loops if isinstance(one, ast.Call) and _called(one) in names]


def test_a_generator_that_holds_something_is_closed_by_who_iterates_it() -> None:
    files = python_files(*PRODUCT)
    names = set().union(*map(holding, files.values()))
    assert "hear" in names
    left = {name: found for name, text in files.items() if (found := left_to_chance(text, names))}
    assert not left, "Iterate it within contextlib.aclosing: an iteration that is cancelled leaves it open."


def test_an_iteration_that_nothing_closes_is_found() -> None:
    held = "async def hear():\n    async with opened() as one:\n        yield one\n"
    assert holding(held) == {"hear"}
    assert holding(f"@asynccontextmanager\n{held}") == set()
    assert holding("async def hear():\n    yield 1\n") == set()
    assert left_to_chance("async def f():\n    async for one in self.hear(1):\n        pass\n", {"hear"})
    assert left_to_chance("async def f():\n    return [one async for one in hear(1)]\n", {"hear"})
    closed = (
        "async def f():\n    async with aclosing(hear()) as heard:\n        async for one in heard:\n            pass\n"
    )
    assert not left_to_chance(closed, {"hear"})


def _yields_within(node: ast.AST, *, held: bool) -> Iterator[bool]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _OTHERS):
            continue
        holds = held or isinstance(child, _HOLDS) or bool(isinstance(child, ast.Try) and child.finalbody)
        if isinstance(child, ast.Yield):
            yield holds
        yield from _yields_within(child, held=holds)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
