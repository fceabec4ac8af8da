"""What servers write about their tools, cleaned for the model, and what in it should make an operator look twice."""

import re
import unicodedata
from collections.abc import Iterable

from core.json_types import Json, JsonObject
from core.mcp.types import Definition, McpServer

MAX_DESCRIPTION = 1000
MAX_DEFINITION = 20_000
"""Characters of a definition as JSON; a larger one is not offered."""
_ORDERS = re.compile(
    r"\b(ignore|disregard|override)\b.{0,40}\b(previous|prior|above|other|all|instruction|rule)|<\s*/?\s*(important|system|"
    r"secret|instructions?)\b|\b(do not|don't|never|without)\b.{0,30}\b(tell|mention|inform|ask|notify)|"
    r"\b(before|after|instead of|whenever)\b.{0,40}\b(using|calling|use|call|any other|other tools?)\b|"
    r"\b(you must|always (?:call|use|send|include|first))\b|\b(system prompt|password|api[ _-]?key|credential)",
    re.IGNORECASE | re.DOTALL,
)
_ADDRESS = re.compile(r"https?://|\b[\w.+-]+@[\w-]+\.\w+", re.IGNORECASE)
_KEPT = ("properties", "$defs", "definitions")
_DROPPED = frozenset({"title", "$schema", "$id", "examples", "pattern", "default"})
"""What costs tokens and says little; `pattern` would be run by us, against an adversary's choice of text."""


def clean(text: str) -> str:
    """Return a text on one line, without what nobody sees: controls, marks of direction, tags, joiners."""
    seen = "".join(" " if char.isspace() else char for char in text if char.isspace() or not _unseen(char))
    return " ".join(seen.split()).replace("for_assistant>", "for_assistant›")


def shown_description(server: str, definition: Definition) -> str:
    """Return what the model is told of a tool."""
    text = clean(definition.description) or definition.name
    cut = text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION]}…"
    return f"{cut} (Of the server {server}.)"


def shown_schema(schema: JsonObject) -> JsonObject:
    """Return parameters as the model is shown them; all texts in them cleaned."""
    shown = _shown(schema)
    assert isinstance(shown, dict)  # noqa: S101 - an object stays one
    properties = shown.get("properties")
    return shown | {"type": "object", "properties": properties if isinstance(properties, dict) else {}}


def suspicions(definition: Definition, others: Iterable[str] = ()) -> list[str]:
    """Return what in a definition may be meant for the model and not for its use, each as a phrase.

    `others` are the names of tools that are not this one.
    """
    found: list[str] = []
    texts = [definition.description, *_texts(definition.schema)]
    if any(_unseen(char) and not char.isspace() for text in texts for char in text):
        found.append("it contains characters that nobody sees")
    whole = "\n".join(texts)
    if match := _ORDERS.search(whole):
        found.append(f"it gives orders: {clean(match[0])!r}")
    words = set(re.findall(r"\w+", whole))
    if named := sorted(name for name in others if "_" in name and name in words and name != definition.name):
        found.append(f"it speaks of other tools: {', '.join(named[:3])}")
    if _ADDRESS.search(definition.description):
        found.append("its description contains an address")
    return found


def words_of(definition: Definition) -> frozenset[str]:
    """Return the words in what a server says of a tool and its parameters."""
    texts = [definition.description, *_texts(definition.schema)]
    return frozenset(re.findall(r"\w+", "\n".join(texts)))


def unusable(definition: Definition, server: McpServer) -> str:
    """Return why a tool cannot be offered at all; empty where it can."""
    properties = definition.schema.get("properties")
    if server.account and isinstance(properties, dict) and "account" in properties:
        return "it has a parameter named account, which says here whose login is used"
    if len(str(definition.to_json())) > MAX_DEFINITION:
        return "its definition is too large"
    if any(not reference.startswith("#") for reference in _references(definition.schema)):
        return "its parameters refer to another document"
    return ""


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Co", "Cn", "Cs")


def _shown(node: Json, *, names: bool = False) -> Json:
    if isinstance(node, list):
        return [_shown(item) for item in node]
    if isinstance(node, str):
        return clean(node)
    if not isinstance(node, dict):
        return node
    return {
        key: _shown(value, names=key in _KEPT and not names)
        for key, value in node.items()
        if names or key not in _DROPPED
    }


def _texts(node: Json) -> list[str]:
    if isinstance(node, list):
        return [text for item in node for text in _texts(item)]
    if isinstance(node, dict):
        return [text for key, value in node.items() for text in (key, *_texts(value))]
    return [node] if isinstance(node, str) else []


def _references(node: Json) -> list[str]:
    if isinstance(node, list):
        return [reference for item in node for reference in _references(item)]
    if not isinstance(node, dict):
        return []
    own = [value for key, value in node.items() if key in ("$ref", "$dynamicRef") and isinstance(value, str)]
    return [*own, *(reference for value in node.values() for reference in _references(value))]
