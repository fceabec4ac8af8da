"""Watches of the person's own place, in words: the tool that they look with tells them from others."""

import re

from abilities.tasks.kinds.condition import ConditionTrigger, Mode
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop

USUAL_MINUTES = 2
"""The pause between looks that is not worth a word."""
_TOOL, _PATH = "at_place", "$.here"
_WORDS = {
    "value": gettext_noop("when you are at {place}"),
    "not value": gettext_noop("when you are not at {place} any more"),
}
_SEEN = {True: gettext_noop("at {place}"), False: gettext_noop("not at {place}")}
_PLAIN = re.compile(r"\w+(?:[ '’-]\w+)*")


def is_of_place(expression: str, tool: str | None, path: str | None, arguments: JsonObject | None) -> bool:
    """Return whether a watch waits until the person is at a saved place, or is not any more."""
    place = (arguments or {}).get("place")
    # A name with a comma could pass for more of the sentence.
    is_plain = isinstance(place, str) and _PLAIN.fullmatch(place) is not None and len(arguments or {}) == 1
    return is_plain and (tool, path) == (_TOOL, _PATH) and expression in _WORDS


def presence_in_words(trigger: ConditionTrigger) -> str:
    """Return when such a watch tells, "when you are at the office"; empty for any other."""
    if not _waits_there(trigger) or trigger.mode is not Mode.EDGE:
        return ""
    return gettext(_WORDS[trigger.expression], place=trigger.arguments["place"])


def presence_seen(trigger: ConditionTrigger, value: Json) -> str:
    """Return the reading of a watch of presence, "at the office"; empty for any other watch."""
    if not _waits_there(trigger):
        return ""
    return gettext(_SEEN[value], place=trigger.arguments["place"]) if isinstance(value, bool) else gettext("unknown")


def _waits_there(trigger: ConditionTrigger) -> bool:
    return is_of_place(trigger.expression, trigger.tool, trigger.path, trigger.arguments)
