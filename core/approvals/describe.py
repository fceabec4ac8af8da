"""Describe a plain tool's call to the person who must consent to it."""

from core.approvals.consent import ConsentTo, Described
from core.approvals.edits import tool_check, tool_form
from core.approvals.rendering import as_text
from core.json_types import JsonObject, is_empty
from core.language.catalogue import gettext, gettext_noop, in_a_row, labelled, name_in_words
from core.messaging.visible_text import plain_words
from core.tools.tool import AnyTool, Risk

_NO_DEFAULT = "no default"
_MAX_OF_HEADING = 60
"""Characters of arguments in a heading, by which lists and receipts name a call too."""
MAY_HAVE_HAPPENED = gettext_noop("It may have happened already: the result of an earlier try is unknown.")


def tool_consent(
    call_id: str,
    tool: AnyTool,
    arguments: JsonObject,
    *,
    risk: Risk = "",
    note: str = "",
    already_started: bool = False,
) -> ConsentTo:
    """Return the request for consent to a plain tool's call; omitted parameters are shown with their defaults."""

    async def describe(given: JsonObject) -> Described:
        details = _with_defaults(tool, given)
        optional = frozenset(
            name for name, schema in _parameters(tool).items() if is_empty(schema.get("default", _NO_DEFAULT))
        )
        heading = gettext(tool.title) if tool.title else _heading(tool.name, details)
        form = tool_form(tool, given)
        return Described(heading, details, hidden_when_empty=optional, form=form)

    return ConsentTo(
        call_id,
        tool.name,
        arguments,
        describe,
        tool_check(tool),
        risk or tool.risk,
        note,
        already_started=already_started,
    )


def _heading(name: str, details: JsonObject) -> str:
    """Return the tool's name with the arguments that fit; the card shows all of them below."""
    words, parts, left_out = name_in_words(name), list[str](), False
    for label, value in details.items():
        part = labelled(name_in_words(label), as_text(value))
        if is_empty(value):
            continue
        if "\n" in part or plain_words(part) != part or len(", ".join([*parts, part])) > _MAX_OF_HEADING:
            left_out = True
        else:
            parts.append(part)
    if not parts:
        return words
    return gettext("{action} ({details})", action=words, details=in_a_row([*parts, "..."] if left_out else parts))


def _with_defaults(tool: AnyTool, given: JsonObject) -> JsonObject:
    return {
        name: given[name] if name in given else schema["default"]
        for name, schema in _parameters(tool).items()
        if name in given or "default" in schema
    }


def _parameters(tool: AnyTool) -> dict[str, JsonObject]:
    properties = tool.signature.schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: schema for name, schema in properties.items() if isinstance(schema, dict)}
