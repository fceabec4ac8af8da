"""The meaning of the words of a text about a moment: a day, a time of day, a zone, or a span from now."""

import calendar
from dataclasses import dataclass, replace
from datetime import MAXYEAR, UTC, date, datetime, time, timedelta, tzinfo
from typing import cast

from abilities.moments.days import Unread, Words
from abilities.moments.scan import Language, Token, language, scan
from abilities.moments.words.words import Part
from abilities.moments.zones import NamedZone

_EARLY = 7
"""A bare hour before this is an afternoon hour."""
_HOURS: dict[Part, tuple[range, range]] = {
    "morning": (range(13), range(0)),
    "forenoon": (range(1, 13), range(0)),
    "noon": (range(11, 16), range(0)),
    "afternoon": (range(12, 22), range(0)),
    "evening": (range(16, 24), range(4)),
    "night": (range(16, 24), range(5)),
    "late night": (range(20, 24), range(7)),
    "nightly": (range(7), range(0)),
    "small hours": (range(8), range(0)),
    "midnight": (range(1), range(0)),
}
"""The hours of each part of a day: those of its day, and those of the day after it."""
_USUAL: dict[Part, int] = {
    "morning": 9,
    "forenoon": 9,
    "noon": 12,
    "afternoon": 15,
    "evening": 20,
    "night": 20,
    "midnight": 0,
}
"""The hour of a part of a day that is named alone; the others have none."""
_MORNING = time(9)
"""The time of a day that is named alone."""
_SMALL = 5
"""Before this hour, "tonight" is the night that has begun already."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The meaning of a text. `moment` is a wall time of the person's, or has an offset if the text settles it."""

    day: date | None = None
    clock: time | None = None
    moment: datetime | None = None
    timed: bool = False
    """Whether a time of day was said with numbers."""
    zone: str = ""
    """The words for another zone than the person's."""
    unread: tuple[str, ...] = ()
    """Words that are not understood, or do not go together; with them there is no moment."""
    foreign: int = 0
    """The number of letters in words that the language does not know."""


@dataclass(frozen=True, slots=True)
class _Clock:
    """A time of day as it was said: `certain` says which half of the day, `minutes` are added to the hour."""

    hour: int
    minutes: int
    certain: bool

    def hours(self) -> list[int]:
        """Return the hours of the day that it may mean."""
        return [self.hour % 24] if self.certain else [self.hour % 12, self.hour % 12 + 12]


def reading_of(text: str, code: str, now: datetime) -> Reading:
    """Return the meaning of a text from `plain` in a language; `now` is the person's, with or without a zone."""
    known = language(code)
    try:
        return _Said(known, _with_clocks(scan(text, code), known), now).reading()
    except Unread as unread:
        return Reading(unread=unread.words, foreign=unread.foreign)
    except OverflowError:
        return Reading(unread=(text,))  # beyond the range of a calendar


def _with_clocks(tokens: list[Token], known: Language) -> list[Token]:
    """Return the tokens with a time of day for a number beside a part of the day, or after a day."""
    tokens = [token for token in tokens if token.kind != "filler"]
    read: list[Token] = []
    for number, token in enumerate(tokens):
        # In Chinese the word for the hour is never left out.
        if token.kind == "number" and known.code != "zh":
            after = ("part", "part of today", "day", *(("weekday",) if known.words.numbered_weekdays else ()))
            behind = number > 0 and tokens[number - 1].kind in after
            before = number + 1 < len(tokens) and tokens[number + 1].kind in ("part", "part of today")
            if behind or before:
                token = replace(token, kind="clock", value=0)
        read.append(token)
    return read


