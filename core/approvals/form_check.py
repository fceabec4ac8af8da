"""Find the errors in a form that a person sent, as far as the form itself allows; pure.

The web process loads no plugins, so it cannot ask a tool: types, choices and patterns are part of the stored form.
Errors that only a validator finds are named on the next card.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime

from pydantic import TypeAdapter, ValidationError

from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop, ngettext
from core.language.yes_no import read_yes_or_no
from core.messaging.messages import FormField

_MISSING = gettext_noop("This is required.")
_KINDS: dict[str, tuple[TypeAdapter[object], str]] = {
    "integer": (TypeAdapter(int), gettext_noop("This must be a whole number.")),
    "number": (TypeAdapter(float), gettext_noop("This must be a number.")),
    "boolean": (TypeAdapter(bool), gettext_noop("This must be yes or no.")),
    "date": (TypeAdapter(date), gettext_noop("This must be a date such as 2027-01-31.")),
    "date-time": (TypeAdapter(datetime), gettext_noop("This must be a date and time such as 2027-01-31T15:00.")),
}


def form_errors(form: Sequence[FormField], entered: Mapping[str, str]) -> dict[str, str]:
    """Return the errors by field name, a sentence each; empty if the form can be taken."""
    errors = {field.name: _error(field, entered[field.name].strip()) for field in form if field.name in entered}
    return {name: error for name, error in errors.items() if error}


def _error(field: FormField, text: str) -> str | None:
    if text == field.value.strip():
        return gettext(_MISSING) if field.required and not text else None  # as it was
    if not text:
        return gettext(_MISSING) if field.required else None
    if field.options:
        wanted = gettext("This must be one of: {choices}.", choices=", ".join(field.options))
        return None if text in field.options else wanted
    schemas = _branches(field.schema)
    wrong = [_wrong(schema, text) for schema in schemas]
    if not wrong or None in wrong:
        return None
    return f"{field.wanted[:1].upper()}{field.wanted[1:].rstrip('.')}." if field.wanted else wrong[0]


def _branches(schema: JsonObject) -> list[JsonObject]:
    """Return the alternative schemas of a field, without null: an empty field stands for that."""
    choices = schema.get("anyOf")
    listed = choices if isinstance(choices, list) else [schema]
    outer = {"pattern": schema["pattern"]} if "pattern" in schema else {}
    return [outer | choice for choice in listed if isinstance(choice, dict) and choice.get("type") != "null"]


def _wrong(schema: JsonObject, text: str) -> str | None:
    """Return the reason why a text is no value of a schema; None if it is valid, or cannot be checked."""
    if schema.get("type") == "array":
        items = schema.get("items")
        inner: JsonObject = {**(items if isinstance(items, dict) else {})}
        if "pattern" in schema:
            inner["pattern"] = schema["pattern"]
        return next(
            (error for part in text.split(",") if part.strip() and (error := _wrong(inner, part.strip()))), None
        )
    kind = _KINDS.get(str(schema.get("format"))) or _KINDS.get(str(schema.get("type")))
    if kind is not None:
        adapter, error = kind
        truth = read_yes_or_no(text) if schema.get("type") == "boolean" else None
        try:
            value = adapter.validate_python(text if truth is None else truth)
        except ValidationError:
            return gettext(error)
        return _out_of_range(schema, value)
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and re.fullmatch(pattern, text) is None:
        return gettext("“{text}” cannot be used here.", text=text)
    return _too_long(schema.get("maxLength"), text)


def _out_of_range(schema: JsonObject, value: object) -> str | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    least, most = _number(schema.get("minimum")), _number(schema.get("maximum"))
    above, below = _number(schema.get("exclusiveMinimum")), _number(schema.get("exclusiveMaximum"))
    if least is not None and value < least:
        return gettext("This must be at least {limit}.", limit=f"{least:g}")
    if most is not None and value > most:
        return gettext("This must be at most {limit}.", limit=f"{most:g}")
    if above is not None and value <= above:
        return gettext("This must be more than {limit}.", limit=f"{above:g}")
    if below is not None and value >= below:
        return gettext("This must be less than {limit}.", limit=f"{below:g}")
    return None


def _too_long(most: Json, text: str) -> str | None:
    if not isinstance(most, int) or len(text) <= most:
        return None
    return ngettext("This must have at most {number} character.", "This must have at most {number} characters.", most)


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
