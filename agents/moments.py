"""Read moments as people write them: "3pm", "tomorrow 9:00", "morgen um 9 Uhr"."""

import re
from datetime import date, datetime, time, timedelta

from dateparser.date import DateDataParser

from agents.moment_words import ENGLISH, LANGUAGES, MomentWords, languages_of

_EARLY = 7
"""A bare hour before this is an afternoon hour."""
_DATE = r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}"
_DATE_OR_SLASHES = _DATE + r"|\d{1,2}/\d{1,2}(?:/\d{4})?"
_RELATIVE = 1
"""The microsecond of the parser's base, and so of each moment that it counts from there."""


def read_moment(text: str, now: datetime, language: str | None = None) -> datetime | None:
    """Return the wall time that a text means. `now` is the person's wall time. None: not readable.

    `language` (BCP 47) is the person's; what is not written in it is read in English and five other languages.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    if moment is not None and len(text.strip()) > len("2027-01-31"):
        return moment
    words = " ".join(text.casefold().replace(",", " ").split())
    if words.isdecimal() and len(words) <= len("15"):
        return _at(ENGLISH, {"hour": words}, None, now)
    found = (_read(words, code, now) for code in languages_of(words, language) or ["en"])
    return next((moment for moment in found if moment is not None), None)


def read_day(text: str, now: datetime, language: str | None = None) -> date | None:
    """Return the day that a text means, which may be today; `now` and `language` are as for `read_moment`."""
    words = " ".join(text.casefold().replace(",", " ").split())
    for code in languages_of(words, language) or ["en"]:
        time, rest = _parts(words, code)
        if not rest and time.get("part") == ".":  # words for a time of today, such as "tonight"
            return now.date()
        day = _day(rest, code, now) if rest else None
        if day is not None and not _is_bare_span(day, rest, code):
            return day.date()
    return None


def read_parts(text: str, now: datetime, language: str | None = None) -> tuple[date | None, time | None]:
    """Return the day and the time of day that a text names; None for one that it does not name.

    `now` and `language` are as for `read_moment`.
    """
    words = " ".join(text.casefold().replace(",", " ").split())
    if re.fullmatch(r"\d{4}-\d\d-\d\d", words):
        return date.fromisoformat(words), None
    moment = read_moment(text, now, language)
    if moment is None:
        return read_day(text, now, language), None
    if words.isdecimal():
        return None, moment.time()
    if re.match(r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d", words):
        return moment.date(), moment.time()
    for code in languages_of(words, language) or ["en"]:
        if _read(words, code, now) != moment:
            continue
        clock, rest = _parts(words, code)
        if clock and not rest:
            means_today = clock.get("part") == "." and moment.hour not in (0, 12)  # "tonight", and not "noon"
            return (now.date() if means_today else None), moment.time()
        counted = None if clock else _day(rest, code, now)
        if counted is not None and (counted.microsecond != _RELATIVE or counted.time() == _from(now)):
            return moment.date(), None
    return moment.date(), moment.time()


def _from(now: datetime) -> time:
    return now.time().replace(microsecond=_RELATIVE)


def _read(text: str, code: str, now: datetime) -> datetime | None:
    """Read a text in one language."""
    words = LANGUAGES[code]
    time, rest = _parts(text, code)
    if not rest:
        return _at(words, time, None, now) if time else None
    day = _day(rest, code, now)
    if day is None or _is_bare_span(day, rest, code):
        return None
    if day.microsecond == _RELATIVE and re.search(r"\d", rest) and not time:
        return day.replace(microsecond=0)
    if not time and day.date() == now.date():
        return None
    return _at(words, time or {"hour": "9", "part": "."}, day, now)


def _parts(text: str, code: str) -> tuple[dict[str, str], str]:
    """Split a text into a time of day, and the words for its day."""
    words = LANGUAGES[code]
    for pattern, known in words.rewrites:
        text = re.sub(pattern, known, text)
    time, rest = _time(words, text)
    return time, _without_fillers(words, rest)


def _is_bare_span(day: datetime, rest: str, code: str) -> bool:
    """Return whether a day is counted by a span that does not say that it counts from now: "2 hours"."""
    counted = day.microsecond == _RELATIVE and re.search(r"\d", rest)
    return bool(counted and not re.search(LANGUAGES[code].from_now, rest))


def _time(words: MomentWords, text: str) -> tuple[dict[str, str], str]:
    """Split a time of day from a text; the rest names the day."""
    for word in sorted(words.times, key=len, reverse=True):
        if match := re.search(rf"(?<!\w){re.escape(word)}(?!\w)" if word.isascii() else re.escape(word), text):
            hour, minute = words.times[word]
            return {"hour": str(hour), "minute": f"{minute:02}", "part": "."}, _cut(text, match)
    for pattern in words.clocks:
        if match := re.search(pattern, text):
            return {name: part for name, part in match.groupdict().items() if part}, _cut(text, match)
    return {}, text


def _cut(text: str, match: re.Match[str]) -> str:
    return " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())


def _without_fillers(words: MomentWords, text: str) -> str:
    """Cut the words from both ends of a text that say nothing about its day."""
    before = None
    while text != before:
        before = text
        text = re.sub(rf"^(?:{words.fillers})(?:\b\s*|(?=周|星期))|\s*\b(?:{words.fillers})$", "", text).strip()
    return text


def _day(text: str, code: str, now: datetime) -> datetime | None:
    """Read a day, or a span from now. Numbers alone, and dates whose month nobody can tell, are not read."""
    if not re.search(r"[^\W\d_]", text) and not re.fullmatch(_DATE if code == "en" else _DATE_OR_SLASHES, text):
        return None
    settings = {
        "RELATIVE_BASE": now.replace(microsecond=_RELATIVE),
        "PREFER_DATES_FROM": "future",
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PARSERS": ["relative-time", "absolute-time"],
        **({"DATE_ORDER": "MDY" if code == "zh" else "DMY"} if "/" in text else {}),
    }
    read = DateDataParser(languages=[code], settings=settings).get_date_data(text)
    return read.date_obj if read.period in ("day", "time") else None


def _at(words: MomentWords, time: dict[str, str], day: datetime | None, now: datetime) -> datetime | None:
    """Return a clock time on its day; without one, the next time that the clock shows it."""
    hour, minute = int(time["hour"]), int(time.get("minute") or time.get("after") or ("30" if "half" in time else 0))
    part = time.get("part", "").replace(".", "")
    if part in ("am", "pm") and not 1 <= hour <= 12:
        return None
    if part in words.afternoon:
        hour = hour % 12 + 12
    elif part == "am":
        hour %= 12
    elif "part" not in time and 1 <= hour < _EARLY and not ("minute" in time and len(time["hour"]) == 2):
        hour += 12
    if hour > 23 or minute > 59:
        return None
    moment = (day or now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    if day is None and moment <= now:
        evening = moment + timedelta(hours=12)
        twelve = words.twelve_hours and "part" not in time and 7 <= hour < 12 and now < evening
        moment = evening if twelve and evening.hour < 22 else moment + timedelta(days=1)
    return moment
