"""The demo model's understanding of lists, in English: patterns, and the arguments from a match."""

import re

from core.json_types import Json, JsonObject

type Found = re.Match[str]

_LIST = r"(?:the |my )?(?P<list_name>[a-z-]+(?: [a-z-]+)?) list"
ADD = rf"(?:put|add) (?P<items>.+?) (?:on|to|onto) {_LIST}"
SHOW = rf"(?:what(?:'s| is) on|show(?: me)?) {_LIST}"
TICK = rf"(?:tick(?: off)?|cross(?: off)?|check off) (?P<items>.+?)(?: off)?(?: (?:on|from) {_LIST})?"
CHECK = rf"check (?P<items>.+?) off(?: (?:on|from) {_LIST})?"
CHECK_ON = rf"check (?P<items>.+?) (?:on|from) {_LIST}"
""""Check" is also said of the weather, so the list, or "off", makes the meaning clear."""


def added(match: Found) -> JsonObject:
    """Return add_to_list's arguments."""
    return {"list_name": match["list_name"], "items": _parts(match["items"])}


def ticked(match: Found) -> JsonObject:
    """Return tick_off's arguments."""
    return {"items": _parts(match["items"]), **({"list_name": match["list_name"]} if match["list_name"] else {})}


def _parts(text: str) -> list[Json]:
    return [part.strip() for part in re.split(r",| and ", text) if part.strip()]
