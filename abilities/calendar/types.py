"""Values of calendars: events as they occur, new events, and changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Self
from zoneinfo import ZoneInfo

MAX_TITLE = 200
MAX_TEXT = 4000
MAX_SHOWN_TEXT = 800
"""Characters of a description in another person's calendar file: the card shows exactly the text that is written."""


class SeriesScope(StrEnum):
    """The part of a series that a change applies to."""

    THIS = "this"
    FOLLOWING = "following"
    ALL = "all"


class InvitationAnswer(StrEnum):
    """A person's answer to an invitation, as RFC 5545 3.2.12 writes it."""

    ACCEPTED = "ACCEPTED"
    DECLINED = "DECLINED"
    TENTATIVE = "TENTATIVE"


class ItipMethod(StrEnum):
    """The method of a message to an event's guests (RFC 5546 1.4)."""

    REQUEST = "REQUEST"
    """An invitation, or a newer state of the event."""
    CANCEL = "CANCEL"
    REPLY = "REPLY"
    """A guest's answer to the organizer."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest of an event. `answer` is their answer, in lower case, such as `accepted`; empty for none."""

    address: str
    name: str = ""
    answer: str = ""

    @property
    def named(self) -> str:
        return f"{self.name} <{self.address}>" if self.name else self.address


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A single occurrence of an event. Others may have written any words in it.

    `start` and `end` are aware moments, or days if the event lasts whole days, `end` the day after the last. `zone` is
    the event's own, empty if it has none. `rule` is the RRULE of its series, empty for a single event; `recurrence`
    names this occurrence in its series by its start under the rule.
    """

    uid: str
    start: datetime | date
    end: datetime | date
    zone: str = ""
    title: str = ""
    location: str = ""
    text: str = ""
    cancelled: bool = False
    tentative: bool = False
    busy: bool = True
    organizer: Guest | None = None
    guests: tuple[Guest, ...] = ()
    rule: str = ""
    recurrence: str = ""
    key: str = ""
    """Of the call of ours that wrote it last."""
    link: str = ""
    also: tuple[datetime | date, ...] = ()
    """Starts of its series besides its rule; set for events that a card shows completely, as are the next two."""
    without: tuple[datetime | date, ...] = ()
    """Starts that its rule yields and the series skips."""
    instead: datetime | date | None = None
    """The start by the rule of its series that it replaces."""

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)

    @property
    def repeats(self) -> bool:
        return bool(self.rule or self.recurrence)

    def begins(self, zone: ZoneInfo) -> datetime:
        """Return its start as a moment; for a day, its midnight in a zone."""
        return _moment(self.start, zone)

    def ends(self, zone: ZoneInfo) -> datetime:
        """Return its end as a moment; for a day, its midnight in a zone."""
        return _moment(self.end, zone)

    def others(self, own: frozenset[str]) -> tuple[Guest, ...]:
        """Return those at the event who are not its person, whose own addresses are given."""
        people = (*((self.organizer,) if self.organizer else ()), *self.guests)
        known = {guest.address: guest for guest in reversed(people) if guest.address not in own}
        return tuple(reversed(known.values()))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        organizer = data["organizer"]
        values = dict(data) | {
            "start": day_or_moment(data["start"]),
            "end": day_or_moment(data["end"]),
            "organizer": Guest(**organizer) if organizer else None,
            "guests": tuple(Guest(**guest) for guest in data["guests"]),
        }
        values |= {name: tuple(map(day_or_moment, data[name])) for name in ("also", "without") if name in data}
        if instead := data.get("instead"):
            values["instead"] = day_or_moment(instead)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to write. `start` and `end` are days, or wall times in `zone`; `rule` is an RRULE."""

    title: str
    start: datetime | date
    end: datetime | date
    zone: str
    location: str = ""
    text: str = ""
    rule: str = ""
    guests: tuple[str, ...] = ()
    organizer: str = ""
    """The person's own address, if others are invited."""


@dataclass(frozen=True, slots=True)
class EventChange:
    """A change of an event; None keeps a value. `start` and `end` are wall times in `zone`, or days."""

    title: str | None = None
    location: str | None = None
    text: str | None = None
    start: datetime | date | None = None
    end: datetime | date | None = None
    zone: str = "UTC"
    invite: tuple[str, ...] = ()
    uninvite: tuple[str, ...] = ()
    organizer: str = ""

    @property
    def moves(self) -> bool:
        return self.start is not None or self.end is not None


@dataclass(frozen=True, slots=True)
class FileEvent:
    """An event in another person's file. `parts` is all of its content: the event, and the exceptions of a series.

    `text` is the object for a calendar: it is made from the parts, so that they show all of it.
    """

    occurrence: Occurrence
    text: str = field(repr=False)
    parts: tuple[Occurrence, ...] = ()


@dataclass(frozen=True, slots=True)
class EventFile:
    """A calendar file. `method` is its purpose, such as REQUEST or CANCEL; empty for none."""

    method: str
    events: tuple[FileEvent, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ItipMessage:
    """A message to those at an event. `to` are their addresses, `own` those of the person who sends it.

    `recurrence` names the occurrence of a series that it is about; empty for all of it. `uninvites`: the event is
    cancelled for those to whom it goes, and takes place.
    """

    method: ItipMethod
    to: tuple[str, ...]
    own: frozenset[str]
    recurrence: str = ""
    uninvites: bool = False


class FileEffect(StrEnum):
    """The effect of a file's event on a calendar."""

    NEW = "new"
    THERE = "there"
    """Nothing of it is new."""
    OLDER = "older"
    FOREIGN = "foreign"
    """Another person organizes the stored event with its UID."""
    UPDATE = "update"
    CANCEL = "cancel"


def _moment(at: datetime | date, zone: ZoneInfo) -> datetime:
    if isinstance(at, datetime):
        return at
    return datetime(at.year, at.month, at.day, tzinfo=zone)


def day_or_moment(text: str) -> datetime | date:
    """Return the whole day, or the moment, that a text in ISO 8601 is."""
    return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
