"""Foreign JSON Schema, translated into checks of our own: a tool's arguments, as the model sees them and we check them.

A schema is a program by a third party. Run directly, a schema of 1,900 characters that refers to itself in pairs takes
practically forever. So only a small part of the language is supported; each reference is replaced by its target, once,
and the result may have `MAX_NODES` parts. Each of them reads each part of a value at most once.
"""

from dataclasses import dataclass
from typing import cast

from abilities.mcp.checks import Check, Node, Untranslatable, never, of_types
from abilities.mcp.keywords import KEYWORDS
from abilities.mcp.letters import clean
from core.json_types import Json, JsonObject

MAX_NODES = 500
"""Parts of a schema, with the targets of its references in their places."""
MAX_DEPTH = 30
MAX_CHOICES = 50
"""Schemas in an `anyOf`, `oneOf` or `allOf`."""
_REFUSED = frozenset(
    [
        "$dynamicRef",
        "$recursiveRef",
        "patternProperties",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
        "unevaluatedProperties",
        "unevaluatedItems",
        "contains",
        "minContains",
        "maxContains",
    ]
)
"""Unsupported keywords, without which a schema would have another meaning. `pattern` and `format` are left to the
server: a pattern would be run by us, against an adversary's choice of text.
"""


def translate(schema: JsonObject) -> Node:
    """Translate the parameters of a tool. Raises `Untranslatable`."""
    if schema.get("type", "object") != "object":
        raise Untranslatable("are no object")
    node = _Translation(schema).node(schema, 0, frozenset())
    properties = node.shown.get("properties", {})
    return Node(
        node.shown | {"type": "object", "properties": properties},
        (of_types(("object",)), *node.checks),
    )


def parameters_of(shown: JsonObject) -> dict[str, Json]:
    """Return the parameters of a translated schema by name, with those that stand in its alternatives."""
    found: dict[str, Json] = {}
    for key in ("allOf", "anyOf", "oneOf"):
        for choice in cast(list[Json], shown.get(key, [])):
            found |= parameters_of(choice) if isinstance(choice, dict) else {}
    return found | cast(JsonObject, shown.get("properties", {}))


class _Translation:
    """The translation of a schema, with the count of its parts."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0

    def node(self, schema: Json, depth: int, within: frozenset[str]) -> Node:
        """Translate a schema inside the whole; `within` are the references that led to it."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise Untranslatable(f"come to more than {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            raise Untranslatable("nest too deeply")
        if isinstance(schema, bool):
            return Node() if schema else Node({"not": {}}, (never,))
        if not isinstance(schema, dict):
            raise Untranslatable("hold something that is no schema")
        if refused := sorted(_REFUSED & schema.keys()):
            raise Untranslatable(f"use {refused[0]}, which is not understood here")
        if "$ref" in schema:
            return self._referred(schema, depth, within)
        if isinstance(tuples := schema.get("items"), list):  # as drafts before 2020-12 have them
            schema = schema | {"prefixItems": tuples, "items": schema.get("additionalItems", True)}
        shown: JsonObject = {}
        checks: list[Check] = []
        for keyword, understand in KEYWORDS.items():
            if keyword in schema:
                said, check = understand(schema, _Inner(self, depth + 1, within))
                shown[keyword] = said
                checks += [check] if check else []
        shown |= _words(schema)
        if schema.get("nullable") is True:  # of OpenAPI
            return Node({"anyOf": [shown, {"type": "null"}]}, (_or_null(tuple(checks)),))
        return Node(shown, tuple(checks))

    def _referred(self, schema: JsonObject, depth: int, within: frozenset[str]) -> Node:
        reference = schema["$ref"]
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise Untranslatable("refer to another document")
        if reference in within:
            raise Untranslatable("refer to themselves")
        found = self.node(self._target(reference), depth + 1, within | {reference})
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if not (KEYWORDS.keys() | {"nullable"}) & beside.keys():
            return Node(found.shown | _words(beside), found.checks)
        more = self.node(beside, depth + 1, within)
        return Node({"allOf": [found.shown, more.shown]}, found.checks + more.checks)

    def _target(self, reference: str) -> Json:
        found: Json = self._root
        pointer = reference.removeprefix("#")
        if pointer and not pointer.startswith("/"):
            raise Untranslatable("refer to something that is not in them")
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise Untranslatable("refer to something that is not in them")
            found = found[name]
        return found


@dataclass(frozen=True, slots=True)
class _Inner:
    """Translates the parts of a schema of a translation."""

    translation: _Translation
    depth: int
    within: frozenset[str]

    def node(self, schema: Json) -> Node:
        return self.translation.node(schema, self.depth, self.within)

    def several(self, given: Json) -> list[Node]:
        if not isinstance(given, list) or not given or len(given) > MAX_CHOICES:
            raise Untranslatable(f"have a list of schemas that is no list, or not of 1 to {MAX_CHOICES}")
        return [self.node(one) for one in given]


def _words(schema: JsonObject) -> JsonObject:
    """Return the descriptive fields of a schema, which are not checked. Titles, examples and defaults cost tokens."""
    kept: JsonObject = {}
    if isinstance(said := schema.get("description"), str) and (text := clean(said)):
        kept["description"] = text
    if isinstance(form := schema.get("format"), str) and (text := clean(form)):
        kept["format"] = text
    return kept


def _or_null(checks: tuple[Check, ...]) -> Check:
    node = Node({}, checks)
    return lambda value, where: [] if value is None else node.problems(value, where)
