"""What a plain tool's or an agent's call asks consent to."""

from core.approvals.consent import ConsentTo, Described
from core.approvals.edits import tool_check, tool_form
from core.approvals.rendering import as_text, is_empty
from core.json_types import JsonObject
from core.messaging.visible_text import plain_words
from core.tools.tool import AnyTool

_NONE = "no default"
_MAX_OF_HEADING = 60
"""Characters of arguments in a heading, which is also what lists and receipts name a call by."""
MAY_HAVE_HAPPENED = "It may have happened already: what came of an earlier try is not known."


def tool_consent(
    place: str, tool: AnyTool, arguments: JsonObject, *, risk: str = "", note: str = "", begun: bool = False
) -> ConsentTo:
    """Ask consent to a plain tool's call; parameters that were left out are shown with their defaults."""

    async def describe(given: JsonObject) -> Described:
        told = _defaults(tool, given)
        quiet = frozenset(name for name, one in _parameters(tool).items() if is_empty(one.get("default", _NONE)))
        return Described(_heading(tool.name, told), told, quiet=quiet, form=tool_form(tool, given))

    return ConsentTo(place, tool.name, arguments, describe, tool_check(tool), risk or tool.risk, note, begun=begun)


def _heading(name: str, told: JsonObject) -> str:
    """Return what a call does, with what tells it from another of the same tool; all of it stands below."""
    words, said, left_out = name.replace("_", " "), list[str](), False
    for label, value in told.items():
        part = f"{label.replace('_', ' ')}: {as_text(value)}"
        if is_empty(value):
            continue
        if "\n" in part or plain_words(part) != part or len(", ".join([*said, part])) > _MAX_OF_HEADING:
            left_out = True
        else:
            said.append(part)
    return f"{words} ({', '.join([*said, *(['...'] if left_out else [])])})" if said else words


def _defaults(tool: AnyTool, given: JsonObject) -> JsonObject:
    return {
        name: given[name] if name in given else one["default"]
        for name, one in _parameters(tool).items()
        if name in given or "default" in one
    }


def _parameters(tool: AnyTool) -> dict[str, JsonObject]:
    properties = tool.signature.schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: one for name, one in properties.items() if isinstance(one, dict)}
