"""The supported keywords of JSON Schema: each with its form for the model, and its check."""

from collections.abc import Callable, Mapping
from typing import Protocol, cast

from abilities.mcp.checks import (
    MAX_SHOWN,
    TYPES,
    Check,
    Node,
    Untranslatable,
    first,
    inside,
    is_multiple,
    is_number,
    key_of,
    of_types,
    of_values,
    short,
)
from abilities.mcp.letters import hides
from core.json_types import Json, JsonObject

MAX_ENUM = 500
"""Values in an `enum`."""


class Inner(Protocol):
    """Translates the parts of a schema."""

    def node(self, schema: Json) -> Node:
        """Translate a schema."""
        ...

    def several(self, given: Json) -> list[Node]:
        """Translate a list of schemas."""
        ...


type Understand = Callable[[JsonObject, Inner], tuple[Json, Check | None]]
"""Returns a keyword's form for the model, and its check. Raises `Untranslatable`."""


def _of_type(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    kinds = schema["type"]
    listed = kinds if isinstance(kinds, list) else [kinds]
    if not listed or not all(isinstance(kind, str) and kind in TYPES for kind in listed):
        raise Untranslatable("have a type that JSON does not know")
    known = tuple(dict.fromkeys(str(kind) for kind in listed))
    return [*known] if isinstance(kinds, list) else kinds, of_types(known)


def _properties(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    given = schema["properties"]
    if not isinstance(given, dict):
        raise Untranslatable("have properties that are no object")
    known = {_plain(name): inner.node(part) for name, part in given.items()}

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, dict):
            return []
        return first(
            problem
            for name, node in known.items()
            if name in value
            for problem in node.problems(value[name], inside(where, name))
        )

    return {name: node.shown for name, node in known.items()}, check


def _required(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    given = schema["required"]
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise Untranslatable("have a list of what is required that is no list of names")
    names = [_plain(name) for name in dict.fromkeys(map(str, given))]

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, dict):
            return []
        return [f"{where or 'they'}: {name!r} is a required property" for name in names if name not in value]

    return [*names], check


def _additional(schema: JsonObject, inner: Inner) -> tuple[Json, Check | None]:
    given = schema["additionalProperties"]
    node = inner.node(given)
    properties = schema.get("properties", {})
    known = frozenset(properties) if isinstance(properties, dict) else frozenset()

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, dict):
            return []
        return first(
            problem
            for name in value
            if name not in known
            for problem in (
                [f"{where or 'they'}: {name[:MAX_SHOWN]!r} is not expected"]
                if given is False
                else node.problems(value[name], inside(where, name))
            )
        )

    return (given if isinstance(given, bool) else node.shown), (check if node.checks else None)


def _property_names(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    node = inner.node(schema["propertyNames"])

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, dict):
            return []
        return first(problem for name in value for problem in node.problems(name, inside(where, name)))

    return node.shown, check


def _items(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    before = schema.get("prefixItems", [])
    start = len(before) if isinstance(before, list) else 0
    node = inner.node(schema["items"])

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, list):
            return []
        return first(
            problem for at in range(start, len(value)) for problem in node.problems(value[at], inside(where, at))
        )

    return node.shown, check


def _prefix_items(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    nodes = inner.several(schema["prefixItems"])

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, list):
            return []
        pairs = enumerate(zip(value, nodes, strict=False))
        return first(problem for at, (item, node) in pairs for problem in node.problems(item, inside(where, at)))

    return [node.shown for node in nodes], check


