"""The activity of a call, in words for the person who waits for it."""

from core.language.catalogue import gettext, name_in_words
from core.tools.tool import AnyTool

MAX_DOING = 100
"""Characters of the words about a call: a status is a single line."""


def doing_in_words(tool: AnyTool | None, name: str) -> str:
    """Return the activity of a call: the tool's own `doing`, or its title or name as words."""
    if tool is not None and tool.doing:
        return gettext(tool.doing)
    words = gettext(tool.title) if tool is not None and tool.title else name_in_words(name)
    return f"{words[:1].upper()}{words[1:]}…"


def as_status(text: str) -> str:
    """Return a tool's report of its progress as a short line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_DOING else f"{line[: MAX_DOING - 1]}…"
