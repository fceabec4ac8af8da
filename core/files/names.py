"""Names of files, as others gave them: shown as data, never used as a path."""

import re

from core.json_types import storable
from core.language.unseen import without_unseen

MAX_NAME = 80
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")


def clean_name(name: str) -> str:
    """Return the last part of a name, without invisible characters; a long name is cut in its middle."""
    last = re.split(r"[/\\]", without_unseen(storable(name)).replace("\n", " "))[-1].strip(". \t")
    if len(last) <= MAX_NAME:
        return last
    ending = found[0] if (found := _ENDING.search(last)) else ""
    return f"{last[: MAX_NAME - len(ending) - 1]}…{ending}"
