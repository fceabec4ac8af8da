"""Tracebacks for the log: complete chains, but only those parts of a database error that quote no values.

Postgres quotes values in its messages and details (`Token "Infinity"`, `Failing row contains (…)`), and asyncpg the
value that it could not encode (`$1: {…}`). Class, SQLSTATE, table, column and constraint tell as much without them.
"""

import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

import asyncpg
from structlog.typing import ExcInfo

_NAMES = ("schema_name", "table_name", "column_name", "data_type_name", "constraint_name")
_QUOTING = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


def format_error(exc_info: ExcInfo) -> str:
    """Return the traceback of an error and of those before it in its chain."""
    return "\n".join(_lines(exc_info[1], set()))


def print_uncaught(clean: Callable[[str], str]) -> None:
    """Print errors that end the process or a thread, and those of finalizers: cleaned, in place of Python's hooks."""

    def show(error: BaseException | None, where: str = "") -> None:
        if error is not None and not isinstance(error, SystemExit):
            sys.stderr.write(clean("\n".join([*([where] if where else []), *_lines(error, set())])) + "\n")

    def of_the_process(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        show(error)

    def of_a_thread(args: threading.ExceptHookArgs) -> None:
        show(args.exc_value, f"in the thread {args.thread.name}:" if args.thread else "in a thread:")

    def of_a_finalizer(args: "sys.UnraisableHookArgs") -> None:
        # The object's own message may quote anything.
        show(args.exc_value, f"ignored in {type(args.object).__qualname__}:")

    sys.excepthook, threading.excepthook, sys.unraisablehook = of_the_process, of_a_thread, of_a_finalizer


def describe(error: BaseException) -> str:
    """Return the last line of an error's traceback."""
    kind = type(error)
    name = (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )
    if not isinstance(error, _QUOTING):
        return "".join(traceback.format_exception_only(error)).rstrip("\n")
    parts = [f"sqlstate {state}"] if (state := getattr(error, "sqlstate", None)) else []
    parts += [f"{field.removesuffix('_name')} {value}" for field in _NAMES if (value := getattr(error, field, None))]
    return f"{name}: {', '.join(parts)}" if parts else name


def _lines(error: BaseException, seen: set[int]) -> list[str]:
    seen.add(id(error))
    lines: list[str] = []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        lines += _lines(before, seen)
        direct = error.__cause__ is not None
        lines += ["", "which was the direct cause of:" if direct else "while that was handled:", ""]
    if error.__traceback__ is not None:
        lines.append("Traceback (most recent call last):")
        lines += "".join(traceback.format_tb(error.__traceback__)).rstrip("\n").split("\n")
    lines.append(describe(error))
    if isinstance(error, BaseExceptionGroup):
        for number, inner in enumerate(error.exceptions, start=1):
            if id(inner) not in seen:
                lines += [f"  + {number}", *(f"  | {line}" for line in _lines(inner, seen))]
    return lines
