"""Read a person's words about a time, or ask: no word of it is left out, and none is guessed."""

import re
from datetime import UTC, date, datetime, time, timedelta

from abilities.moments.moments import read
from abilities.moments.reading import Reading
from onevalet import ToolRetry, gettext

_AS_MOMENT = "2027-01-31T15:00"
_NEAR = timedelta(minutes=10)


def moment_said(text: str, now: datetime, language: str | None) -> datetime:
    """Return the moment that a text names; `now` has the person's zone. Raises `ToolRetry` if it names none."""
    found = read(text, now, language)
    if found.moment is None:
        raise unreadable(text, found, _AS_MOMENT)
    return found.moment


def to_the_minute(moment: datetime, now: datetime) -> datetime:
    """Return the whole minute that is said of a moment, and for which it is planned; `now` has the person's zone.

    "In two hours" is the time that the clock then shows. Seconds count for a near moment: it is the next minute.
    """
    past = timedelta(seconds=moment.second, microseconds=moment.microsecond)
    if not past:
        return moment
    ahead = (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)).astimezone(UTC) - now.astimezone(UTC)
    if ahead >= _NEAR:
        return moment - past
    later = timedelta(minutes=1) - past
    # As elapsed time, even if the clocks change in between.
    return (moment.astimezone(UTC) + later).astimezone(moment.tzinfo) if moment.tzinfo else moment + later


def parts_said(text: str, now: datetime, language: str | None) -> Reading:
    """Return the reading of a text, with a day or a time of day by the person's clock; as `moment_said` otherwise."""
    found = read(text, now, language)
    if found.day is None and found.clock is None:
        raise unreadable(text, found, _AS_MOMENT)
    if found.zone and found.day is None:
        # Which time it is here depends on the day.
        raise ToolRetry(gettext("On which day is “{text}”?", text=text), note=f"Give it as {_AS_MOMENT}.")
    return found


def clock_said(text: str, now: datetime, language: str | None) -> time:
    """Return the time of day that a text names for each day. Raises `ToolRetry` if it names anything else."""
    # By the whole day: the rest of this day says nothing about a time on others.
    found = read(text, now.replace(hour=0, minute=0), language)
    if found.clock is None or found.zone or found.day is not None:
        raise unreadable(text, found, "09:00, by the person's own clock")
    return found.clock


def day_said(text: str, now: datetime, language: str | None) -> date:
    """Return the day that a text names. Raises `ToolRetry` if it names none, or a time of day besides."""
    found = read(text, now, language)
    if found.day is None or found.timed:
        raise unreadable(text, found, "2027-01-31")
    return found.day


def said_elsewhere(text: str, now: datetime, language: str | None) -> str:
    """Return the time by the clock of another zone that a text names, with its words; empty if it names none."""
    found = read(text, now, language)
    return f"{found.moment:%H:%M} {_as_written(found.zone, text)}" if found.zone and found.moment else ""


def unreadable(text: str, found: Reading, example: str) -> ToolRetry:
    """Return the question about the missing parts of a text, which names the words that are not understood."""
    words = " … ".join(_as_written(word, text) for word in found.unread if len(word) < len(text))
    note = f"Leave none of their words out and guess none: ask the person what is meant, or give it as {example}."
    if not words:
        return ToolRetry(gettext("I cannot tell when “{text}” is.", text=text), note=note)
    return ToolRetry(
        gettext("I cannot tell when “{text}” is: I do not understand “{words}”.", text=text, words=words), note=note
    )


def _as_written(words: str, text: str) -> str:
    """Return words of a text as they stand in it: capitals tell a zone from another word."""
    whole = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE)
    start = whole.start() if whole else text.casefold().rfind(words)
    return text[start : start + len(words)] if start >= 0 else words
