"""The demo model's understanding of the calendar, in English: patterns, and the arguments from a match."""

from collections.abc import Mapping
from dataclasses import replace

from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from workbench.demo.days import DAY
from workbench.demo.intent import Found, Intent
from workbench.demo.schedules import MOMENT

_WHEN = rf"(?: (?:on |for )?(?:(?P<day>{DAY})|(?P<week>this week|the week|next week)))?"
_CALENDAR = r"(?:in|into|to|on|from) (?:my |the )?calendar"
ON = rf"what(?:'s| is|'ve i got| have i got| do i have) (?:on|{_CALENDAR}){_WHEN}"
MINE = rf"(?:(?:show|read|check)(?: me)? )?my (?:calendar|events|appointments|meetings){_WHEN}"
NEXT = r"(?:when is|when's|what is|what's) my next (?:meeting|event|appointment)"
FREE = rf"(?:when )?am i free{_WHEN}|when do i have time{_WHEN.replace('<day>', '<also>').replace('<week>', '<whole>')}"
ADD = rf"(?:add|put|enter) (?P<title>.+?) {_CALENDAR},? (?:for |on )?(?P<start>{MOMENT})"
ADD_AT = rf"(?:add|put|enter) (?P<title>.+?) (?P<start>{MOMENT}) {_CALENDAR}"
MAKE = (
    rf"(?:create|make|add|schedule)(?: an?)? (?:event|appointment|meeting)[:,]? (?:called |named )?(?P<title>.+?)"
    rf" (?P<start>{MOMENT})"
)
MOVE = rf"(?:move|reschedule) (?:the |my )?(?P<event>(?!it |that )[^,;:]+?) to (?P<start>{MOMENT})"
CANCEL = rf"(?:cancel|delete|remove) (?:the |my )?(?:event |appointment )?(?P<event>[^,;:]+?) {_CALENDAR}"
NOTHING = gettext_noop("There is nothing in your calendar then.")


def days(match: Found) -> JsonObject:
    """Return the requested days: a single day, or those of a week."""
    given = match.groupdict()
    if week := (given.get("week") or given.get("whole")):
        return {"day": "next monday" if week.lower().startswith("next") else "today", "days": 7}
    day = (given.get("day") or given.get("also") or "").strip()
    return {"day": day, "days": 1} if day else {}


def listed(match: Found, arguments: JsonObject) -> Mapping[str, str]:
    """Return a result without the parts that only a model needs."""
    _, _, lines = match[0].partition("\n")
    return {"lines": lines.strip() or gettext(NOTHING)}


LIST = Intent("", "list_events", days, phrase="{lines}", shown=listed)
FREE_TIME = replace(LIST, tool="find_free_time")
"""The intent behind patterns of other languages."""
ENGLISH = (
    replace(LIST, pattern=ON, example="what's on tomorrow?"),
    replace(LIST, pattern=MINE),
    replace(LIST, pattern=NEXT, tool="find_events", arguments=lambda _: {}),
    replace(FREE_TIME, pattern=FREE),
    Intent(ADD, "create_event"),
    Intent(ADD_AT, "create_event"),
    Intent(MAKE, "create_event"),
    Intent(MOVE, "change_event"),
    Intent(CANCEL, "cancel_event"),
)
