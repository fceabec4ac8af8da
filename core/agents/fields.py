"""What an agent needs to know and what it gives: fields, declared on its class and read as attributes."""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from typing import Any, Self, get_origin, overload

from pydantic import TypeAdapter, ValidationError

from core.json_types import Json, JsonObject, is_finite

type Validator = Callable[[Any], object]
"""None or True: valid. A text, which is shown, or False: not."""


class InvalidValue(Exception):
    """A value that a field does not take; the message is for the person."""


class Field:
    """A value of an agent: a descriptor that reads it from the agent's own values, else gives the default."""

    name = ""

    def __init__(self, type: Any, description: str, default: Any) -> None:
        self.type = type
        self.description = description
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, agent: None, owner: type) -> Self: ...

    @overload
    def __get__(self, agent: object, owner: type) -> Any: ...

    def __get__(self, agent: object | None, owner: type) -> Any:
        if agent is None:
            return self
        return values_of(agent).get(self.name, self.default)

    def __set__(self, agent: object, value: Any) -> None:
        values_of(agent)[self.name] = value

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Return what checks and converts values of the type."""
        return TypeAdapter(self.type)

    def schema(self) -> JsonObject:
        """Return the JSON schema of the type, without titles."""
        made = _without_titles(self.adapter.json_schema())
        return made if isinstance(made, dict) else {}

    def to_json(self, value: Any) -> Json:
        """Write a value down."""
        written: Json = self.adapter.dump_python(value, mode="json")
        return written


class InputField(Field):
    """What an agent must be told before it runs.

    `prompt` is the question to the person, `description` what the model is told. `validator` gets the converted
    value: None or True is valid, a text (which is shown) or False is not. `type` is anything JSON can hold: str,
    int, float, bool, date, datetime, an Enum, a Literal, list[...].
    """

    def __init__(
        self,
        prompt: str,
        description: str = "",
        required: bool = True,
        default: Any = None,
        validator: Validator | None = None,
        validator_description: str = "",
        type: Any = str,
    ) -> None:
        super().__init__(type, description, default)
        self.prompt = prompt
        self.required = required
        self.validator = validator
        self.validator_description = validator_description

    @property
    def label(self) -> str:
        """Return the field's name in words."""
        return self.name.replace("_", " ")

    def check(self, given: Any) -> Any:
        """Convert and validate what the model or a person gave. Raises `InvalidValue` with what is wrong."""
        try:
            value = self.adapter.validate_python(_readable(given, self.type))
        except ValidationError as error:
            wanted = self.validator_description or _wanted(self.schema())
            raise InvalidValue(wanted or str(error.errors()[0]["msg"])) from error
        if not is_finite(self.to_json(value)):
            raise InvalidValue(self.validator_description or "it must be a finite number")
        if self.required and isinstance(value, str) and not value.strip():
            raise InvalidValue("it is empty")
        said = self._validated(value)
        if said is None or said is True:
            return value
        raise InvalidValue(said if isinstance(said, str) and said else self.validator_description or "it is not valid")

    def _validated(self, value: Any) -> object:
        try:
            return self.validator(value) if self.validator else None
        except (ValueError, TypeError, LookupError, ArithmeticError):
            return False  # a validator that stumbles over a value does not take it

    def from_json(self, kept: Json) -> Any:
        """Read what `to_json` wrote."""
        return self.adapter.validate_python(kept)


class OutputField(Field):
    """What an agent gives beside its message: set it as an attribute, and the model is told of it."""

    def __init__(self, type: Any = str, description: str = "", default: Any = None) -> None:
        super().__init__(type, description, default)


def values_of(agent: object) -> dict[str, Any]:
    """Return the values that an agent holds for its fields."""
    values: dict[str, Any] = agent.__dict__.setdefault("_values", {})
    return values


def fields_of[Kind: Field](cls: type, kind: type[Kind]) -> Mapping[str, Kind]:
    """List the fields of one kind in the order in which they are declared, the base classes' first."""
    found: dict[str, Kind] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, kind):
                found[name] = value
            else:
                found.pop(name, None)
    return found


def _readable(given: Any, kind: Any) -> Any:
    """Meet people's ways of writing: an enum's value in any case, a list with commas, a number with spaces."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if get_origin(kind) is list:
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(kind, type) and issubclass(kind, Enum):
        same = [one.value for one in kind if text.casefold() in (str(one.value).casefold(), one.name.casefold())]
        return same[0] if same else text
    return text


def _wanted(schema: JsonObject) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list):
        return f"it must be one of: {', '.join(str(one) for one in choices)}"
    words = {"integer": "a whole number", "number": "a number", "boolean": "yes or no", "array": "a list"}
    formats = {"date": "a date such as 2027-01-31", "date-time": "a date and time such as 2027-01-31T15:00"}
    wanted = formats.get(str(schema.get("format"))) or words.get(str(schema.get("type")))
    return f"it must be {wanted}" if wanted else ""


def _without_titles(node: Json) -> Json:
    if isinstance(node, list):
        return [_without_titles(one) for one in node]
    if isinstance(node, dict):
        return {key: _without_titles(value) for key, value in node.items() if key != "title"}
    return node
