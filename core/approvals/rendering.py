"""How an action is shown: every argument in full, and so that no character of it can pretend to be something else."""

import re
import unicodedata
from collections.abc import Collection, Sequence

from core.approvals.mixed_scripts import posing_letters
from core.json_types import Json, JsonObject

_MARKUP = re.compile(r"[*~`\[\]<>#|\\{}]|(?<![^\W_])_+|_+(?![^\W_])")
_MAX_OF_SUMMARY = 200
_JOINER = "\u200d"
_PICTURE = "\ufe0f"
"""What makes a picture of the character before it."""
_GAP = re.compile(r"(?<=\S) {5,}")
"""Spaces inside a line; those that begin one are how it is set."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(number) for number in range(0xFE00, 0xFE0F)
}
"""Letters and marks by their category that no font draws."""


def arguments_shown(
    arguments: JsonObject, told: JsonObject, labels: dict[str, str], quiet: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return what a card shows: the agent's own words for it first, then every argument that is not among them.

    Those of `quiet` are left out where they are empty: they are so unless somebody fills them in.

    `told` is an `ApprovalRequest`'s details; `labels` name arguments in words.
    """
    told = {name: value for name, value in told.items() if not (name in quiet and is_empty(value))}
    pairs = [(_label(name, labels), as_text(value)) for name, value in told.items()]
    for name, value in arguments.items():
        if (name not in told or told[name] != value) and not (name in quiet and is_empty(value)):
            pairs.append((_label(name, labels), as_text(value)))
    return tuple(pairs)


def is_empty(value: Json) -> bool:
    """Return whether there is nothing in a value."""
    return value is None or value in ("", [], {})


def as_text(value: Json) -> str:
    """Write a value in full, as a person reads it; what cannot be seen is named (`<U+202E>`)."""
    match value:
        case _ if is_empty(value):  # a pattern of braces would take every dict for an empty one
            return "(empty)"
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            parts = [as_text(one) for one in value]
            plain = not any(
                isinstance(one, list | dict) or "\n" in part or "," in part
                for one, part in zip(value, parts, strict=True)
            )
            return ", ".join(parts) if plain else "\n".join(f"- {_inside(part)}" for part in parts)
        case dict():
            return "\n".join(f"{visible(name)}: {_inside(as_text(one))}" for name, one in value.items())
        case _:
            return visible(str(value))


def visible(text: str) -> str:
    """Name every character that a screen would hide, that would turn the order of others around, or poses as another.

    Spaces that would push the rest of a line out of sight are counted.
    """
    text = text.replace("\r\n", "\n")
    posing = posing_letters(text)
    seen = "".join(
        one if at not in posing and _is_seen(text, at) else f"<U+{ord(one):04X}>" for at, one in enumerate(text)
    )
    return _GAP.sub(lambda gap: f" <{len(gap[0])} spaces> ", seen)


def plain_words(text: str) -> str:
    """Return a text as one line without markup, in full. What stands inside a word is none, as in `a_b@example.com`."""
    return " ".join(_MARKUP.sub("", visible(text)).split())


def plain_line(text: str) -> str:
    """Return a text as one short line without markup; an argument is never shown by this alone."""
    line = plain_words(text)
    return line if is_short(line) else line[: _MAX_OF_SUMMARY - 3] + "..."


def is_short(text: str) -> bool:
    """Return whether `plain_line` shows a text in full."""
    return len(plain_words(text)) <= _MAX_OF_SUMMARY


def as_markdown(pairs: Sequence[tuple[str, str]]) -> str:
    """Write labels and values so that a value stays literal, and never looks like a line of ours."""
    written = [_pair(plain_line(label), text) for label, text in pairs]
    return "".join(f"{part}\n" for part in written)


def _pair(label: str, text: str) -> str:
    # Inside code nothing is markup but the mark that ends it.
    literal = text.replace("`", "<U+0060>")
    if "\n" not in literal and literal == literal.strip():
        return f"{label}: `{literal}`"
    quoted = "\n".join(f"> {line}" for line in literal.split("\n"))
    return f"{label}:\n```\n{quoted}\n```"


def _inside(text: str) -> str:
    """Indent what follows the first line, so that a value's own lines look like nothing beside it."""
    return text.replace("\n", "\n    ")


def _label(name: str, labels: dict[str, str]) -> str:
    words = labels.get(name) or name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _is_seen(text: str, at: int) -> bool:
    one = text[at]
    if one in "\n\t" or one == " ":
        return True
    if one == _JOINER:  # as in many an emoji
        around = (text[at - 1 : at], text[at + 1 : at + 2])
        return all(part and unicodedata.category(part) in ("So", "Sk", "Mn") for part in around)
    if one == _PICTURE:
        return bool(at) and (text[at - 1] in "0123456789#*" or unicodedata.category(text[at - 1]) in ("So", "Sm", "Po"))
    if one in _BLANK or "\U000e0100" <= one <= "\U000e01ef":
        return False
    # Controls, formats (bidi, zero width), separators that are no plain space, surrogates, what nobody assigned.
    return unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
