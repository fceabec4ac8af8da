"""Triggers in words, for the person to confirm."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from core.json_types import Json
from core.language.times import interval_in_words, moment_in_words
from core.triggers.codec import StoredTrigger, UnreadableTrigger
from core.triggers.kinds.condition import ConditionTrigger, Mode
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import ScheduleTrigger, wall_moment

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIGNS = {"<": "is under", "<=": "is at most", ">": "is over", ">=": "is at least", "==": "is", "!=": "is not"}
_COMPARED = {
    "eq": "is",
    "ne": "is not",
    "gt": "is over",
    "gte": "is at least",
    "lt": "is under",
    "lte": "is at most",
    "in": "is one of",
    "contains": "contains",
    "starts_with": "begins with",
    "ends_with": "ends with",
}


def in_words(trigger: StoredTrigger, zone: ZoneInfo) -> str:
    """Return when a trigger is due, such as "every weekday at 08:00 (Europe/Berlin)"."""
    match trigger:
        case UnreadableTrigger():
            return "at a time that can no longer be read"
        case ScheduleTrigger():
            return _schedule(trigger, trigger.zone(zone.key))
        case EventTrigger():
            return ", ".join([_event(trigger), *_ends(None, trigger.count, zone)])
        case ConditionTrigger():
            return ", ".join([_condition(trigger), *_ends(trigger.until, trigger.count, zone)])


def value_in_words(value: Json) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _schedule(trigger: ScheduleTrigger, zone: ZoneInfo) -> str:
    if trigger.at is not None:
        words = f"once, on {moment_in_words(wall_moment(trigger.at, zone), zone)}"
    elif trigger.interval_minutes is not None:
        words = interval_in_words(timedelta(minutes=trigger.interval_minutes))
    else:
        words = _cron(trigger.cron)
    count = trigger.count if trigger.at is None else None
    return ", ".join([f"{words} ({zone.key})", *_ends(trigger.until, count, zone)])


def _ends(until: datetime | None, count: int | None, zone: ZoneInfo) -> list[str]:
    end = [f"until {moment_in_words(wall_moment(until, zone), zone)}"] if until is not None else []
    return end + ([] if count is None else ["once"] if count == 1 else [f"{count} times at most"])


def _cron(text: str) -> str:
    fields = text.split()
    if len(fields) == 5 and fields[0].isdecimal() and fields[1].isdecimal() and fields[2:4] == ["*", "*"]:
        days = _days(fields[4])
        if days:
            return f"{days} at {int(fields[1]):02}:{int(fields[0]):02}"
    aliases = {"@hourly": "every hour", "@daily": "every day at 00:00", "@weekly": "every Sunday at 00:00"}
    if text.lower() in aliases:
        return aliases[text.lower()]
    explained = CronSim(text, datetime(2000, 1, 1)).explain() if len(fields) == 5 else text  # noqa: DTZ001 - unused
    return explained[:1].lower() + explained[1:]


def _days(text: str) -> str:
    if text == "*":
        return "every day"
    names = {"1-5": "every weekday", "MON-FRI": "every weekday", "0,6": "every weekend day", "6,0": "every weekend day"}
    if text.upper() in names:
        return names[text.upper()]
    days: list[str] = []
    for part in text.split(","):
        short = [day for day in _DAYS if day[:3].upper() == part.upper()]
        if part.isdecimal() and int(part) <= 7:
            days.append(_DAYS[int(part)])
        elif short:
            days.append(short[0])
        else:
            return ""
    return "every " + (days[0] if len(days) == 1 else f"{', '.join(days[:-1])} and {days[-1]}")


def _event(trigger: EventTrigger) -> str:
    kind = "something" if trigger.type == "*" else trigger.type
    source = "anywhere" if trigger.source == "*" else trigger.source
    happens = f"when {kind} happens in {source}"
    wanted = [f"{name} {_filter(value)}" for name, value in trigger.filter.items()]
    return f"{happens}, and {' and '.join(wanted)}" if wanted else happens


def _filter(wanted: Json) -> str:
    if not isinstance(wanted, dict):
        return f"is {value_in_words(wanted)}"
    return " and ".join(
        ("is there" if other else "is missing") if name == "exists" else f"{_COMPARED[name]} {value_in_words(other)}"
        for name, other in wanted.items()
    )


def _condition(trigger: ConditionTrigger) -> str:
    place = f"{trigger.url or trigger.tool}{f' ({trigger.path})' if trigger.path else ''}"
    often = interval_in_words(timedelta(minutes=trigger.every_minutes))
    verb = "becomes" if trigger.mode is Mode.EDGE else "is found"
    parts = [f"when it {verb} true that {_expression(trigger.expression)}, looking at {place} {often}"]
    if trigger.reset:
        parts.append(f"told again after {_expression(trigger.reset)}")
    if trigger.min_gap_minutes:
        parts.append(f"at most {interval_in_words(timedelta(minutes=trigger.min_gap_minutes))}")
    return ", ".join(parts)


def _expression(text: str) -> str:
    """Return an expression with its comparisons in words; quoted text stays."""
    return re.sub(r""" *("[^"]*"|'[^']*'|[<>=!]=|[<>]) *""", lambda match: _operator(match[0], match[1]), text).strip()


def _operator(whole: str, sign: str) -> str:
    return f" {_SIGNS[sign]} " if sign in _SIGNS else whole
