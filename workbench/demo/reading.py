"""The demo model's arguments for calls, made of a phrase's match: days, moments, sums, and the texts of mails."""

import ast
import re
from datetime import date, datetime
from textwrap import shorten

from core.json_types import Json, JsonObject
from workbench.demo.phrase import RESULTS, Found

_WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_NUMBER = r"\d{1,2}(?:st|nd|rd|th)?"
DAY = (
    rf"(?:today|tonight|tomorrow|(?:this |next |on )?(?:{'|'.join(_WEEKDAYS)})"
    rf"|(?:on )?(?:\d{{4}}-\d\d-\d\d|{_MONTH} {_NUMBER}|(?:the )?{_NUMBER} (?:of )?{_MONTH}))"
)
CLOCK = r"(?:\d{1,2}(?:[:.]\d{2})?\s*(?:am|pm)?|noon|midnight)"
MOMENT = (
    r"(?:in (?:\d{1,4}|an?|half an) (?:minute|hour|day|week)s?|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"
    rf"|{DAY}(?: at)? {CLOCK}|(?:at )?{CLOCK}(?: {DAY})?|{DAY})"
)
EVERY = (
    rf"every (?P<often>day|weekday|{'|'.join(_WEEKDAYS)}|morning|evening"
    rf"|(?P<number>\d{{1,4}}) (?P<unit>minute|hour)s)(?: at (?P<at>{CLOCK}))?,?"
)
DAYS = ("date", "return_date")
"""Arguments that hold a day, as a date."""
ADDRESS = r"[^\s,;:<>()@]+@[^\s,;:<>()@]+\.[a-z]{2,}"
_HOURS = {"morning": 8, "evening": 19}
_WORDS = (
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\s*(?:%|\bper ?cent\b) of ", " / 100 * "),
    (r"\b(?:the )?square root of (\d[\d.]*)", r"sqrt(\1)"),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\btimes\b|[×·]|(?<=\d )x(?= \d)", "*"),
    (r"\bdivided by\b|÷", "/"),
)
_ALLOWED = re.compile(r"(?:sqrt\(|[\d.()+\-*/%^ ])+")
_IS_SUM = re.compile(r"[\d)] ?[*+^] ?[\d(.-]|[\d)] [-/%] [\d(.-]|sqrt")
"""Dates and telephone numbers are no sums, unless a person asks for the result."""


def dated(arguments: JsonObject, now: datetime | None) -> JsonObject | None:
    """Replace named days by dates; return None if a day cannot be read."""
    if isinstance(fields := arguments.get("fields"), dict):
        inner = dated(fields, now)
        return None if inner is None else arguments | {"fields": inner}
    days = {name: _day(str(arguments[name]), now) for name in DAYS if name in arguments}
    return None if None in days.values() else arguments | {name: str(day) for name, day in days.items()}


def _day(text: str, now: datetime | None) -> date | None:
    from abilities.moments.moments import read_day

    if now is not None:
        return read_day(text, now, "en")
    return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None


def zone(match: Found) -> JsonObject | None:
    """Return the arguments for the time at a place; None if the place is unknown."""
    named = _zone(match["place"]) if match["place"] else ""
    return {} if not match["place"] else {"timezone": named} if named else None


def city(match: Found) -> JsonObject | None:
    """Return a city as the answer to a question; None if it is unknown."""
    return {"words": match["place"].strip()} if _zone(match["place"]) else None


def _zone(place: str) -> str:
    from abilities.moments.places import zone_named

    return zone_named(place)


def expression(match: Found) -> JsonObject | None:
    """Return a sum in words as an expression; None if it is no sum."""
    text = match["sum"].lower()
    for word, sign in _WORDS:
        text = re.sub(word, sign, text)
    text = " ".join(text.split())
    operator = re.search(r"[-+*/%^]|sqrt", text) if match["ask"] else _IS_SUM.search(text)
    if len(text) > 200 or not (_ALLOWED.fullmatch(text) and operator and re.search(r"\d", text)):
        return None
    try:
        ast.parse(text.replace("^", "**"), mode="eval")
    except SyntaxError:
        return None
    return {"expression": text}


def number(match: Found) -> JsonObject:
    """Return the number of a note."""
    return {"number": int(match["number"])}


def fields(match: Found) -> JsonObject:
    """Return the fields that an answer to an agent gives."""
    return {"fields": {name: text.strip() for name, text in match.groupdict().items() if text}}


def email(match: Found) -> JsonObject:
    """Return the arguments of an email; without a subject, the text's beginning is used."""
    given = match.groupdict()
    body = (given.get("body") or "").strip()
    subject = (given.get("subject") or "").strip() or shorten(body.partition("\n")[0], 50, placeholder=" …")
    mail: JsonObject = {"recipient": _addresses(match["to"]), "subject": subject[:1].upper() + subject[1:]}
    return mail | ({"body": body[:1].upper() + body[1:]} if body else {})


def email_of_both(match: Found) -> JsonObject:
    """Return the arguments of an email to which somebody else must agree, too."""
    return {"who": match["who"], "action": "SendEmailAgent", "arguments": email(match)}


def results(match: Found) -> JsonObject:
    """Return the arguments of an email with the results of the other phrases."""
    return {"recipient": _addresses(match["to"] or match["too"]), "subject": "For your information", "body": RESULTS}


def _addresses(text: str) -> list[Json]:
    return [*re.findall(ADDRESS, text, re.IGNORECASE)]


def every(match: Found) -> JsonObject | None:
    """Return the arguments of a repeated task; None if its time cannot be read."""
    made: JsonObject = {"what": match["what"].strip()} | ({"remind_only": True} if match["remind"] else {})
    if match["number"]:
        return made | {"every_minutes": int(match["number"]) * (60 if match["unit"].lower() == "hour" else 1)}
    time = _time(match)
    return made | {"cron": f"{time[1]} {time[0]} * * {_weekday(match)}"} if time else None


def _weekday(match: Found) -> str:
    often = match["often"].lower()
    return "1-5" if often == "weekday" else str(_WEEKDAYS.index(often)) if often in _WEEKDAYS else "*"


def _time(match: Found) -> tuple[int, int] | None:
    return clock(match["at"]) if match["at"] else (_HOURS.get(match["often"].lower(), 9), 0)


def clock(text: str) -> tuple[int, int] | None:
    """Return the hour and the minute of a time of day; None if it is none."""
    text = text.strip().lower().replace("noon", "12:00").replace("midnight", "0:00")
    found = re.fullmatch(r"(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm)?", text)
    hour, minute = (int(found[1]), int(found[2] or 0)) if found else (24, 0)
    if found and found[3]:
        hour = hour % 12 + (12 if found[3] == "pm" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None


def days(match: Found) -> JsonObject:
    """Return the days that are looked at in a calendar: a single day, or those of a week."""
    week, day = match["week"], (match["day"] or "").strip()
    if week:
        return {"day": "next monday" if week.lower().startswith("next") else "today", "days": 7}
    return {"day": day, "days": 1} if day else {}
