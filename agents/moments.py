"""Read moments and places as people write them: "3pm", "tomorrow 9:00", "in 20 minutes", "Lisbon"."""

import re
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import available_timezones

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_IN = re.compile(r"in (?:(\d{1,4})|an?|half an?) (minute|hour|day|week)s?", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?\s*(?:o'?clock)?\s*(am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE)
_WORDS = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0), "tonight": (20, 0)}
_LENGTHS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_EARLY = 7
"""A bare hour before this is an afternoon hour."""


def read_moment(text: str, now: datetime) -> datetime | None:
    """Return the wall time that a text means. `now` is the person's wall time. None: not readable."""
    words = " ".join(text.lower().replace(",", " ").split()).removeprefix("at ").removeprefix("on ")
    if match := _IN.fullmatch(words):
        span = _LENGTHS[match[2]] * int(match[1] or 1)
        return (now + (span / 2 if "half" in words else span)).replace(microsecond=0)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    if moment is not None and len(text.strip()) > len("2027-01-31"):
        return moment
    day, rest = _day(words, now)
    return _at(rest.strip().removeprefix("at ").strip(), day, now)


def zone_named(text: str) -> str:
    """Return the IANA name of a timezone or of a city's; empty where there is none."""
    return _zones().get(" ".join(text.lower().replace("_", " ").strip(" .,!?").split()), "")


def _day(text: str, now: datetime) -> tuple[datetime | None, str]:
    """Split a day from a text; the rest names the time."""
    for word, days in (("today", 0), ("tomorrow", 1)):
        if word in text.split():
            return now + timedelta(days=days), text.replace(word, "", 1)
    for number, name in enumerate(_DAYS):
        if name in text.split():
            return now + timedelta(days=(number - now.weekday() - 1) % 7 + 1), text.replace(name, "", 1)
    if match := re.search(r"\d{4}-\d{2}-\d{2}", text):
        try:
            return datetime.fromisoformat(match[0]), text.replace(match[0], "", 1)
        except ValueError:
            return None, text
    return None, text


def _at(text: str, day: datetime | None, now: datetime) -> datetime | None:
    if not text and day is not None and day.date() != now.date():
        hour, minute = 9, 0
    elif text in _WORDS:
        hour, minute = _WORDS[text]
    elif match := _CLOCK.fullmatch(text):
        hour, minute = int(match[1]), int(match[2] or 0)
        half = (match[3] or "").replace(".", "")
        if half and not 1 <= hour <= 12:
            return None
        if half:
            hour = hour % 12 + (12 if half == "pm" else 0)
        elif 1 <= hour < _EARLY and not (match[2] and len(match[1]) == 2):
            hour += 12
    else:
        return None
    if hour > 23 or minute > 59:
        return None
    moment = (day or now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    if day is None and moment <= now:
        sooner = moment + timedelta(hours=12)
        twelve = 7 <= hour < 12 and not re.search(r"[ap]\.?m", text) and sooner > now
        moment = sooner if twelve and sooner.hour < 22 else moment + timedelta(days=1)
    return moment


@cache
def _zones() -> dict[str, str]:
    zones: dict[str, str] = {}
    for name in sorted(available_timezones()):
        zones[name.lower().replace("_", " ")] = name
        zones.setdefault(name.rpartition("/")[2].lower().replace("_", " "), name)
    return zones
