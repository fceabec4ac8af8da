"""How an action is shown: every argument in full, and so that no character of it can pretend to be something else."""

from collections.abc import Collection, Sequence

from core.json_types import Json, JsonObject
from core.messaging.visible_text import plain_line, visible


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
