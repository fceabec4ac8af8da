"""Triggers in words, for the person to confirm, in their language."""

import json
import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from abilities.tasks.codec import StoredTrigger, UnreadableTrigger
from abilities.tasks.cron_words import before_in_words, cron_in_words, listed_plainly
from abilities.tasks.kinds.condition import ConditionTrigger, Mode
from abilities.tasks.kinds.event import EventTrigger, is_about_mail
from abilities.tasks.kinds.schedule import ScheduleTrigger, wall_moment
from abilities.tasks.presence_words import USUAL_MINUTES, presence_in_words
from core.json_types import Json
from core.language.catalogue import gettext, gettext_noop, listed, name_in_words, ngettext
from core.language.times import interval_in_words, moment_in_words, number_in_words

_MAX_VALUE = 200
_CAMEL = re.compile(r"(?:[A-Z][a-z0-9]+)+")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLAIN_PATH = re.compile(r"\$(?:\.[A-Za-z]+)+")
_SIGNS = {
    "<": gettext_noop("is under"),
    "<=": gettext_noop("is at most"),
    ">": gettext_noop("is over"),
    ">=": gettext_noop("is at least"),
    "==": gettext_noop("is"),
    "!=": gettext_noop("is not"),
}
_EQUALS = gettext_noop("{field} is {value}")
_COMPARED = {
    "eq": _EQUALS,
    "ne": gettext_noop("{field} is not {value}"),
    "gt": gettext_noop("{field} is over {value}"),
    "gte": gettext_noop("{field} is at least {value}"),
    "lt": gettext_noop("{field} is under {value}"),
    "lte": gettext_noop("{field} is at most {value}"),
    "in": gettext_noop("{field} is one of {value}"),
    "contains": gettext_noop("{field} contains {value}"),
    "starts_with": gettext_noop("{field} begins with {value}"),
    "ends_with": gettext_noop("{field} ends with {value}"),
}

_OF_MAIL = {
    "from": gettext_noop("the sender"),
    "from_name": gettext_noop("the sender's name"),
    "from_address": gettext_noop("the sender's address"),
    "to": gettext_noop("the recipients"),
    "subject": gettext_noop("the subject"),
    "text": gettext_noop("the text"),
    "account": gettext_noop("the account"),
}
"""The names of the fields of a mail's event."""


def in_words(trigger: StoredTrigger, zone: ZoneInfo) -> str:
    """Return when a trigger is due, such as "every weekday at 08:00 (Europe/Berlin)"."""
    match trigger:
        case UnreadableTrigger():
            return gettext("at a time that can no longer be read")
        case ScheduleTrigger():
            return _schedule(trigger, trigger.zone(zone.key))
        case EventTrigger():
            return listed_plainly([_event(trigger), *_ends(None, trigger.count, zone)])
        case ConditionTrigger():
            return listed_plainly([*_condition(trigger), *_ends(trigger.until, trigger.count, zone)])


def value_in_words(value: Json) -> str:
    """Return a value for a sentence: nothing is made of texts, numbers have the language's separators."""
    match value:
        case None:
            text = gettext("nothing")
        case True:
            text = gettext("true")
        case False:
            text = gettext("false")
        case int() | float():
            text = number_in_words(value, grouped=False)
        case str():
            text = value
        case _:
            text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"


def _schedule(trigger: ScheduleTrigger, zone: ZoneInfo) -> str:
    if trigger.at is not None:
        moment = f"{moment_in_words(wall_moment(trigger.at, zone), zone)} ({zone.key})"
        words = gettext("once, on {moment}", moment=moment)
    elif trigger.interval_minutes is not None:
        words = f"{interval_in_words(timedelta(minutes=trigger.interval_minutes))} ({zone.key})"
    else:
        when = before_in_words(trigger.cron, trigger.days_before) if trigger.days_before else ""
        words = f"{when or cron_in_words(trigger.cron, trigger.every or 1)} ({zone.key})"
    count = trigger.count if trigger.at is None else None
    return listed_plainly([words, *_ends(trigger.until, count, zone)])


