"""A mutant in a process that has imported the original: its functions get the mutant's code."""

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType


class CannotSwapError(Exception):
    """The process has to import the mutant anew."""


def functions_of_process() -> dict[str, list[FunctionType]]:
    """Return all functions by their file, also those that the garbage collector was told to pass over."""
    gc.unfreeze()
    found: dict[str, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            found.setdefault(thing.__code__.co_filename, []).append(thing)
    gc.freeze()
    return found


def swap(functions: list[FunctionType], file: str, source: str) -> None:
    """Give the functions of a file the code that they have in its new source; lines must be where they were."""
    new: dict[tuple[str, int], list[CodeType]] = {}
    for code in _codes(compile(source, file, "exec", dont_inherit=True)):
        new.setdefault(_key(code), []).append(code)
    for function in functions:
        old = function.__code__
        codes = [code for code in new.get(_key(old), []) if code.co_name == old.co_name]
        if old in codes:
            continue
        if len(codes) != 1:
            raise CannotSwapError(f"{old.co_qualname} is there {len(codes)} times")
        try:
            function.__code__ = codes[0]
        except ValueError as error:  # it uses other variables of the function around it
            raise CannotSwapError(str(error)) from error


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
