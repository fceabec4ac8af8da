"""Parse days as people write them, for the demo model: "tomorrow", "next Friday", "4 December"."""

import re
from datetime import date, timedelta

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_NUMBER = r"\d{1,2}(?:st|nd|rd|th)?"
DAY = (
    rf"(?:today|tonight|tomorrow|the day after tomorrow|(?:this |next |on )?(?:{'|'.join(_WEEKDAYS)})"
    rf"|(?:on )?(?:\d{{4}}-\d\d-\d\d|{_MONTH} {_NUMBER}|(?:the )?{_NUMBER} (?:of )?{_MONTH}))"
)
"""A pattern without groups that matches all readable days."""


def read_day(text: str, today: date | None) -> date | None:
    """Return the day, the next one of its name; None where it cannot be parsed or today is unknown."""
    words = text.lower().removeprefix("on ").strip()
    if re.fullmatch(r"\d{4}-\d\d-\d\d", words):
        return _real(*(int(part) for part in words.split("-")))
    if today is None:
        return None
    ahead = {"today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2}.get(words)
    if ahead is not None:
        return today + timedelta(days=ahead)
    name = words.removeprefix("this ").removeprefix("next ")
    if name in _WEEKDAYS:
        return today + timedelta(days=(_WEEKDAYS.index(name) - today.weekday() - 1) % 7 + 1)
    return _dated(words, today)


def _dated(words: str, today: date) -> date | None:
    number, month = re.search(r"\d{1,2}", words), re.search(rf"\b({'|'.join(_MONTHS)})", words)
    if number is None or month is None:
        return None
    month_and_day = _MONTHS.index(month[1]) + 1, int(number[0])
    day = _real(today.year, *month_and_day)
    return day if day is None or day >= today else _real(today.year + 1, *month_and_day)


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