class _Said(Words):
    """The tokens of a text."""

    def reading(self) -> Reading:
        unknown = self._all("unknown", "number")
        if unknown or not self.tokens:
            raise Unread(*unknown)
        if self._all("from now"):
            return self._span()
        if not self._all("from day"):
            if bare := self._all("span", "more"):
                raise Unread(*bare)
            return self._day_and_clock(0)
        return self._day_and_clock(self._days_counted())

    def _span(self) -> Reading:
        seconds, days, months = self._amounts()
        others = [token for token in self.tokens if token.kind not in ("from now", "span", "more", "clock", "part")]
        timed = self._all("clock", "part")
        if others or (timed and seconds) or not (seconds or days or months):
            raise Unread(*self.tokens)
        day = _months_on(self.wall, months) + timedelta(days=days)
        if timed:
            return self._at(day.date(), today=False)
        if not seconds:
            return Reading(day.date(), None, day)
        if self.now.tzinfo is None:
            moment = day + timedelta(seconds=seconds)
        else:
            # Hours are counted as elapsed time, even if the clocks change in between.
            passed = day.replace(tzinfo=self.now.tzinfo, fold=self.now.fold).astimezone(UTC)
            moment = (passed + timedelta(seconds=seconds)).astimezone(self.now.tzinfo)
        return Reading(moment.date(), moment.time(), moment)

    def _days_counted(self) -> int:
        seconds, days, months = self._amounts()
        if seconds or months or not days or not self._all("day", "weekday", "date"):
            raise Unread(*self.tokens)
        return days

    def _day_and_clock(self, later: int) -> Reading:
        offset, today = self._one("day"), self._one("part of today")
        if today and (self._all("weekday", "date") or (offset and offset.value != 0)):
            raise Unread(*self._all("part of today", "day", "weekday", "date"))
        day = self._day()
        is_today = today is not None or (offset is not None and offset.value == 0)
        if today:
            day = self.wall.date()
        if day is not None:
            day += timedelta(days=later)
        return self._at(day, today=is_today)

    def _at(self, day: date | None, *, today: bool) -> Reading:
        """Return a time of day on its day; without a day, the next time that the clock shows it."""
        zone = self._one("zone")
        clock, parts = self._clock()
        if clock is None and not parts:
            if zone or day is None:
                raise Unread(*self.tokens)
            moment = None if day == self.wall.date() else datetime.combine(day, _MORNING)
            return Reading(day, None, moment)
        at, later = self._time(clock, parts, today=today)
        timed = clock is not None
        if zone is not None:
            return self._there(zone.text, cast(NamedZone, zone.zone), day, at, later)
        if day is None:
            moment = self._next(at, clock, parts)
            return Reading(None, moment.time(), self._shown(moment), timed)
        if today and later and self.wall.hour < _SMALL and at > self.wall.time():
            later = 0  # the night that goes on
        moment = datetime.combine(day, at) + timedelta(days=later)
        return Reading(moment.date(), at, self._shown(moment), timed)

    def _shown(self, wall: datetime, zone: tzinfo | None = None) -> datetime:
        """Return a wall time that the clock shows; when clocks are put forward, some are never shown."""
        zone = zone or self.now.tzinfo
        if zone and wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) != wall:
            raise Unread(*self._all("clock", "part", "part of today", "day", "weekday", "date"))
        return wall

    def _clock(self) -> tuple[_Clock | None, list[Token]]:
        """Return the time of day that is said with numbers, and the parts of a day."""
        parts = self._all("part", "part of today")
        token = self._one("clock")
        if token is not None:
            return self._said(token), parts
        for part in parts:
            if part.value in ("noon", "midnight") and len(parts) > 1:
                return _Clock(12, 0, certain=part.value == "noon"), [other for other in parts if other is not part]
        return None, parts

    def _said(self, token: Token) -> _Clock:
        numbers = token.numbers or {}
        said = numbers["h"]
        hour = self.known.number(said)
        minutes = cast(int, token.value)
        for name, sign in (("m", 1), ("past", 1), ("to", -1)):
            if numbers.get(name):
                minutes += sign * self.known.number(str(numbers[name]))
        half = (numbers.get("half") or "")[:1]
        if hour > 24 or (hour == 24 and minutes) or abs(minutes) > 59 or (half and not 1 <= hour <= 12):
            raise Unread(token)
        if half:
            return _Clock(hour % 12 + (12 if half == "p" else 0), minutes, certain=True)
        written = numbers.get("m") and len(said) == 2 and hour < _EARLY
        return _Clock(hour, minutes, certain=bool(hour > 12 or hour == 0 or written))

    def _time(self, clock: _Clock | None, parts: list[Token], *, today: bool) -> tuple[time, int]:
        """Return a time of day, and how many days it is after the day that was named."""
        if clock is None:
            return self._usual(parts, today=today)
        if parts:
            meant = set.intersection(*(set(_hours(clock, cast(Part, part.value), today)) for part in parts))
            if len(meant) != 1:
                raise Unread(*self._all("clock", "part", "part of today"))
            hour = meant.pop()
        else:
            hour = clock.hour + (12 if not clock.certain and 1 <= clock.hour < _EARLY else 0)
        days, minutes = divmod(hour * 60 + clock.minutes, 1440)
        return time(minutes // 60, minutes % 60), days

    def _usual(self, parts: list[Token], *, today: bool) -> tuple[time, int]:
        hours = {_USUAL.get(cast(Part, part.value)) for part in parts}
        hour = hours.pop()
        if hours or hour is None:
            raise Unread(*parts)
        return time(hour), int(hour == 0 and today)

    def _next(self, at: time, clock: _Clock | None, parts: list[Token]) -> datetime:
        moment = datetime.combine(self.wall.date(), at)
        if moment > self.wall:
            return moment
        evening = moment + timedelta(hours=12)
        bare = self.known.words.twelve_hours and clock and not clock.certain and not parts and 7 <= clock.hour < 12
        return evening if bare and self.wall < evening and evening.hour < 22 else moment + timedelta(days=1)

    def _there(self, words: str, zone: NamedZone, day: date | None, at: time, later: int) -> Reading:
        """Return a time of day by the clock of another zone; its day is that of the person's calendar."""
        own = self.now.tzinfo
        present = self.now.astimezone(zone.zone) if own and zone.zone else self.now
        moment = self._moment_there(
            zone, datetime.combine(day or present.date(), at) + timedelta(days=later if day else 0)
        )
        if not day and moment <= (self.now if own else self.now.replace(tzinfo=moment.tzinfo)):
            moment = self._moment_there(zone, moment.replace(tzinfo=None) + timedelta(days=1))
        here = moment.astimezone(own) if own else moment
        return Reading(here.date() if day else None, here.time(), moment, timed=True, zone=words)

    def _moment_there(self, zone: NamedZone, wall: datetime) -> datetime:
        moment = zone.at(wall, self.now.tzinfo)
        if moment is None:
            raise Unread(*self._all("zone"))
        self._shown(wall, moment.tzinfo)
        return moment


def _hours(clock: _Clock, part: Part, today: bool) -> list[int]:
    """Return the hours that a clock may mean in a part of the day; those after 23 are of the day after."""
    same, after = _HOURS[part]
    found = [hour for hour in clock.hours() if hour in same] + [hour + 24 for hour in clock.hours() if hour in after]
    if part == "nightly":
        found += [hour for hour in clock.hours() if hour >= 20]
        # "12 Uhr nachts" ends its day.
        return [24] if clock.hour == 24 or (clock.hour == 12 and not clock.certain) else found
    return [24] if part == "midnight" and found and today else found


def _months_on(moment: datetime, months: int) -> datetime:
    """Return a moment some months later; a day that the month lacks is its last."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    if year > MAXYEAR:
        raise OverflowError
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
