"""The arguments of tools from requests in the languages of the tables: the meaning of a match."""

import re
from collections.abc import Callable

from babel import Locale
from babel.dates import get_day_names

from core.json_types import JsonObject
from core.language.catalogue import current_locale
from workbench.demo import briefings
from workbench.demo.days import clock_of, split_day, split_moment
from workbench.demo.intent import Found
from workbench.demo.phrases import Phrases
from workbench.demo.sums import read_sum

type Arguments = Callable[[Found], JsonObject | None]

_LONGEST_ANSWER = 60
_NINE = (9, 0)
_NAME = r"[^\d,.;:?!@\n\uff0c\u3002]{1,40}"


def weather(phrases: Phrases) -> Arguments:
    """Return the reader of a question about the weather: a place, and a day before or after it."""

    def arguments(match: Found) -> JsonObject | None:
        groups = match.groupdict()
        day, place = _day_and_place(f"{groups.get('day') or ''} {groups['rest']}", phrases)
        if not _is_name(place, phrases):
            return None
        return {"city": place, "date": day} if day else {"city": place}

    return arguments


def flights(phrases: Phrases) -> Arguments:
    """Return the reader of a search for flights: the day may be anywhere."""

    def arguments(match: Found) -> JsonObject | None:
        groups = match.groupdict()
        day = (groups.get("day") or "").strip()
        given: JsonObject = {}
        for name in ("origin", "destination"):
            found, place = _day_and_place(groups.get(name) or "", phrases)
            if place and not _is_name(place, phrases):
                return None
            day = day or found
            given |= {name: place} if place else {}
        back = (groups.get("back") or "").strip()
        return given | ({"date": day} if day else {}) | ({"return_date": back} if back else {})

    return arguments


def departure(phrases: Phrases) -> Arguments:
    """Return the reader of an answer to a search's questions: the place and day of departure."""

    def arguments(match: Found) -> JsonObject | None:
        # Any text may be an answer: only a short text in the person's own language is read.
        if current_locale().language != phrases.language or len(match["rest"]) > _LONGEST_ANSWER:
            return None
        day, place = _day_and_place(match["rest"], phrases)
        return {"fields": {"origin": place, "date": day}} if day and place else None

    return arguments


def reminder(phrases: Phrases) -> Arguments:
    """Return the reader of a request for a reminder: its moment and its text."""

    def arguments(match: Found) -> JsonObject | None:
        moment, text = split_moment(match["rest"], phrases.language)
        if not moment and (dated := re.fullmatch(rf"([^,]*?\d[^,]*?)\s*((?:{phrases.about}).+)", text, re.IGNORECASE)):
            moment, text = dated.groups()  # a day that does not exist: the reminder's tool reports it
        given: JsonObject = {"at": moment, "text": _without_about(text, phrases)}
        return {name: value for name, value in given.items() if value}

    return arguments


def repeated(phrases: Phrases) -> Arguments:
    """Return the reader of a request for a repeated task, as ScheduleTask's arguments."""

    def arguments(match: Found) -> JsonObject | None:
        groups = match.groupdict()
        clock, what = split_moment(match["rest"], phrases.language)
        when: JsonObject | None
        if groups.get("unit"):
            hours = groups["unit"].lower().startswith(phrases.hour)
            when, what = {"every_minutes": int(groups.get("number") or 1) * (60 if hours else 1)}, match["rest"]
        else:
            when = _cron(groups["often"].lower(), clock, phrases)
        what = what.strip(" ,\uff0c")
        asked = next((found for one in phrases.remind if (found := re.fullmatch(one, what, re.IGNORECASE))), None)
        if asked:
            what = _without_about(asked["rest"], phrases)
        if when is None or not what:
            return None
        return {"what": what, **when, **({"remind_only": True} if asked else {})}

    return arguments


def repeated_reminder(phrases: Phrases) -> Arguments:
    """Return the reader of a request for a repeated reminder."""
    of = repeated(phrases)

    def arguments(match: Found) -> JsonObject | None:
        found = (re.fullmatch(one, match["rest"], re.IGNORECASE | re.DOTALL) for one in phrases.every)
        made = next((made for one in found if one and (made := of(one))), None)
        if made is None:
            return None
        return made | {"what": _without_about(str(made["what"]), phrases), "remind_only": True}

    return arguments


def briefing(phrases: Phrases) -> Arguments:
    """Return the reader of a request for a repeated briefing, as set_briefing's arguments."""
    of = repeated(phrases)

    def arguments(match: Found) -> JsonObject | None:
        made = of(match)
        if made is None or not re.fullmatch(phrases.briefing, str(made["what"]), re.IGNORECASE):
            return None
        return briefings.of_task(made)

    return arguments


def total(phrases: Phrases) -> Arguments:
    """Return the reader of a sum in words."""
    numbers = enumerate(phrases.numbers.split())
    edge = "" if phrases.language == "zh" else r"\b"
    words = [*phrases.signs, *((f"{edge}{word}{edge}", str(number)) for number, word in reversed([*numbers]))]

    def arguments(match: Found) -> JsonObject | None:
        groups = match.groupdict()
        expression = read_sum(groups["sum"], asked=bool(groups["ask"] or groups.get("before")), words=words)
        return {"expression": expression} if expression else None

    return arguments


def named(match: Found) -> JsonObject | None:
    """Return a match's groups as arguments, a number as an integer."""
    given: JsonObject = {name: text.strip(" ?\uff1f") for name, text in match.groupdict().items() if text}
    return given | ({"number": int(match["number"])} if "number" in given else {})


def _cron(often: str, clock: str, phrases: Phrases) -> JsonObject | None:
    names = get_day_names("wide", "format", Locale.parse(phrases.language))
    days = {name.lower(): str((number + 1) % 7) for number, name in names.items()}
    days |= {f"{name}s": number for name, number in days.items()} | dict(phrases.often)
    time = clock_of(clock, phrases.language) if clock else _NINE
    if often not in days or time is None:
        return None
    return {"cron": f"{time[1]} {time[0]} * * {days[often]}"}


def _day_and_place(text: str, phrases: Phrases) -> tuple[str, str]:
    """Split a day and a place, in either order; either may be empty."""
    day, place = split_day(_bare(text, phrases), phrases.language)
    return day, _bare(place, phrases)


def _is_name(place: str, phrases: Phrases) -> bool:
    """Return whether a text may be a place's name, not the rest of a longer sentence."""
    joined = rf"(?:{phrases.also})" if phrases.language == "zh" else rf"\b(?:{phrases.also})\b"
    return bool(re.fullmatch(_NAME, place)) and not re.search(joined, place, re.IGNORECASE)


def _bare(text: str, phrases: Phrases) -> str:
    return re.sub(rf"^(?:{phrases.place})", "", text.strip(" ,?\uff0c"), flags=re.IGNORECASE).strip(" ,?\uff0c")


def _without_about(text: str, phrases: Phrases) -> str:
    return re.sub(rf"^(?:(?:{phrases.about})\s*)+", "", text, flags=re.IGNORECASE).strip()
