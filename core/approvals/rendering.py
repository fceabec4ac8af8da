"""Render an action: every argument in full, and so that no character can pretend to be something else."""

from collections.abc import Sequence

from core.approvals.consent import Described
from core.json_types import Json, JsonObject
from core.messaging.visible_text import plain_line, visible


def render_arguments(arguments: JsonObject, described: Described) -> tuple[tuple[str, str], ...]:
    """Return what a card shows as label and text: the action's own details first, then every other argument.

    Arguments in `hidden_when_empty` are left out while they are empty.
    """
    details = {name: value for name, value in described.details.items() if not _hidden(name, value, described)}
    pairs = [(_label(name, described.labels), as_text(value)) for name, value in details.items()]
    for name, value in arguments.items():
        if (name not in details or details[name] != value) and not _hidden(name, value, described):
            pairs.append((_label(name, described.labels), as_text(value)))
    return tuple(pairs)


def _hidden(name: str, value: Json, described: Described) -> bool:
    return name in described.hidden_when_empty and is_empty(value)


def is_empty(value: Json) -> bool:
    return value is None or value in ("", [], {})


def as_text(value: Json) -> str:
    """Return a value in full as a person reads it, with invisible characters named (`<U+202E>`)."""
    match value:
        case _ if is_empty(value):  # the pattern `{}` would match every dict
            return "(empty)"
        case True:
            return "yes"
        case False:
            return "no"
        case list():
            parts = [as_text(item) for item in value]
            plain = not any(
                isinstance(item, list | dict) or "\n" in part or "," in part
                for item, part in zip(value, parts, strict=True)
            )
            return ", ".join(parts) if plain else "\n".join(f"- {_inside(part)}" for part in parts)
        case dict():
            return "\n".join(f"{visible(name)}: {_inside(as_text(item))}" for name, item in value.items())
        case _:
            return visible(str(value))


def as_markdown(pairs: Sequence[tuple[str, str]]) -> str:
    """Return labels and values as Markdown in which a value stays literal and never looks like a line of ours."""
    written = [_pair(plain_line(label), text) for label, text in pairs]
    return "".join(f"{part}\n" for part in written)


def _pair(label: str, text: str) -> str:
    # Within code, only the mark that ends it is markup.
    literal = text.replace("`", "<U+0060>")
    if "\n" not in literal and literal == literal.strip():
        return f"{label}: `{literal}`"
    quoted = "\n".join(f"> {line}" for line in literal.split("\n"))
    return f"{label}:\n```\n{quoted}\n```"


def _inside(text: str) -> str:
    """Indent all lines but the first, so that a value's lines cannot pass for other values."""
    return text.replace("\n", "\n    ")


def _label(name: str, labels: dict[str, str]) -> str:
    words = labels.get(name) or name.replace("_", " ")
    return words[:1].upper() + words[1:]
