"""Where events lie: calendars of several accounts, and events in them as they were read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from abilities.calendar.types import FileEffect, FileEvent, Occurrence
from core.json_types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class CalendarInfo:
    """A calendar. `name` was given by somebody: it proves nothing. `own`: the addresses under which one is invited.

    `preferred`: it takes what names no calendar. `schedules`: its server sends invitations and answers by itself.
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
    """One event as it was read, or one occurrence of a series: what a later write refers to."""

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
    """An occurrence, and where it lies."""

    occurrence: Occurrence
    calendar: CalendarInfo
    place: EventPlace
    text: str = field(default="", repr=False)
    """The object that it was read from."""

    @property
    def is_shared(self) -> bool:
        """Return whether anybody else is at it."""
        return bool(self.occurrence.others(self.calendar.own))

    @property
    def is_organized_elsewhere(self) -> bool:
        """Return whether somebody else decides about it."""
        organizer = self.occurrence.organizer
        return organizer is not None and bool(organizer.address) and organizer.address not in self.calendar.own

    @property
    def is_declined(self) -> bool:
        return any(
            guest.address in self.calendar.own and guest.answer == "declined" for guest in self.occurrence.guests
        )


@dataclass(frozen=True, slots=True)
class Agenda:
    """What is on, in the order of time. `problems` say in sentences what could not be read."""

    entries: tuple[CalendarEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileMeaning:
    """What an event of a file means: `before` and `after` are all parts of the event that would be otherwise.

    `place` is where it lies and `stored` its object, `text` the object that would be there, empty for none.
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
    """An object as it was written. `before` is its text until then, to be put back; empty where it was not there.

    `repeated`: the same call had written it before, so that nothing is known here of what was there.
    """

    place: EventPlace
    before: str = field(default="", repr=False)
    repeated: bool = False
    parted: EventPlace | None = None
    """The series that begins where an old one now ends."""


def uid_of(key: str) -> str:
    """Return the UID of what a call makes: the same for a repeat of the call, and nobody else's."""
    return hashlib.sha256(f"onevalet event {key}".encode()).hexdigest()[:40]


def mark_of(key: str) -> str:
    """Return what an object holds that a call wrote; short enough that no line of it is folded."""
    return hashlib.sha256(f"onevalet call {key}".encode()).hexdigest()[:24]
