"""Read moments as people write them: "3pm", "tomorrow 9:00", "morgen um 9 Uhr"."""

from datetime import date, datetime, time

from agents.moment_reading import Reading, reading_of
from agents.moment_scan import plain
from agents.moment_words.languages import languages_of


def read(text: str, now: datetime, language: str | None = None) -> Reading:
    """Return what a text says about a moment: all of its words, or which of them are not understood.

    `now` is the person's: with their zone, or what their clock shows. `language` (BCP 47) is theirs too; what is not
    written in it is read in English and five other languages.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    if moment is not None and len(text.strip()) > len("2027-01-31"):
        return Reading(moment.date(), moment.time(), moment)
    words = plain(text)
    if words.isdecimal() and len(words) <= len("15"):
        words = f"at {words}"
    readings = [reading_of(words, code, now) for code in languages_of(words, language) or ["en"]]
    understood = (reading for reading in readings if reading.day or reading.clock)
    # The language that knows most of its words tells what is missing.
    return next(understood, min(readings, key=lambda reading: reading.foreign))


def read_moment(text: str, now: datetime, language: str | None = None) -> datetime | None:
    """Return the moment that a text means, as a wall time unless it settles the offset. None: not readable."""
    return read(text, now, language).moment


def read_day(text: str, now: datetime, language: str | None = None) -> date | None:
    """Return the day that a text means, which may be today; `now` and `language` are as for `read`."""
    return read(text, now, language).day


def read_parts(text: str, now: datetime, language: str | None = None) -> tuple[date | None, time | None]:
    """Return the day and the time of day that a text names, by the person's clock; None for what it does not name."""
    found = read(text, now, language)
    return found.day, found.clock
