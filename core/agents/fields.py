"""An agent's input and output fields, declared on its class and read as attributes."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, Self, TypedDict, Unpack, get_origin, overload

from pydantic import TypeAdapter, ValidationError

from core.approvals.value_errors import reason_in_words
from core.json_types import Json, JsonObject, is_finite
from core.language.catalogue import gettext, gettext_noop, name_in_words
from core.language.yes_no import read_yes_or_no
from core.questions.types import MAX_CHOICE, MAX_CHOICES

_TYPES = {
    "integer": gettext_noop("it must be a whole number"),
    "number": gettext_noop("it must be a number"),
    "boolean": gettext_noop("it must be yes or no"),
    "array": gettext_noop("it must be a list"),
}
_FORMATS = {
    "date": gettext_noop("it must be a date such as 2027-01-31"),
    "date-time": gettext_noop("it must be a date and time such as 2027-01-31T15:00"),
}

type Validator = Callable[[Any], object]
"""Returns None or True if the value is valid, else False or a text to show."""


class InvalidValue(Exception):
    """A value that is not valid for a field; the message is for the person."""


class Field:
    """A descriptor that reads an agent's value, or the default."""

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
        """Return the adapter that checks and converts values of the type."""
        return TypeAdapter(self.type)

    def schema(self) -> JsonObject:
        """Return the JSON schema of the type, without titles."""
        schema = _without_titles(self.adapter.json_schema())
        return schema if isinstance(schema, dict) else {}

    def to_json(self, value: Any) -> Json:
        """Return a value as JSON."""
        written: Json = self.adapter.dump_python(value, mode="json")
        return written


class FieldOptions(TypedDict, total=False):
    """The further keywords of an input field; each may be left out."""

    pattern: str
    """A regular expression for the whole text, or for each text of a list: a form refuses other values at once; the
    validator still decides."""
    choices: Sequence[Any]
    """2 to 20 values of the field's type: buttons if the channel has them, else numbers."""
    free: bool
    """The person's own words count too."""
    skip: bool
    """The person may leave the field out, which gives it its default; it is asked for all the same."""


class InputField(Field):
    """A value that an agent needs before it runs.

    `prompt` is the question to the person, `description` the text for the model. The prompt, the validator's
    description and the field's name are translated for people if a catalogue has them. `validator` gets the converted
    value and returns None or True if it is valid, else False or a text to show.
    `type` is anything JSON can hold: str, int, float, bool, date, datetime, an Enum, a Literal, list[...].
    `choices` are shown to the person, translated if a catalogue has them; `FieldOptions` explains these keywords and
    `pattern`.
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
        **options: Unpack[FieldOptions],
    ) -> None:
        super().__init__(type, description, default)
        self.pattern = options.get("pattern", "")
        self.prompt = prompt
        self.choices = tuple(options.get("choices", ()))
        self.free = options.get("free", not self.choices)
        self.skip = options.get("skip", False)
        self.required = required and not self.skip
        self.validator = validator
        self.validator_description = validator_description

    @property
    def label(self) -> str:
        """Return the field's name as words, for the person."""
        return name_in_words(self.name)

    @property
    def words(self) -> str:
        """Return the field's name as words, for the model."""
        return self.name.replace("_", " ")

    @property
    def wanted(self) -> str:
        """Return the validator's description in the person's language; empty if there is none."""
        return gettext(self.validator_description) if self.validator_description else ""

    @property
    def asked_for(self) -> bool:
        """Return whether the person is asked if the value is missing."""
        return self.required or self.skip

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the choices as the person reads them."""
        return tuple(gettext(name) if name else name for name in map(_name_of, self.choices))

    def schema(self) -> JsonObject:
        """Return the JSON schema of the type, with the choices if only they are valid."""
        schema = super().schema()
        if not self.choices or self.free or "type" not in schema:
            return schema
        return schema | {"enum": [self.to_json(choice) for choice in self.choices]}

    def check(self, given: Any) -> Any:
        """Return a value from the model or a person, converted. Raises `InvalidValue` with the reason."""
        given = self._chosen(given) if self.choices else given
        try:
            value = self.adapter.validate_python(_readable(given, self.type))
        except ValidationError as error:
            wanted = self.wanted or _wanted(self.schema())
            raise InvalidValue(wanted or reason_in_words(error.errors()[0])) from error
        if not is_finite(self.to_json(value)):
            raise InvalidValue(self.wanted or gettext("it must be a finite number"))
        if self.required and isinstance(value, str) and not value.strip():
            raise InvalidValue(gettext("it is empty"))
        error_text = self._validated(value)
        if error_text is None or error_text is True:
            return value
        if isinstance(error_text, str) and error_text:
            raise InvalidValue(error_text)
        raise InvalidValue(self.wanted or gettext("it is not valid"))

    def _chosen(self, given: Any) -> Any:
        """Return the choice that a value or a label names, or the person's own words if the field allows them."""
        said = given.strip().casefold() if isinstance(given, str) else given
        for choice, label in zip(self.choices, self.labels, strict=True):
            named = (self.to_json(choice), _name_of(choice).casefold(), label.casefold())
            if given == choice or said in named:
                return choice
        if self.free:
            return given
        raise InvalidValue(gettext("it must be one of: {choices}", choices=", ".join(self.labels)))

    def _validated(self, value: Any) -> object:
        try:
            return self.validator(value) if self.validator else None
        except (ValueError, TypeError, LookupError, ArithmeticError):
            return False  # a validator that fails on a value does not accept it

    def from_json(self, stored: Json) -> Any:
        """Parse a value that `to_json` returned."""
        return self.adapter.validate_python(stored)


