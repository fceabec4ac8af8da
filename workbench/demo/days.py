"""Days and moments in people's texts, for the demo model: read as the product reads them."""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_NUMBER = r"\d{1,2}(?:st|nd|rd|th)?"
DAY = (
    rf"(?:today|tonight|tomorrow|the day after tomorrow|(?:this |next |on )?(?:{'|'.join(_WEEKDAYS)})"
    rf"|(?:on )?(?:\d{{4}}-\d\d-\d\d|{_MONTH} {_NUMBER}|(?:the )?{_NUMBER} (?:of )?{_MONTH}))"
)
"""A pattern without groups that matches English days among other words."""
_SOME_DAY = datetime(2027, 1, 1)  # noqa: DTZ001 - a wall time, from which it is told where a day or a moment ends


def zone_of(place: str) -> str:
    """Return the timezone of a place; empty if it is unknown."""
    from abilities.moments.places import zone_named

    return zone_named(place)


def clock_of(text: str, language: str) -> tuple[int, int] | None:
    """Return the hour and the minute of a time of day; None if it cannot be read."""
    from abilities.moments.moments import read_moment

    moment = read_moment(text, _SOME_DAY, language)
    return (moment.hour, moment.minute) if moment else None


def day_of(text: str, now: datetime | None, language: str) -> date | None:
    """Return the day that a text means; None if it cannot be read, or depends on an unknown today."""
    from abilities.moments.moments import read_day

    if now is not None:
        return read_day(text, now, language)
    return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None


def split_day(text: str, language: str) -> tuple[str, str]:
    """Split the day at the beginning or end of a text from the rest; the day is empty if there is none."""
    from abilities.moments.moments import read_day

    return _split(text, language, lambda words: read_day(words, _SOME_DAY, language))


def split_moment(text: str, language: str) -> tuple[str, str]:
    """Split the moment at the beginning or end of a text from the rest; the moment is empty if there is none."""
    from abilities.moments.moments import read_moment

    return _split(text, language, lambda words: read_moment(words, _SOME_DAY, language))


def _split(text: str, language: str, read: Callable[[str], date | None]) -> tuple[str, str]:
    text = text.strip()
    ends = list(_cuts(text, language))
    heads = [text[:end] for end in reversed(ends)]
    if found := next((head for head in heads if _is_read(head, read)), ""):
        found = next((head for head in reversed(heads) if _says_all(head, found, read, language)), found)
        return found, text[len(found) :].strip()
    tails = (text[start:].strip() for start in [0, *ends])
    found = next((tail for tail in tails if _is_read(tail, read)), "")
    return found, text.removesuffix(found).strip()


def _cuts(text: str, language: str) -> Iterator[int]:
    """Yield the ends of words; in a language without spaces, the ends of all characters."""
    if language == "zh":
        yield from (end for end in range(1, len(text) + 1) if not re.match(r"\d\d", text[end - 1 : end + 1]))
    else:
        yield from (match.end() for match in re.finditer(r"[^\s,]+", text))


def _is_read(words: str, read: Callable[[str], date | None]) -> bool:
    return bool(words) and not words.isdecimal() and read(words) is not None


def _says_all(head: str, found: str, read: Callable[[str], date | None], language: str) -> bool:
    """Return whether a beginning of the read text lacks only fillers: "in 5 Minuten" of "… an den"."""
    from abilities.moments.words.languages import LANGUAGES

    rest = found[len(head) :]
    if not found.startswith(head) or re.search(r"\d", rest):
        return False
    if head[-1:].isdigit() and not re.fullmatch(LANGUAGES[language].fillers, rest.strip()):
        return False  # a word after a number may be its unit
    return _is_read(head, read) and read(head) == read(found)
