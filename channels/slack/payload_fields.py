"""Read fields of Slack's JSON by type; a missing field or another type refuses the request."""

import re

from core.errors import RequestRefused
from core.json_types import Json, JsonObject

TEAM = re.compile(r"[TE][A-Z0-9]{2,30}")
APP = re.compile(r"A[A-Z0-9]{2,30}")
USER = re.compile(r"[UW][A-Z0-9]{2,30}")
CHANNEL = re.compile(r"[CDG][A-Z0-9]{2,30}")
EVENT = re.compile(r"Ev[A-Za-z0-9]{1,40}")
TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,6}")
TOKEN = re.compile(r"[!-~]{1,255}")
REACTION = re.compile(r"\S{1,255}")
WORD = re.compile(r"[a-z][a-z0-9_.]{0,79}")


def objects_at(owner: JsonObject, name: str) -> list[JsonObject]:
    """Return a list of objects, empty if there is none. Raises `RequestRefused`."""
    value = owner.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RequestRefused(f"{name} is not a list")
    objects = [item for item in value if isinstance(item, dict)]
    if len(objects) != len(value):
        raise RequestRefused(f"{name} does not hold objects")
    return objects


def name_at(owner: JsonObject, name: str, pattern: re.Pattern[str]) -> str:
    """Return a required, well-formed id. Raises `RequestRefused`."""
    value: Json = owner.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise RequestRefused(f"{name} is not well-formed")
    return value


def optional_name(owner: JsonObject, name: str, pattern: re.Pattern[str]) -> str:
    """Return an id that may be missing (empty), but must be well-formed. Raises `RequestRefused`."""
    return name_at(owner, name, pattern) if owner.get(name) not in (None, "") else ""
