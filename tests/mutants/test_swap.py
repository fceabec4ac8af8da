"""A mutant in a process that has imported the original."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from tests.mutants.swap import CannotSwapError, functions_of_process, swap

FILE = "/somewhere/swapped.py"
SOURCE = """
def plain(a):
    return a + 1

def wrapped(a):
    def inner(b):
        return a + b
    return inner

class A:
    @property
    def size(self):
        return len([x for x in (1, 2) if x > 1])

pair = [lambda a: a, lambda a: -a]
"""


def loaded() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "swapped"}
    exec(compile(SOURCE, FILE, "exec"), names)  # noqa: S102
    return names


def functions() -> list[FunctionType]:
    return functions_of_process()[FILE]


def test_functions_that_were_taken_before_run_the_mutant() -> None:
    names = loaded()
    held: Callable[[], int] = functools.partial(names["plain"], 1)
    inner = names["wrapped"](1)
    swap(functions(), FILE, SOURCE.replace("a + 1", "a - 1").replace("a + b", "a - b").replace("x > 1", "x > 0"))
    assert (held(), inner(5), names["wrapped"](1)(5), names["A"]().size) == (0, -4, -4, 2)


def test_what_cannot_be_told_apart_has_to_be_imported_anew() -> None:
    names = loaded()
    assert names["pair"][0](1) == 1
    with pytest.raises(CannotSwapError):
        swap(functions(), FILE, SOURCE.replace("lambda a: -a", "lambda a: +a"))


def test_what_no_longer_uses_a_variable_around_it_is_imported_anew() -> None:
    inner = loaded()["wrapped"](1)
    with pytest.raises(CannotSwapError):
        swap([inner], FILE, SOURCE.replace("return a + b", "return None"))
