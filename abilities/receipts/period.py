"""The period that a person means: a number of days, a month, or a year. Pure."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache

from babel.dates import get_month_names

from abilities.receipts.types import Days
from core.language.catalogue import LANGUAGES

USUAL = 30
"""Days without a named period."""
_DAYS = re.compile(r"([0-9]{1,3})(?: ?(?:days?|tagen?|d[ií]as?|jours?|天|日))?", re.IGNORECASE)
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_YEAR = re.compile(r"[0-9]{4}")
_NAMED = re.compile(r"(\S+?)\.?(?: (?:de )?([0-9]{4}))?")


def read_days(text: str, today: date) -> Days | None:
    """Return the days that a text names: the last 30 for an empty one, None if it names no period.

    A month without a year is the latest that has begun.
    """
    text = text.strip()
    if not text:
        return _last(USUAL, today)
    if match := _DAYS.fullmatch(text):
        return _last(int(match[1]), today) if int(match[1]) else None
    if match := _MONTH.fullmatch(text):
        return month(int(match[1]), int(match[2]))
    if _YEAR.fullmatch(text):
        return _whole(int(text), 1, int(text), 12)
    if (match := _NAMED.fullmatch(text)) and (number := _months().get(match[1].casefold())):
        return month(int(match[2] or today.year - (number > today.month)), number)
    return None


def month(year: int, number: int) -> Days | None:
    """Return the days of a month; None if there is no such month."""
    return _whole(year, number, year, number)


def bounds(days: Days, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the moments at which a period begins and is over, in a zone."""
    begin = datetime.combine(days.first, time.min, zone)
    end = datetime.max.replace(tzinfo=UTC)
    if days.last < date.max - timedelta(days=1):
        end = datetime.combine(days.last + timedelta(days=1), time.min, zone)
    return begin.astimezone(UTC), end.astimezone(UTC)


def _last(number: int, today: date) -> Days:
    return Days(today - timedelta(days=number - 1), today)


def _whole(first_year: int, first: int, last_year: int, last: int) -> Days | None:
    try:
        begin = date(first_year, first, 1)
        after = date(last_year + last // 12, last % 12 + 1, 1)
    except ValueError:
        return None
    return Days(begin, after - timedelta(days=1)) if first_year > 1 else None


@cache
def _months() -> dict[str, int]:
    """Return the names of the months, in full and short, in all languages."""
    return {
        name.casefold().rstrip("."): number
        for language in LANGUAGES
        for width in ("abbreviated", "wide")
        for context in ("format", "stand-alone")
        for number, name in get_month_names(width, context, language).items()
    }
