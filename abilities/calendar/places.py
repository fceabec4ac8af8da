"""Places of events: calendars of several accounts, and events in them as they were read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from abilities.calendar.types import FileEffect, FileEvent, Occurrence
from core.json_types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class CalendarInfo:
    """A calendar. People chose `name`, so it proves nothing. `own`: the addresses under which its person is invited.

    `preferred`: it takes events that name no calendar. `schedules`: its server sends invitations and answers by itself.
    """

    url: str
    name: str
    account: str
    writable: bool = True
    preferred: bool = False
    own: frozenset[str] = frozenset()
    schedules: bool = False


@dataclass(frozen=True, slots=True)
class EventPlace:
    """An event as it was read, or an occurrence of a series; a later write refers to it."""

    account: str
    url: str
    etag: str
    recurrence: str = ""

    def to_json(self) -> JsonObject:
        return {"account": self.account, "url": self.url, "etag": self.etag, "recurrence": self.recurrence}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        return cls(*(str(data[name]) for name in ("account", "url", "etag", "recurrence")))


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """An occurrence, and its place."""

    occurrence: Occurrence
    calendar: CalendarInfo
    place: EventPlace
    text: str = field(default="", repr=False)
    """The object that it was read from."""

    @property
    def is_shared(self) -> bool:
        """Return whether it has other guests."""
        return bool(self.occurrence.others(self.calendar.own))

    @property
    def is_organized_elsewhere(self) -> bool:
        """Return whether another person organizes it."""
        organizer = self.occurrence.organizer
        return organizer is not None and bool(organizer.address) and organizer.address not in self.calendar.own

    @property
    def is_declined(self) -> bool:
        return any(
            guest.address in self.calendar.own and guest.answer == "declined" for guest in self.occurrence.guests
        )


@dataclass(frozen=True, slots=True)
class Agenda:
    """Events in order of time. `problems` are sentences about unreadable parts."""

    entries: tuple[CalendarEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileMeaning:
    """The effect of a file's event: `before` and `after` are all parts of the event that would change.

    `place` and `stored` are the place and object of the stored event, `text` the new object, empty for none.
    """

    effect: FileEffect
    event: FileEvent
    place: EventPlace | None = None
    before: tuple[Occurrence, ...] = ()
    after: tuple[Occurrence, ...] = ()
    stored: str = field(default="", repr=False)
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """An object as it was written. `before` is its former text, for undo; empty if it is new.

    `repeated`: the same call had written it before, so the former text is unknown here.
    """

    place: EventPlace
    before: str = field(default="", repr=False)
    repeated: bool = False
    parted: EventPlace | None = None
    """The series that begins at the new end of an old series."""


def uid_of(key: str) -> str:
    """Return the UID of a call's new event: the same for a repeat of the call, and unique to it."""
    return hashlib.sha256(f"onevalet event {key}".encode()).hexdigest()[:40]


def mark_of(key: str) -> str:
    """Return the mark of objects that a call wrote; short enough that no line of it is folded."""
    return hashlib.sha256(f"onevalet call {key}".encode()).hexdigest()[:24]
