"""What a call does, in words for the person who waits for it."""

from core.language.catalogue import gettext, name_in_words
from core.tools.tool import AnyTool

MAX_DOING = 100
"""Characters of what is said of a call: a status is one line."""


def doing_in_words(tool: AnyTool | None, name: str) -> str:
    """Return what a call does: the tool's own `doing`, or its title or name as words."""
    if tool is not None and tool.doing:
        return gettext(tool.doing)
    words = gettext(tool.title) if tool is not None and tool.title else name_in_words(name)
    return f"{words[:1].upper()}{words[1:]}…"


def as_status(text: str) -> str:
    """Return what a tool reports of its progress as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_DOING else f"{line[: MAX_DOING - 1]}…"
