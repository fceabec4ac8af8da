"""The one way to wait in tests: for a fact, never for a while.

A fact is a row, a line of a log, a file, an answer, a value: whatever `look` can see. Waiting ends with it, so a long
patience costs nothing, and it grows with how slow the machine is at the moment.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, overload

from tests.patience import PATIENCE, patience

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
"""Seconds between two looks: most facts are there at once or soon."""
NOT_YET = (AssertionError, FileNotFoundError)
"""What a look raises while there is nothing to see: a process has not begun its log, for example."""


class Wakes(Protocol):
    """Something that is waited on beside looking, such as an `asyncio.Event` that a notification sets."""

    async def wait(self) -> object:
        """Return once something may have changed."""

    def clear(self) -> None:
        """Forget what has changed so far."""


@overload
async def eventually[T](
    look: Callable[[], Awaitable[T]], what: str = "", *, within: float = PATIENCE, on: Wakes | None = None
) -> T: ...
@overload
async def eventually[T](
    look: Callable[[], T], what: str = "", *, within: float = PATIENCE, on: Wakes | None = None
) -> T: ...
async def eventually(
    look: Callable[[], object], what: str = "", *, within: float = PATIENCE, on: Wakes | None = None
) -> object:
    """Look until there is something true to see, and return it.

    `look` may be async, and may assert or read a file: `NOT_YET` has the errors that count as "not yet". `what` names
    the fact in the failure.
    `within`: seconds on a quiet machine (see `tests.patience`). `on` wakes the wait before its next look is due.
    Raises AssertionError with what was seen last.
    """
    began = time.monotonic()
    pause = _FIRST_PAUSE
    while True:
        if on is not None:
            on.clear()
        seen, problem = await _seen(look)
        if problem is None and seen:
            return seen
        if _is_over(began, within):
            raise _missing(look, what, within, seen, problem) from problem
        if on is None:
            await asyncio.sleep(pause)
        else:
            await _wait(on, pause)
        pause = min(_LONGEST_PAUSE, pause * 2)


def eventually_blocking[T](look: Callable[[], T], what: str = "", *, within: float = PATIENCE) -> T:
    """Do what `eventually` does where there is no event loop."""
    began = time.monotonic()
    pause = _FIRST_PAUSE
    while True:
        seen, problem = None, None
        try:
            seen = look()
        except NOT_YET as error:
            problem = error
        if problem is None and seen:
            return seen
        if _is_over(began, within):
            raise _missing(look, what, within, seen, problem) from problem
        time.sleep(pause)
        pause = min(_LONGEST_PAUSE, pause * 2)


def _is_over(began: float, within: float) -> bool:
    """Return whether patience has ended. How slow the machine is counts where a quiet one would have been done."""
    waited = time.monotonic() - began
    return waited > within and waited > patience(within)


async def never() -> None:
    """Wait until cancelled: what a peer does that never answers."""
    await asyncio.Event().wait()


async def _seen(look: Callable[[], object]) -> tuple[object, Exception | None]:
    try:
        seen = look()
        return (await seen if inspect.isawaitable(seen) else seen), None
    except NOT_YET as error:
        return None, error


async def _wait(on: Wakes, pause: float) -> None:
    try:
        async with asyncio.timeout(pause):
            await on.wait()
    except TimeoutError:
        return


def _missing(
    look: Callable[[], object], what: str, within: float, seen: object, problem: Exception | None
) -> AssertionError:
    fact = what or getattr(look, "__qualname__", "the fact")
    return AssertionError(f"{fact} did not come within {within:g} s of patience; seen last: {problem or seen!r}")
