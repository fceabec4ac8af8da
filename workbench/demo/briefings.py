"""The demo model's understanding of the briefing: patterns, and the arguments from a match."""

import re

from core.json_types import Json, JsonObject
from workbench.demo import decisions, schedules
from workbench.demo.intent import Found, Intent

_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = {"*": "every day", "1-5": "weekdays", "0,6": "weekends", "6,0": "weekends"}
_THE = r"(?:(?:a|my|the) )?(?:daily |morning )?briefing"
_SEND = r"(?:(?:send|give|text|tell|get)(?: me)? |i (?:want|would like) |set up |i'd like )?"
_PARTS = {
    "weather": "weather",
    "calendar": "calendar",
    "events": "calendar",
    "mail": "mail",
    "email": "mail",
    "emails": "mail",
    "mails": "mail",
    "reminders": "reminders",
    "tasks": "reminders",
    "approvals": "waiting",
    "questions": "waiting",
}
_OFTEN = r"every ?day|daily|on weekdays|every weekday|on weekends"
WHAT = rf"{_SEND}{_THE}"
AT = rf"{_SEND}{_THE}(?: (?P<often>{_OFTEN}))? at (?P<clock>\d{{1,2}}(?:[:.]\d\d)?(?: ?[ap]m)?)(?: (?P<also>{_OFTEN}))?"
DAYS = rf"{_SEND}{_THE} (?P<often>{_OFTEN})"
WITHOUT = rf"{_SEND}{_THE} without (?P<parts>(?:(?:the |my )?(?:{'|'.join(_PARTS)})(?:,? and |, |$)?)+)"
LESS = WITHOUT.replace(rf"{_SEND}{_THE} ", "", 1)
ALL_AGAIN = r"with everything(?: again)?"
"""Said of the briefing that was just sent."""
WITH_ALL = rf"{_SEND}{_THE} with everything"
NOW = rf"{_SEND}{_THE}(?: now| please)?|brief me(?: now)?|what(?:'s| is) in {_THE}"


def days_of(field: str) -> str:
    """Return the days of cron's field as set_briefing names them."""
    return _FIELDS.get(field) or ",".join(_NAMES[int(day)] for day in field.split(",") if day.isdecimal())


def every(match: Found) -> JsonObject | None:
    """Return set_briefing's arguments for "every morning at 7 send me a briefing"; None for anything else."""
    if not re.fullmatch(WHAT, match["what"].strip(), re.IGNORECASE):
        return None
    made = schedules.every(match)
    return of_task(made) if made else None


def of_task(made: JsonObject) -> JsonObject | None:
    """Return set_briefing's arguments in place of ScheduleTask's; None for a task that runs every so many minutes."""
    minute, hour, *_, field = str(made.get("cron") or "").split() or ("", "", "")
    if not (minute.isdecimal() and hour.isdecimal()):
        return None
    return {"clock": f"{int(hour):02}:{int(minute):02}", "days": days_of(field)}


def at(match: Found) -> JsonObject:
    """Return set_briefing's arguments for "a morning briefing at 8 on weekdays"."""
    given = match.groupdict()
    often = (given.get("often") or given.get("also") or "").lower()
    days = "weekdays" if "weekday" in often else "weekends" if "weekend" in often else "every day" if often else ""
    clock: JsonObject = {"clock": given["clock"]} if given.get("clock") else {}
    return clock | ({"days": days} if days else {})


def without(match: Found) -> JsonObject:
    """Return set_briefing's arguments for "my briefing without the weather"."""
    words = re.findall(r"\w+", match["parts"].lower())
    parts: list[Json] = [*dict.fromkeys(_PARTS[word] for word in words if word in _PARTS)]
    return {"without": parts}


ENGLISH = (
    Intent(schedules.EVERY, "set_briefing", every, example="every morning at 7 send me a briefing"),
    Intent(AT, "set_briefing", at),
    Intent(DAYS, "set_briefing", at),
    Intent(WITHOUT, "set_briefing", without),
    Intent(WITH_ALL, "set_briefing", lambda _: {"without": []}),
    Intent(LESS, "set_briefing", without, after=decisions.BRIEFINGS),
    Intent(ALL_AGAIN, "set_briefing", lambda _: {"without": []}, after=decisions.BRIEFINGS),
    Intent(NOW, "brief_me", lambda _: {}),
)
