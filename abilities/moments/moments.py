"""Read moments as people write them: "3pm", "tomorrow 9:00", "morgen um 9 Uhr"."""

from datetime import date, datetime

from abilities.moments.reading import Reading, reading_of
from abilities.moments.scan import plain
from abilities.moments.words.languages import languages_of

_LONGEST = 200
"""A longer text is not a moment."""


def read(text: str, now: datetime, language: str | None = None) -> Reading:
    """Return the meaning of a text about a moment, from all of its words, or the words that are not understood.

    `now` is the person's: with their zone, or as their wall time. `language` (BCP 47) is theirs too; other texts are
    read in English and five other languages.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    if moment is not None and len(text.strip()) > len("2027-01-31"):
        return Reading(moment.date(), moment.time(), moment)
    if len(text) > _LONGEST:
        return Reading()
    words = plain(text)
    if words.isdecimal() and len(words) <= len("15"):
        words = f"at {words}"
    lacking = Reading()
    for code in languages_of(words, language) or ["en"]:
        found = reading_of(words, code, now)
        if found.day or found.clock:
            return found
        # The language that knows most of the words names the missing words.
        if not lacking.unread or found.foreign < lacking.foreign:
            lacking = found
    return lacking


def read_moment(text: str, now: datetime, language: str | None = None) -> datetime | None:
    """Return the moment that a text means, as a wall time unless it settles the offset. None: not readable."""
    return read(text, now, language).moment


def read_day(text: str, now: datetime, language: str | None = None) -> date | None:
    """Return the day that a text means, which may be today; `now` and `language` are as for `read`."""
    return read(text, now, language).day
