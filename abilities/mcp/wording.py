"""Servers' texts about their tools, cleaned for the model, and the parts that an operator should check."""

import re
from collections.abc import Iterable

from abilities.mcp.checks import Node, Untranslatable
from abilities.mcp.letters import clean, hides
from abilities.mcp.schema import parameters_of, translate
from abilities.mcp.types import Definition, McpServer
from core.json_types import Json
from core.tools.account_argument import ACCOUNT

MAX_DESCRIPTION = 1000
MAX_DEFINITION = 20_000
"""Characters of a definition as JSON; a larger definition is not offered."""
_ORDERS = re.compile(
    r"\b(ignore|disregard|override)\b.{0,40}\b(previous|prior|above|other|all|instruction|rule)|<\s*/?\s*(important|system|"
    r"secret|instructions?)\b|\b(do not|don't|never|without)\b.{0,30}\b(tell|mention|inform|ask|notify)|"
    r"\b(before|after|instead of|whenever)\b.{0,40}\b(using|calling|use|call|any other|other tools?)\b|"
    r"\b(you must|always (?:call|use|send|include|first))\b|\b(system prompt|password|api[ _-]?key|credential)",
    re.IGNORECASE | re.DOTALL,
)
_ADDRESS = re.compile(r"https?://|[\w.+-]@[\w-]+\.\w", re.IGNORECASE)


class Unusable(ValueError):
    """A tool that cannot be offered; the message says why, as an operator reads it."""


def shown_description(server: str, definition: Definition) -> str:
    """Return a tool's description for the model."""
    text = clean(definition.description) or definition.name
    cut = text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION]}…"
    return f"{cut} (Of the server {server}.)"


def suspicions(definition: Definition, others: Iterable[str] = ()) -> list[str]:
    """Return the parts of a definition that may be meant to influence the model, each as a phrase.

    `others` are the names of the other tools.
    """
    found: list[str] = []
    texts = [definition.description, *_texts(definition.schema)]
    if any(map(hides, texts)):
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
    """Return the words of a server's texts about a tool and its parameters."""
    texts = [definition.description, *_texts(definition.schema)]
    return frozenset(re.findall(r"\w+", "\n".join(texts)))


def usable_parameters(definition: Definition, server: McpServer) -> Node:
    """Return the parameters of a tool that can be offered. Raises `Unusable`."""
    if len(str(definition.to_json())) > MAX_DEFINITION:
        raise Unusable("its definition is too large")
    try:
        parameters = translate(definition.schema)
    except Untranslatable as error:
        raise Unusable(f"its parameters {error}") from error
    if server.account and ACCOUNT in parameters_of(parameters.shown):
        raise Unusable("it has a parameter named account, which says here whose login is used")
    return parameters


def unusable(definition: Definition, server: McpServer) -> str:
    """Return why a tool cannot be offered at all; empty if it can."""
    try:
        usable_parameters(definition, server)
    except Unusable as error:
        return str(error)
    return ""


def _texts(node: Json) -> list[str]:
    if isinstance(node, list):
        return [text for item in node for text in _texts(item)]
    if isinstance(node, dict):
        return [text for key, value in node.items() for text in (key, *_texts(value))]
    return [node] if isinstance(node, str) else []
