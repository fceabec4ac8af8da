"""The time that a question names: "last week", "in March", "two months ago"."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = _MONTH_NAMES.split()
_NUMBER_NAMES = "one two three four five six seven eight nine ten"
_NUMBERS = {word: number for number, word in enumerate(_NUMBER_NAMES.split(), 1)}
_NUMBERS |= {"a": 1, "an": 1, "a couple of": 2, "a few": 3}
_UNITS = {
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_AGO = re.compile(rf"\b(\d+|{'|'.join(_NUMBERS)})\s+(day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:last|past|previous)\s+(week|month|year)\b", re.IGNORECASE)
_MONTH = re.compile(
    rf"\b(in|during|last|this|back in|of|since)\s+({'|'.join(_MONTHS)})(?:\s+((?:19|20)\d\d))?\b", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:in|during|back in|of)\s+((?:19|20)\d\d)\b", re.IGNORECASE)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each, in the northern hemisphere."""
_SEASON = re.compile(
    r"\b(last|this|during|over|in|back in|of)\s+(?:the\s+)?(spring|summer|autumn|fall|winter)\b", re.IGNORECASE
)
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_DAY = re.compile(rf"\b(?:last|this|past)\s+({'|'.join(_DAYS)}|weekend)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|(?<!how )old|earlier|ex|originally|first|back then|at that time"
    r"|at the time|until|prior)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to, and without, `end`."""

    start: datetime
    end: datetime


def period_of(question: str, now: datetime) -> Period | None:
    """Return the period that a question names, or None."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lower = question.lower()
    if "day before yesterday" in lower:
        return Period(day - timedelta(days=2), day - timedelta(days=1))
    if "yesterday" in lower:
        return Period(day - timedelta(days=1), day)
    if match := _AGO.search(question):
        count = int(match[1]) if match[1].isdigit() else _NUMBERS[match[1].lower()]
        unit = _UNITS[match[2].lower()]
        middle = day - min(count, 1000) * unit
        return Period(middle - unit / 2, middle + unit / 2 + timedelta(days=1))
    if match := _LAST.search(question):
        return _last(match[1].lower(), day)
    if match := _SEASON.search(question):
        return _season(_SEASONS[match[2].lower()], day, over=match[1].lower() == "last")
    if match := _DAY.search(question):
        return _weekday(match[1].lower(), day)
    if match := _MONTH.search(question):
        month = _MONTHS.index(match[2].lower()) + 1
        year = int(match[3]) if match[3] else day.year - (month > day.month)
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        if match[1].lower() == "since":
            end = day + timedelta(days=1)
        return Period(datetime(year, month, 1, tzinfo=UTC), end)
    if match := _YEAR.search(question):
        return Period(datetime(int(match[1]), 1, 1, tzinfo=UTC), datetime(int(match[1]) + 1, 1, 1, tzinfo=UTC))
    return None


def asks_about_the_past(question: str) -> bool:
    return _PAST.search(question) is not None


def _last(unit: str, day: datetime) -> Period:
    match unit:
        case "week":  # and the days of this week: people mean either
            return Period(day - timedelta(days=day.weekday() + 7), day + timedelta(days=1))
        case "month":
            first = day.replace(day=1)
            return Period((first - timedelta(days=1)).replace(day=1), first)
        case _:
            return Period(day.replace(year=day.year - 1, month=1, day=1), day.replace(month=1, day=1))


def _season(month: int, day: datetime, *, over: bool) -> Period:
    """Return the newest season that begins with this month; `over`: the newest that has ended."""
    for year in (day.year, day.year - 1, day.year - 2):
        start = datetime(year, month, 1, tzinfo=UTC)
        end = datetime(year + (month + 3) // 13, (month + 2) % 12 + 1, 1, tzinfo=UTC)
        if (end if over else start) <= day:
            break
    return Period(start, end)


def _weekday(name: str, day: datetime) -> Period:
    """Return the last such day before today; a weekend is its Saturday and Sunday."""
    first = _DAYS.index("saturday" if name == "weekend" else name)
    start = day - timedelta(days=(day.weekday() - first - 1) % 7 + 1)
    return Period(start, start + timedelta(days=2 if name == "weekend" else 1))