def _any_of(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    nodes = inner.several(schema["anyOf"])

    def check(value: Json, where: str) -> list[str]:
        found = []
        for node in nodes:
            if not (problems := node.problems(value, where)):
                return []
            found.append(problems[0])
        return [f"{where or 'they'}: nothing of this is met: {'; '.join(found[:3])}"]

    return [node.shown for node in nodes], check


def _one_of(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    nodes = inner.several(schema["oneOf"])

    def check(value: Json, where: str) -> list[str]:
        failed = [problems[0] for node in nodes if (problems := node.problems(value, where))]
        match len(nodes) - len(failed):
            case 1:
                return []
            case 0:
                return [f"{where or 'they'}: nothing of this is met: {'; '.join(failed[:3])}"]
        return [f"{where or 'they'}: {short(value)} is more than one of what it may be"]

    return [node.shown for node in nodes], check


def _all_of(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    nodes = inner.several(schema["allOf"])

    def check(value: Json, where: str) -> list[str]:
        return first(problem for node in nodes for problem in node.problems(value, where))

    return [node.shown for node in nodes], check


def _none_of(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    node = inner.node(schema["not"])

    def check(value: Json, where: str) -> list[str]:
        return [] if node.problems(value, where) else [f"{where or 'they'}: {short(value)} is not allowed"]

    return node.shown, check


def _enum(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    given = schema["enum"]
    if not isinstance(given, list) or not given or len(given) > MAX_ENUM:
        raise Untranslatable(f"have an enum that is no list, or not of 1 to {MAX_ENUM}")
    return [_sound(value) for value in given], of_values(given, "is not one of")


def _const(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
    return _sound(schema["const"]), of_values([schema["const"]], "is not")


def _unique_items(schema: JsonObject, inner: Inner) -> tuple[Json, Check | None]:
    given = schema["uniqueItems"]
    if not isinstance(given, bool):
        raise Untranslatable("have a uniqueItems that is neither true nor false")

    def check(value: Json, where: str) -> list[str]:
        if not isinstance(value, list) or len({key_of(item) for item in value}) == len(value):
            return []
        return [f"{where or 'they'}: {short(value)} has the same twice"]

    return given, check if given else None


def _measure(
    keyword: str, kinds: tuple[type, ...], says: str, fits: "Callable[[Json, float], bool]", *, whole: bool = False
) -> Understand:
    """Return the translation of a keyword with a number: a bound of values of some kinds."""

    def understand(schema: JsonObject, inner: Inner) -> tuple[Json, Check]:
        limit = schema[keyword]
        if not is_number(limit) or (whole and (limit < 0 or limit != int(limit))):
            raise Untranslatable(f"give {keyword} what it cannot have")
        if keyword == "multipleOf" and limit <= 0:
            raise Untranslatable(f"give {keyword} what it cannot have")

        def check(value: Json, where: str) -> list[str]:
            if isinstance(value, bool) or not isinstance(value, kinds) or fits(value, limit):
                return []
            return [f"{where or 'they'}: {short(value)} {says} {limit}"]

        return (int(limit) if whole else limit), check

    return understand


KEYWORDS: Mapping[str, Understand] = {
    "type": _of_type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "minProperties": _measure(
        "minProperties",
        (dict,),
        "has too few properties, at least",
        lambda value, limit: len(_sized(value)) >= limit,
        whole=True,
    ),
    "maxProperties": _measure(
        "maxProperties",
        (dict,),
        "has too many properties, at most",
        lambda value, limit: len(_sized(value)) <= limit,
        whole=True,
    ),
    "prefixItems": _prefix_items,
    "items": _items,
    "minItems": _measure(
        "minItems", (list,), "has too few items, at least", lambda value, limit: len(_sized(value)) >= limit, whole=True
    ),
    "maxItems": _measure(
        "maxItems", (list,), "has too many items, at most", lambda value, limit: len(_sized(value)) <= limit, whole=True
    ),
    "uniqueItems": _unique_items,
    "enum": _enum,
    "const": _const,
    "minimum": _measure("minimum", (int, float), "is less than", lambda value, limit: cast(float, value) >= limit),
    "maximum": _measure("maximum", (int, float), "is more than", lambda value, limit: cast(float, value) <= limit),
    "exclusiveMinimum": _measure(
        "exclusiveMinimum", (int, float), "is not more than", lambda value, limit: cast(float, value) > limit
    ),
    "exclusiveMaximum": _measure(
        "exclusiveMaximum", (int, float), "is not less than", lambda value, limit: cast(float, value) < limit
    ),
    "multipleOf": _measure("multipleOf", (int, float), "is no multiple of", is_multiple),
    "minLength": _measure(
        "minLength", (str,), "is too short, at least", lambda value, limit: len(_sized(value)) >= limit, whole=True
    ),
    "maxLength": _measure(
        "maxLength", (str,), "is too long, at most", lambda value, limit: len(_sized(value)) <= limit, whole=True
    ),
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "not": _none_of,
}


def _plain(name: str) -> str:
    if hides(name):
        raise Untranslatable("have a name with characters that nobody sees")
    return name


def _sound(value: Json) -> Json:
    """Return a value that the model can send back exactly; raise `Untranslatable` if it hides characters."""
    match value:
        case str():
            if hides(value):
                raise Untranslatable("have a value with characters that nobody sees")
        case list():
            return [_sound(item) for item in value]
        case dict():
            return {str(_sound(name)): _sound(item) for name, item in value.items()}
    return value


def _sized(value: Json) -> "str | list[Json] | JsonObject":
    assert isinstance(value, str | list | dict)  # noqa: S101 - `_measure` looks at no others
    return value
