"""Render an action: every argument in full, and so that no character can pretend to be something else."""

import json
import re
from collections.abc import Sequence

from core.approvals.consent import Described
from core.json_types import Json, JsonObject, is_empty
from core.language.catalogue import gettext, gettext_noop, in_a_row, labelled, name_in_words
from core.language.yes_no import yes_or_no
from core.messaging.visible_text import literal, plain_line, visible

_NONE, _EMPTY = gettext_noop("(none)"), gettext_noop("(empty)")
_LIKE_ANOTHER = re.compile(r"""(?s)["\[{].*|-?[0-9.]+(?:e[+-]?[0-9]+)?""")
_COMMA = re.compile(r"[,\n\u060c\u3001\uff0c]")
"""The marks that part the items of a list in some language, or end a line."""
_NAME = re.compile(r"\w(?:[\w .-]*\w)?")


def render_arguments(arguments: JsonObject, described: Described) -> tuple[tuple[str, str], ...]:
    """Return the card's labels and texts: the action's own details first, then every other argument.

    Arguments in `hidden_when_empty` are left out while they are empty. Arguments in `in_words` are always left out:
    the details say them, perhaps under the same name.
    """
    details = {name: value for name, value in described.details.items() if not _hidden(name, value, described)}
    pairs = [(_label(name, described.labels), as_text(value)) for name, value in details.items()]
    for name, value in arguments.items():
        said = name in described.in_words or (name in details and details[name] == value)
        if not said and not _hidden(name, value, described):
            pairs.append((_label(name, described.labels), as_text(value)))
    return tuple(pairs)


def _hidden(name: str, value: Json, described: Described) -> bool:
    return name in described.hidden_when_empty and is_empty(value)


def as_text(value: Json) -> str:
    """Return a value in full as a person reads it, with invisible characters named (`<U+202E>`).

    Two different values of one parameter are never returned alike: two texts, two lists, or a text or list and null.
    """
    match value:
        case None:
            return gettext(_NONE)
        case "":
            return gettext(_EMPTY)
        case bool():
            return yes_or_no(value)
        case str():
            return _quoted(value) if value.strip('"') in (gettext(_NONE), gettext(_EMPTY)) else visible(value)
        case list():
            parts = [_inner(item) for item in value]
            plain = not any(
                isinstance(item, list | dict) or _COMMA.search(part) or part.startswith("- ")
                for item, part in zip(value, parts, strict=True)
            )
            if not plain and len(parts) == 1 and isinstance(value[0], str) and "\n" not in parts[0]:
                return _quoted(value[0])  # the comma, or the mark of a list, is the item's own
            lines = in_a_row(parts) if plain else "\n".join(f"- {_inside(part)}" for part in parts)
            return lines or gettext(_EMPTY)
        case dict():
            return "\n".join(f"{_key(name)}: {_inside(_inner(item))}" for name, item in value.items()) or gettext(
                _EMPTY
            )
        case _:
            return str(value)


def as_markdown(pairs: Sequence[tuple[str, str]]) -> str:
    """Return labels and values as Markdown in which a value stays literal and never looks like our own line."""
    written = [_pair(literal(plain_line(label)), text) for label, text in pairs]
    return "".join(f"{part}\n" for part in written)


def _pair(label: str, text: str) -> str:
    # Within code, only the mark that ends it is markup.
    literal = text.replace("`", "<U+0060>")
    if "\n" not in literal and literal == literal.strip():
        return labelled(label, f"`{literal}`")
    quoted = "\n".join(f"> {line}" for line in literal.split("\n"))
    return f"{labelled(label, '').rstrip()}\n```\n{quoted}\n```"


def _inner(value: Json) -> str:
    """Return an inner value of a list or an object; a text that reads like a value of another kind gets quotes."""
    match value:
        case str():
            return _quoted(value) if not value or _reads_as_another(value) else visible(value)
        case list() | dict():
            return visible(json.dumps(value, ensure_ascii=False))
        case _:
            return as_text(value)


def _reads_as_another(text: str) -> bool:
    ours = (gettext(_NONE), gettext(_EMPTY), yes_or_no(True), yes_or_no(False))
    return text in ours or _LIKE_ANOTHER.fullmatch(text) is not None


def _key(name: str) -> str:
    return visible(name) if _NAME.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    return f'"{visible(text).replace('"', "<U+0022>")}"'


def _inside(text: str) -> str:
    """Indent all lines but the first, so that a value's lines cannot pass for other values."""
    return text.replace("\n", "\n    ")


def _label(name: str, labels: dict[str, str]) -> str:
    words = labels.get(name) or name_in_words(name)
    return words[:1].upper() + words[1:]
