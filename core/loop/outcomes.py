"""The outcome of a call that raised: the text for the model, and whether the call may have taken effect."""

import asyncio
import traceback
from dataclasses import dataclass
from typing import Literal

import structlog

from core.errors import ToolError
from core.journal.types import Effect, Outcome
from core.replies import note

UNKNOWN_OUTCOME = (
    "The outcome of this call is unknown: it started, and it may or may not have taken effect. It was not repeated."
    + note("Do not call it again with the same arguments; tell the person what is uncertain.")
)
FAILED = "{name} failed"
NO_ANSWER = "{name} gave no answer"
"""The beginning of the text about a call that raised."""
_FRAMES = 4
"""Innermost stack frames to log: the cause, without the whole path to it."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Callee:
    """The tool or agent that was called. `seconds` is its time limit; `in_thread`, that the limit cannot stop it."""

    kind: Literal["tool", "agent"]
    name: str
    effect: Effect
    seconds: float
    in_thread: bool = False


def told_of(error: ToolError) -> str:
    """Return the text for the model about a tool's own failure, with its note."""
    return f"{error}{note(error.note) if error.note else ''}"


def outcome_of(error: Exception, callee: Callee, limit: asyncio.Timeout, **ids: object) -> tuple[str, Outcome]:
    """Return the text for the model and the outcome of a call that raised; log all errors but `ToolError`.

    `limit` is the timeout that the call ran under; `ids` go into the log.
    """
    if isinstance(error, ToolError):
        # The only error that promises that nothing happened.
        return told_of(error) or f"{FAILED.format(name=callee.name)}.", Outcome.ERROR
    late = isinstance(error, TimeoutError) and limit.expired()
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    _log.warning(
        f"{callee.kind}_timed_out" if late else f"{callee.kind}_failed",
        **{callee.kind: callee.name, **ids},
        error=type(error).__name__,
        where=[f"{frame.filename}:{frame.lineno}" for frame in frames],
    )
    text = f"{FAILED.format(name=callee.name)} with an internal error."
    if late:
        running = " It may still be running." if callee.in_thread else ""
        text = f"{NO_ANSWER.format(name=callee.name)} within {callee.seconds:g} seconds.{running}"
    outcome = Outcome.ERROR if callee.effect is Effect.READ else Outcome.UNKNOWN
    if callee.effect is Effect.ONCE:
        return f"{text} {UNKNOWN_OUTCOME}", outcome
    return text + note("Go on without it, try once more, or tell the person."), outcome
