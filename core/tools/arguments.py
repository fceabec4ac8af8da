"""Read a call's arguments as small models write them, by the tool's schema: another form of the same values.

The values as understood here are those that rules judge, people approve and the journal knows. If the meaning is not
clear, a value stays as it is, and the tool's own check tells the model the right form.
"""

import re
from dataclasses import dataclass
from typing import cast

from core.errors import ToolRetry
from core.journal.types import Effect
from core.json_types import Json, JsonObject, is_empty, object_of, read_json
from core.llm.types import ToolCall
from core.replies import note
from core.tools.scalars import UNREAD, nouns_of, read_scalar
from core.tools.tool import AnyTool

_WRAPPERS = ("arguments", "parameters")
"""Names under which models put all arguments once more."""
_MAX_NAMES = 300
_SEPARATORS = re.compile(r"[,;\n、，；]")


@dataclass(frozen=True, slots=True)
class Understood:
    """Arguments in the form that a tool wants. `left_out`: the names of those that the tool does not have."""

    arguments: JsonObject
    left_out: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Return the end of a result that tells the model which arguments were left out; empty if none were."""
        return note(f"Left out, being no parameters: {', '.join(self.left_out)[:_MAX_NAMES]}.") if self.left_out else ""


def read_call(call: ToolCall, tool: AnyTool) -> Understood:
    """Read the arguments of a call. Raises `ToolRetry`, which tells the model the right form."""
    try:
        given = read_json(call.arguments or "{}")
    except ValueError as error:
        raise ToolRetry(
            f"The arguments of {tool.name} are not valid JSON. Send one JSON object; NaN and Infinity are no numbers."
        ) from error
    understood = understand(given, tool)
    if understood is None:
        raise ToolRetry(f"The arguments of {tool.name} must be one JSON object with its parameters.")
    return understood


def understand(given: Json, tool: AnyTool) -> Understood | None:
    """Return arguments as the tool's schema wants them; None if they are no object.

    Unknown arguments are left out if that does no harm: if they are empty, or the tool only reads.
    """
    schema = tool.signature.schema
    given = _object_of(given, schema)
    if given is None:
        return None
    parameters = object_of(schema.get("properties"))
    required = cast(list[Json], schema.get("required", []))
    arguments: JsonObject = {}
    left_out: list[str] = []
    for name, value in given.items():
        if name not in parameters:
            if is_empty(value):
                continue
            if tool.effect is Effect.READ and not tool.agent:
                left_out.append(name)
                continue
            arguments[name] = value
            continue
        reading = _Reading(schema, name, nouns_of(f"{name} {tool.name} {tool.description}"))
        read = reading.read(value, parameters[name])
        if not is_empty(read) or name in required or reading.accepts(read, parameters[name]):
            arguments[name] = read
    return Understood(arguments, tuple(left_out))


def _object_of(given: Json, schema: JsonObject) -> JsonObject | None:
    """Return the object of arguments: written as text once more, inside a wrapper, or as null if there are none."""
    given = _parsed(given) if isinstance(given, str) else given
    if given is None:
        return {}
    if not isinstance(given, dict):
        return None
    wrapper = next(iter(given), "")
    if len(given) == 1 and wrapper in _WRAPPERS and wrapper not in object_of(schema.get("properties")):
        inside = given[wrapper]
        inside = _parsed(inside) if isinstance(inside, str) else inside
        return inside if isinstance(inside, dict) else given
    return given


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads an argument. `nouns` may stand before its number."""

    root: JsonObject
    name: str
    nouns: frozenset[str]

    def read(self, value: Json, schema: Json) -> Json:
        """Return the value in the only form that the schema accepts and that means the same; else as it is."""
        options = self._options(schema)
        if not options or any(_is_of(value, option) for option in options):
            return self._inside(value, options)
        found: list[Json] = []
        for option in options:
            read = self._as(value, option)
            if read is not UNREAD and all(type(read) is not type(one) or read != one for one in found):
                found.append(cast(Json, read))
        return found[0] if len(found) == 1 else value

    def accepts(self, value: Json, schema: Json) -> bool:
        """Return whether a value has a type of the schema's."""
        options = self._options(schema)
        return not options or any(_is_of(value, option) for option in options)

    def _options(self, schema: Json, depth: int = 0) -> list[JsonObject]:
        """Return the alternatives of a schema, without references; none if it accepts anything."""
        if not isinstance(schema, dict) or depth > len(object_of(self.root.get("$defs"))) + 8:
            return []
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._options(object_of(self.root.get("$defs")).get(reference.rpartition("/")[2]), depth + 1)
        choices = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(choices, list):
            each = [self._options(choice, depth + 1) for choice in choices]
            return [option for options in each for option in options] if all(each) else []
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return [{**schema, "type": kind} for kind in kinds]
        return [schema] if kinds or "enum" in schema or "const" in schema else []

    def _inside(self, value: Json, options: list[JsonObject]) -> Json:
        """Read the items of a list or the values of an object."""
        if isinstance(value, list):
            lists = [option for option in options if option.get("type") == "array"]
            return [self.read(item, lists[0].get("items")) for item in value] if len(lists) == 1 else value
        if isinstance(value, dict):
            objects = [option for option in options if option.get("type") == "object"]
            known = object_of(objects[0].get("properties")) if len(objects) == 1 else {}
            return {name: self.read(item, known.get(name)) for name, item in value.items()}
        return value

    def _as(self, value: Json, schema: JsonObject) -> object:
        """Convert a value of another type to a type of the schema; `UNREAD` if that fails."""
        kind = schema.get("type")
        if kind == "array":
            return self._list(value, schema)
        if isinstance(value, list) and len(value) == 1:
            read = self.read(value[0], schema)
            return read if _is_of(read, schema) else UNREAD
        if kind == "object":
            parsed = _parsed(value) if isinstance(value, str) else UNREAD
            return self._inside(parsed, [schema]) if isinstance(parsed, dict) else UNREAD
        return read_scalar(value, schema, self.name, self.nouns)

    def _list(self, value: Json, schema: JsonObject) -> object:
        """Read a list written as JSON, or make a list of a single item. A text with commas may be several items."""
        parsed = _parsed(value) if isinstance(value, str) else value
        if isinstance(value, str) and isinstance(parsed, list):
            return self._inside(parsed, [schema])
        if is_empty(value) or (isinstance(parsed, str) and _SEPARATORS.search(parsed)):
            return UNREAD
        item = self.read(value, schema.get("items"))
        return [item] if self.accepts(item, schema.get("items")) else UNREAD


def _is_of(value: Json, schema: JsonObject) -> bool:
    """Return whether a value is of a schema's type, as JSON has types."""
    if isinstance(choices := schema.get("enum"), list):
        return any(type(choice) is type(value) and choice == value for choice in choices)
    if "const" in schema:
        return type(schema["const"]) is type(value) and schema["const"] == value
    match schema.get("type"):
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case kind:
            return isinstance(value, _TYPES.get(str(kind), object))


_TYPES: dict[str, type] = {"boolean": bool, "string": str, "array": list, "object": dict, "null": type(None)}


def _parsed(text: str) -> Json:
    """Read text as JSON; return other text unchanged."""
    try:
        return read_json(text)
    except ValueError:
        return text
