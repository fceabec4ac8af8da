"""Edit an action before its approval: forms, parsed input, and the differences. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from pydantic import ValidationError

from core.approvals.rendering import as_text
from core.approvals.value_errors import value_errors
from core.errors import ToolRetry
from core.json_types import Json, JsonObject, is_empty, object_of, objects_in, read_json
from core.language.catalogue import name_in_words
from core.language.yes_no import read_yes_or_no, yes_or_no
from core.messaging.messages import FormField, FormFieldKind
from core.tools.tool import AnyTool

type Check = Callable[[JsonObject, JsonObject], JsonObject]
type Shown = Sequence[tuple[str, str]]
"""The labels and texts of a card."""
_LONG = 60
_TEXTS = ("string", "integer", "number", "boolean")


def tool_form(tool: AnyTool, arguments: JsonObject) -> tuple[FormField, ...]:
    """Return the form for a tool's arguments; a value that no text field holds can be changed in words only."""
    required = cast(list[str], tool.signature.schema.get("required", []))
    return form_of(_properties(tool), arguments, required)


_CHECKED = (
    "type",
    "format",
    "items",
    "anyOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "maxLength",
)
"""The keywords of a JSON schema that a form keeps, to be checked when it is sent."""


def tool_check(tool: AnyTool) -> Check:
    """Return a check of a tool's changed arguments; it raises `ToolRetry` with the errors, for the person."""

    def check(arguments: JsonObject, changes: JsonObject) -> JsonObject:
        changed = {**arguments, **_really_changed(arguments, changes, _properties(tool))}
        try:
            model = tool.signature.model.model_validate(changed)
        except ValidationError as error:
            raise ToolRetry(value_errors(error)) from error
        return cast(JsonObject, model.model_dump(mode="json", by_alias=True, exclude_unset=True))

    return check


def differences(before: JsonObject, after: JsonObject) -> tuple[str, ...]:
    """Return the changes, a line each: `subject: Lunch -> Dinner`."""
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        f"{name_in_words(name)}: {as_text(before.get(name))} -> {as_text(after.get(name))}"
        for name in names
        if before.get(name) != after.get(name)
    )


def changed_lines(before: Shown, after: Shown) -> tuple[str, ...]:
    """Return the changes between two cards, a line each; `(none)` stands for an argument that a card does not show."""
    old, new = _by_label(before), _by_label(after)
    labels = [*old, *(label for label in new if label not in old)]
    return tuple(
        f"{label}: {old.get(label, as_text(None))} -> {new.get(label, as_text(None))}"
        for label in labels
        if old.get(label) != new.get(label)
    )


def _by_label(shown: Shown) -> dict[str, str]:
    texts: dict[str, str] = {}
    for label, text in shown:
        texts[label] = f"{texts[label]}; {text}" if label in texts else text
    return texts


def as_it_was(schema: Json, arguments: JsonObject, name: str, given: Json) -> bool:
    """Return whether an argument was not given, and the form's value of it is still the default."""
    if name in arguments or not isinstance(schema, dict):
        return False
    return given in ("", None) or given == schema.get("default") or given == _line(schema, schema.get("default"))


def _really_changed(arguments: JsonObject, changes: JsonObject, schemas: Mapping[str, Json]) -> JsonObject:
    """Return the changed values, parsed; an emptied value takes its default."""
    changed: JsonObject = {}
    for name, given in changes.items():
        schema = schemas.get(name)
        if as_it_was(schema, arguments, name, given):
            continue
        default = schema.get("default") if isinstance(schema, dict) else None
        emptied = given in ("", None) and not is_empty(default)
        changed[name] = default if emptied else _parse_as(schema, arguments.get(name, default), given)
    return changed


def _properties(tool: AnyTool) -> Mapping[str, Json]:
    return object_of(tool.signature.schema.get("properties"))


def form_of(
    schemas: Mapping[str, Json], arguments: JsonObject, required: list[str], wanted: Mapping[str, str] | None = None
) -> tuple[FormField, ...]:
    """Return the fields of a form, with defaults for arguments that are not given; `wanted`: descriptions of fields."""
    fields: list[FormField] = []
    for name, schema in schemas.items():
        if not isinstance(schema, dict):
            continue
        value, choices = arguments.get(name, schema.get("default")), schema.get("enum")
        label = name_in_words(name)
        label = label[:1].upper() + label[1:]
        if isinstance(choices, list):
            options = tuple(str(choice) for choice in choices)
            shown = str(value) if str(value) in options else ""
            fields.append(FormField(name, label, shown, FormFieldKind.CHOICE, options, name in required))
        elif (text := _line(schema, value)) is not None:
            long = len(text) > _LONG or "\n" in text
            kind = FormFieldKind.TEXT if long else FormFieldKind.LINE
            checked: JsonObject = {key: schema[key] for key in (*_CHECKED, "pattern") if key in schema}
            words = (wanted or {}).get(name, "")
            fields.append(FormField(name, label, text, kind, (), name in required, checked, words))
    return tuple(fields)


def _line(schema: JsonObject, value: Json) -> str | None:
    """Return a value as text to edit; None for a value that text cannot hold."""
    if isinstance(value, dict) or (isinstance(value, list) and not all(isinstance(item, str) for item in value)):
        return None
    kinds = _kinds(schema)
    if isinstance(value, list) or "array" in kinds:
        return ", ".join(str(item) for item in value) if isinstance(value, list) else ""
    if value is None and not any(kind in _TEXTS for kind in kinds):
        return None
    if isinstance(value, bool):
        return yes_or_no(value)
    return "" if value is None else str(value)


def _kinds(schema: JsonObject) -> list[Json]:
    return [schema.get("type"), *(choice.get("type") for choice in _any_of(schema))]


def _any_of(schema: JsonObject) -> list[JsonObject]:
    return objects_in(schema.get("anyOf"))


def _parse_as(schema: Json, before: Json, given: Json) -> Json:
    if not isinstance(given, str):
        return given
    if isinstance(before, bool) or (isinstance(schema, dict) and "boolean" in _kinds(schema)):
        truth = read_yes_or_no(given)
        return given if truth is None else truth
    if isinstance(before, str | None):
        return given
    if isinstance(before, list):
        return [part.strip() for part in given.split(",") if part.strip()]
    try:
        return read_json(given)
    except ValueError:
        return given