class OutputField(Field):
    """A value that an agent returns besides its message: set the attribute, and the model reads it."""

    def __init__(self, type: Any = str, description: str = "", default: Any = None) -> None:
        super().__init__(type, description, default)


def values_of(agent: object) -> dict[str, Any]:
    """Return the values of an agent's fields."""
    values: dict[str, Any] = agent.__dict__.setdefault("_values", {})
    return values


def fields_of[Kind: Field](cls: type, kind: type[Kind]) -> Mapping[str, Kind]:
    """Return the fields of one kind in the order of their declaration, the base classes' first."""
    fields: dict[str, Kind] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, kind):
                fields[name] = value
            else:
                fields.pop(name, None)
    return fields


def wrong_choices(field: InputField) -> str:
    """Return the error in a field's choices, for its author; empty if there is none."""
    if not field.choices:
        return ""
    names = [_name_of(choice).strip() for choice in field.choices]
    if not 2 <= len(names) <= MAX_CHOICES:
        return f"are {len(names)}; write 2 to {MAX_CHOICES}"
    if not all(0 < len(name) <= MAX_CHOICE for name in names) or len({name.casefold() for name in names}) < len(names):
        return f"must differ, and have 1 to {MAX_CHOICE} characters"
    try:
        for choice in field.choices:
            field.check(choice)
    except InvalidValue:
        return f"must be valid values; {choice!r} is not"
    return ""


def _name_of(choice: Any) -> str:
    return str(choice.value if isinstance(choice, Enum) else choice)


def _readable(given: Any, kind: Any) -> Any:
    """Accept values as people write them: an enum's value in any case, a list with commas, a number with spaces."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if kind is bool:
        truth = read_yes_or_no(text)
        return text if truth is None else truth
    if get_origin(kind) is list:
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(kind, type) and issubclass(kind, Enum):
        names = text.casefold()
        same = [item.value for item in kind if names in (str(item.value).casefold(), item.name.casefold())]
        return same[0] if same else text
    return text


def _wanted(schema: JsonObject) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list):
        return gettext("it must be one of: {choices}", choices=", ".join(map(str, choices)))
    wanted = _FORMATS.get(str(schema.get("format"))) or _TYPES.get(str(schema.get("type")))
    return gettext(wanted) if wanted else ""


def _without_titles(node: Json) -> Json:
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if isinstance(node, dict):
        return {key: _without_titles(value) for key, value in node.items() if key != "title"}
    return node
