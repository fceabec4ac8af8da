"""The requests to the child process, by name; each answer is JSON, and a failure a single word."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.ical.components import TooMuch, Unreadable, limited
from abilities.calendar.ical.files import read_file
from abilities.calendar.ical.occurrences import expand
from abilities.calendar.ical.scheduling import message
from abilities.calendar.ical.updates import updated
from abilities.calendar.ical.writing import answered, cancelled, changed, made

_SECONDS = 4.0


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out a request; `failure` is the reason if it fails."""
    try:
        if asked["do"] == "expand":
            return _expand(asked)
        with limited(_SECONDS):
            return _DOES[asked["do"]](asked)
    except (TooMuch, MemoryError):
        return {"failure": "too_much"}
    except Unreadable as error:
        return {"failure": str(error)}
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        return {"failure": "broken"}  # any error of a library on an object that is made to break it


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
