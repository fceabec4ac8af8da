"""iCalendar read and written in a child process: a hostile event costs a sentence, never a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.places import FileMeaning
from abilities.calendar.types import (
    EventChange,
    EventFile,
    FileEffect,
    FileEvent,
    InvitationAnswer,
    ItipMessage,
    NewEvent,
    Occurrence,
    SeriesScope,
)
from core.children.child_job import Unreadable
from core.children.child_process import ChildFailed, ask_child
from core.errors import ToolFailed
from core.language.catalogue import gettext, gettext_noop

_SCRIPT = Path(__file__).with_name("child_script.py")
_TOO_MUCH = gettext_noop("That event is too complex; I leave it unchanged.")
_FAILURES = {
    "large": gettext_noop("That event is too large to be read."),
    "often": gettext_noop("That event repeats too often to be read."),
    "too_much": _TOO_MUCH,
    "empty": gettext_noop("There is no event in that file."),
    "no_guest": gettext_noop("You are not among those invited to that event."),
    "no_occurrence": gettext_noop("The series has no such event."),
    "series_kind": gettext_noop("A series cannot change between whole days and times of day; make a new one."),
    "series_days": gettext_noop("This series cannot be moved to another day by its rule; make a new one."),
    "series_rule": gettext_noop("This series has no rule that could be changed from one day on."),
}
_BROKEN = gettext_noop("That event cannot be read: it is broken.")


@dataclass(frozen=True, slots=True)
class Stamp:
    """The author and time of a write. `key` names the call: a repeat of it writes the same."""

    key: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Expanded:
    """Occurrences, each with the number of its object.

    `unread`: the numbers of unreadable objects; `once`: those of objects with an unreadable recurrence.
    """

    found: tuple[tuple[int, Occurrence], ...]
    unread: frozenset[int]
    once: frozenset[int] = frozenset()


async def expand(objects: Sequence[str], start: datetime, end: datetime, zone: ZoneInfo) -> Expanded:
    """Return the occurrences of events between two moments; wall times without a zone are in the given zone."""
    if not objects:
        return Expanded((), frozenset())
    asked = {"objects": list(objects), "start": start.isoformat(), "end": end.isoformat(), "zone": zone.key}
    told = await _ask("expand", asked)
    found = [(one.pop("number"), Occurrence.from_json(one)) for one in told["found"]]
    inside = ((number, one) for number, one in found if one.begins(zone) < end and _last(one, zone) > start)
    ordered = sorted(inside, key=lambda pair: (pair[1].begins(zone), pair[1].title))
    return Expanded(tuple(ordered), frozenset(int(number) for number in told["unread"]), frozenset(told["once"]))


async def make_event(event: NewEvent, uid: str, stamp: Stamp) -> str:
    """Return the stored form of a new event."""
    return str((await _ask("make", {"event": _json(asdict(event)), "uid": uid, **_stamped(stamp)}))["text"])


async def change_event(
    text: str, recurrence: str, scope: SeriesScope, change: EventChange, new_uid: str, stamp: Stamp
) -> tuple[str, str]:
    """Return a changed object, and a second object if a series is split in two; else empty."""
    asked = _of_series(text, recurrence, scope, new_uid) | {"change": _json(asdict(change)), **_stamped(stamp)}
    told = await _ask("change", asked)
    return str(told["text"]), str(told.get("more", ""))


async def cancel_occurrence(text: str, recurrence: str, scope: SeriesScope, stamp: Stamp) -> str:
    """Return a series without an occurrence, or without those from it on."""
    return str((await _ask("cancel", _of_series(text, recurrence, scope, "") | _stamped(stamp)))["text"])


async def answer_invitation(
    text: str, recurrence: str, scope: SeriesScope, answer: InvitationAnswer, own: frozenset[str], stamp: Stamp
) -> str:
    """Return an invitation with the person's answer; `own` are their addresses."""
    asked = _of_series(text, recurrence, scope, "") | {"answer": answer.value, "own": sorted(own), **_stamped(stamp)}
    return str((await _ask("answer", asked))["text"])


async def itip_message(text: str, message: ItipMessage, stamp: Stamp) -> str:
    """Return a message about an event, made from its object; for a cancellation, from the object before the change."""
    asked = asdict(message) | {"text": text, "own": sorted(message.own), **_stamped(stamp)}
    return str((await _ask("message", asked))["text"])


async def read_event_file(text: str, zone: ZoneInfo, own: frozenset[str], key: str) -> EventFile:
    """Return the contents of a calendar file from another person."""
    told = await _ask("file", {"text": text, "zone": zone.key, "own": sorted(own), "key": key})
    events = [
        FileEvent(Occurrence.from_json(one["occurrence"]), one["text"], _occurrences(one["parts"]))
        for one in told["events"]
    ]
    return EventFile(told["method"], tuple(events), told["left_out"])


async def file_meaning(
    stored: str, event: FileEvent, zone: ZoneInfo, own: frozenset[str], *, cancels: bool
) -> FileMeaning:
    """Return the effect of a file's event on the stored object with its UID."""
    asked = {"text": stored, "sent": event.text, "zone": zone.key, "own": sorted(own), "cancels": cancels}
    told = await _ask("update", asked | {"key": event.occurrence.key})
    before, after = (_occurrences(told.get(name, ())) for name in ("before", "after"))
    return FileMeaning(FileEffect(told["effect"]), event, None, before, after, stored, told.get("text", ""))


async def _ask(what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        told, _ = await ask_child(_SCRIPT, {"do": what, **asked})
    except ChildFailed as error:
        raise ToolFailed(gettext(_TOO_MUCH)) from error
    except Unreadable as error:
        raise ToolFailed(gettext(_FAILURES.get(str(error), _BROKEN))) from error
    return told


def _occurrences(told: Sequence[Mapping[str, Any]]) -> tuple[Occurrence, ...]:
    return tuple(Occurrence.from_json(one) for one in told)


def _of_series(text: str, recurrence: str, scope: SeriesScope, new_uid: str) -> dict[str, Any]:
    return {"text": text, "recurrence": recurrence, "scope": scope.value, "new_uid": new_uid}


def _stamped(stamp: Stamp) -> dict[str, str]:
    return {"key": stamp.key, "now": stamp.now.replace(microsecond=0).isoformat()}


def _json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in values.items()}


def _last(one: Occurrence, zone: ZoneInfo) -> datetime:
    """Return the end of an occurrence; without a length, just after its start."""
    begins, ends = one.begins(zone), one.ends(zone)
    return ends if ends > begins else begins.replace(microsecond=1)