def _ends(until: datetime | None, count: int | None, zone: ZoneInfo) -> list[str]:
    ends: list[str] = []
    if until is not None:
        ends.append(gettext("until {moment}", moment=moment_in_words(wall_moment(until, zone), zone)))
    if count is not None:
        ends.append(
            gettext("once") if count == 1 else ngettext("{number} time at most", "{number} times at most", count)
        )
    return ends


def _event(trigger: EventTrigger) -> str:
    if is_about_mail(trigger):
        happens = gettext("when mail comes in")
    elif trigger.type == trigger.source == "*":
        happens = gettext("when something happens anywhere")
    elif trigger.type == "*":
        happens = gettext("when something happens in {source}", source=trigger.source)
    elif trigger.source == "*":
        happens = gettext("when {type} happens anywhere", type=trigger.type)
    else:
        happens = gettext("when {type} happens in {source}", type=trigger.type, source=trigger.source)
    names = _OF_MAIL if is_about_mail(trigger) else {}
    wanted = [
        words
        for field, value in trigger.filter.items()
        for words in _filter(gettext(names[field]) if field in names else field, value)
    ]
    return gettext("{event}, and {wanted}", event=happens, wanted=listed(wanted)) if wanted else happens


def _filter(field: str, wanted: Json) -> list[str]:
    if not isinstance(wanted, dict):
        return [gettext(_EQUALS, field=field, value=value_in_words(wanted))]
    return [_comparison(field, name, other) for name, other in wanted.items()]


def _comparison(field: str, name: str, other: Json) -> str:
    if name == "exists":
        return gettext("{field} is there", field=field) if other else gettext("{field} is missing", field=field)
    return gettext(_COMPARED[name], field=field, value=value_in_words(other))


def _condition(trigger: ConditionTrigger) -> list[str]:
    looked_at = trigger.url or _tool(trigger.tool or "")
    looked_at += f" ({_path(trigger.path)})" if trigger.path else ""
    often = interval_in_words(timedelta(minutes=trigger.every_minutes))
    if presence := presence_in_words(trigger):
        parts = [presence]
        if trigger.every_minutes != USUAL_MINUTES:
            parts.append(gettext("looked at {often}", often=often))
        return [*parts, *_pauses(trigger)]
    fields = {"expression": _expression(trigger.expression), "place": looked_at, "often": often}
    if trigger.mode is Mode.EDGE:
        parts = [gettext("when it becomes true that {expression}, looking at {place} {often}", **fields)]
    else:
        parts = [gettext("when it is found true that {expression}, looking at {place} {often}", **fields)]
    return [*parts, *_pauses(trigger)]


def _pauses(trigger: ConditionTrigger) -> list[str]:
    parts: list[str] = []
    if trigger.reset:
        parts.append(gettext("told again after {expression}", expression=_expression(trigger.reset)))
    if trigger.min_gap_minutes:
        gap = interval_in_words(timedelta(minutes=trigger.min_gap_minutes))
        parts.append(gettext("at most {often}", often=gap))
    return parts


def _tool(name: str) -> str:
    """Return a tool's or an agent's name as words: "get weather", and "flight search" for FlightSearchAgent."""
    known = name_in_words(name)
    if known != name or not _CAMEL.fullmatch(name):
        return known
    return _BETWEEN_WORDS.sub(" ", name.removesuffix("Agent")).lower()


def _path(path: str) -> str:
    """Return a path by plain names as these names, "cheapest price" for $.cheapest.price; any other as it is."""
    return " ".join(path.split(".")[1:]) if _PLAIN_PATH.fullmatch(path) else path


def _expression(text: str) -> str:
    """Return an expression with its comparisons in words; quoted text stays."""
    return re.sub(r""" *("[^"]*"|'[^']*'|[<>=!]=|[<>]) *""", lambda match: _operator(match[0], match[1]), text).strip()


def _operator(whole: str, sign: str) -> str:
    return f" {gettext(_SIGNS[sign])} " if sign in _SIGNS else whole
