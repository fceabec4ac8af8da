"""The requests to the child process, by name."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.ical.components import TooMuch, limited
from abilities.calendar.ical.files import read_file
from abilities.calendar.ical.occurrences import expand
from abilities.calendar.ical.scheduling import message
from abilities.calendar.ical.updates import updated
from abilities.calendar.ical.writing import answered, cancelled, changed, made
from core.children.child_job import Unreadable

_SECONDS = 4.0


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out a request. Raises `Unreadable`, and any error of a library on an object that is made to break it."""
    if asked["do"] == "expand":
        return _expand(asked)
    try:
        with limited(_SECONDS):
            return _DOES[asked["do"]](asked)
    except TooMuch as error:
        raise Unreadable("too_much") from error


def _expand(asked: Mapping[str, Any]) -> dict[str, Any]:
    start, end = (datetime.fromisoformat(asked[name]) for name in ("start", "end"))
    return expand(asked["objects"], start, end, ZoneInfo(asked["zone"]))


_DOES: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "make": made,
    "change": changed,
    "cancel": cancelled,
    "answer": answered,
    "file": read_file,
    "update": updated,
    "message": message,
}
