"""The demo model's understanding of decisions in words about pending actions: patterns and arguments."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

from core.approvals.outcomes import DecisionOutcome, decided_text
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext_noop, name_in_words
from core.language.yes_no import read_yes_or_no
from core.turns.prompt_lines import PENDING, PENDING_BY_CODE, pattern_of
from workbench.demo.days import clock_of
from workbench.demo.intent import LAST, Found, Intent
from workbench.demo.transcript import BRIEFED, Done

_REMINDERS = ("remind_me", "ScheduleTask", "change_reminder")
BRIEFINGS = ("set_briefing", BRIEFED)
"""The tools after which a change in words is about the briefing."""
YES = r"yes(?: please| do)?|yep|yeah|sure|ok(?:ay)?|do it|go ahead|please do|that's right"
NO = r"no|nope"
_CODE = "{code}"
_SEVERAL = "{several}"
"""The argument of a bare yes or no if several actions may be meant."""
_SET = r"(?:change|make|set)(?: the)? "
_TO = r"(?: to be| to| as|\s*[:=])?\s+"
CODED = r"edit (?P<code>\d[a-z][0-9a-z]?)[:,]?\s+"
MAKE = rf"(?:{CODED})?make it (?:at )?(?P<value>.+)"
EDIT_FIELD = rf"{CODED}(?P<field>[^\W\d][\w' ()\uff08\uff09-]*?)\s*[:=\uff1a]\s*(?P<value>.+)"
EDIT = rf"{CODED}(?:{_SET})?(?:the )?(?P<field>[^\W\d]\w*){_TO}(?P<value>.+)"
UNCLEAR = rf"{CODED}.+"
NAME_IT = gettext_noop("Tell me what to change about {code} by its name, such as: EDIT {code} subject: Late")
CHANGE = rf"{_SET}(?P<field>[a-z_]+)(?: to be| to|\s*[:=])\s+(?P<value>.+)"


def decided(verb: str) -> JsonObject:
    """Return the arguments of a decision about the only pending action; `coded` fills in its code."""
    return {"decisions": [{"code": _CODE, "decision": verb}]}


def changed(match: Found) -> JsonObject:
    """Return the arguments of a change in words, for the action with its code or for the only pending action."""
    groups = match.groupdict()
    code = groups.get("code")
    changes: JsonObject = {(groups.get("field") or "").strip().lower(): match["value"].strip().strip("\"'“”„«»")}
    return {"decisions": [{"code": code.upper() if code else _CODE, "decision": "edit", "changes": changes}]}


def moved(match: Found, language: str) -> JsonObject | None:
    """Return change_reminder's arguments for "make it 4pm", said of a reminder; None if it is not a moment."""
    value = match["value"].strip()
    return {"which": LAST, "at": value} if clock_of(value, language) else None


def briefed(match: Found, language: str) -> JsonObject | None:
    """Return set_briefing's arguments for "make it 7:30", said of the briefing; None if it is not a time of day."""
    value = match["value"].strip()
    return {"clock": value} if clock_of(value, language) else None


def made(pattern: str, language: str = "en") -> tuple[Intent, ...]:
    """Return the meanings of a change in words without a pending action: it is about the last answer."""
    return (
        Intent(pattern, "change_reminder", partial(moved, language=language), after=_REMINDERS, language=language),
        Intent(pattern, "set_briefing", partial(briefed, language=language), after=BRIEFINGS, language=language),
    )


def pointed(arguments: JsonObject, last: Done | None) -> JsonObject:
    """Fill in the words of the last answer's subject."""
    if last is None or LAST not in arguments.values():
        return arguments
    given = last.arguments if isinstance(last.arguments, dict) else {}
    words = next((given[name] for name in ("text", "what", "which") if given.get(name)), "")
    return {name: words if value == LAST else value for name, value in arguments.items()}


def which(patterns: Sequence[str], language: str = "en") -> tuple[Intent, ...]:
    """Return the reply to a bare yes or no with several pending actions: the words for each of them."""
    asked: JsonObject = {_SEVERAL: True}
    return tuple(Intent(one, arguments=lambda _: asked, say="{lines}", language=language) for one in patterns)


def read_pending(prompt: str) -> tuple[dict[str, JsonObject], dict[str, str]]:
    """Return the pending actions' arguments by code, and the headings of those that words can decide, by code."""
    waiting: dict[str, JsonObject] = {}
    in_words: dict[str, str] = {}
    for line_format in (PENDING_BY_CODE, PENDING):
        for match in re.finditer(f"^{pattern_of(line_format)}$", prompt, re.MULTILINE):
            if match["code"] not in waiting:
                waiting[match["code"]] = _arguments(match["action"])
                in_words |= {match["code"]: match["summary"]} if line_format == PENDING else {}
    return waiting, in_words


def coded(
    arguments: JsonObject, waiting: Mapping[str, JsonObject], in_words: Mapping[str, str], language: str
) -> JsonObject | None:
    """Fill in the code of the decided action and the types of its fields; None unless exactly one can be meant."""
    if _SEVERAL in arguments:
        lines = [decided_text(DecisionOutcome.NEEDS_CODE, *action) for action in in_words.items()]
        return {"lines": "\n".join(lines)} if len(lines) > 1 else None
    if "decisions" not in arguments:
        return arguments
    [decision] = cast(list[JsonObject], arguments["decisions"])
    if decision["code"] == _CODE and len(in_words) != 1:
        return None
    code = next(iter(in_words)) if decision["code"] == _CODE else str(decision["code"])
    if code not in in_words:
        return None
    changes = cast(JsonObject, decision.get("changes", {}))
    typed: JsonObject = {}
    for said, value in changes.items():
        name = _field(said, waiting[code])
        if name is None:
            return None
        typed[name] = _typed(str(value), waiting[code].get(name))
        if name == "cron" and not said:
            clock = clock_of(str(value), language)
            if clock is None:
                return None
            typed[name] = " ".join([str(clock[1]), str(clock[0]), *str(waiting[code][name]).split()[2:]])
    return {"decisions": [decision | {"code": code} | ({"changes": typed} if typed else {})]}


def _field(said: str, arguments: JsonObject) -> str | None:
    """Return the name of the argument that a card calls so in the person's language, or that a bare time is of."""
    if not said:
        return next((name for name in ("at", "cron") if arguments.get(name)), None)
    labels = {name_in_words(name).casefold(): name for name in arguments}
    return labels.get(said.casefold(), said.replace(" ", "_") if said.replace(" ", "_") in arguments else None)


def _arguments(action: str) -> JsonObject:
    return cast(JsonObject, json.loads(action[action.index("{") :]))


def _typed(value: str, before: Json) -> Json:
    """Return a value in the type of the value that it replaces; as text if it cannot be read so."""
    if isinstance(before, list):
        return [part.strip() for part in re.split(r"[,\u3001\uff0c]| (?:and|und|y|et|e) ", value) if part.strip()]
    if isinstance(before, bool):
        truth = read_yes_or_no(value)
        return value if truth is None else truth
    if isinstance(before, int | float) and re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        return float(value) if "." in value else int(value)
    return value
