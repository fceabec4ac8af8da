"""The errors in arguments that a person changed, in their language. Pure."""

import ast
import re
from collections.abc import Mapping

from pydantic import ValidationError

from core.json_types import object_of
from core.language.catalogue import gettext, gettext_noop, listed, name_in_words, ngettext, ngettext_noop

_KINDS = {
    "int": gettext_noop("it must be a whole number"),
    "float": gettext_noop("it must be a number"),
    "decimal": gettext_noop("it must be a number"),
    "bool": gettext_noop("it must be yes or no"),
    "list": gettext_noop("it must be a list"),
    "string": gettext_noop("it must be a text"),
    "date": gettext_noop("it must be a date such as 2027-01-31"),
    "datetime": gettext_noop("it must be a date and time such as 2027-01-31T15:00"),
}
"""By the beginning of pydantic's names of errors, such as `int_parsing` and `int_type`."""
_LENGTHS = {
    "string_too_long": (
        "max_length",
        ngettext_noop("it must have at most {number} character", "it must have at most {number} characters"),
    ),
    "string_too_short": (
        "min_length",
        ngettext_noop("it must have at least {number} character", "it must have at least {number} characters"),
    ),
    "too_long": (
        "max_length",
        ngettext_noop("it must have at most {number} entry", "it must have at most {number} entries"),
    ),
    "too_short": (
        "min_length",
        ngettext_noop("it must have at least {number} entry", "it must have at least {number} entries"),
    ),
}
_CHOICE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,]+""")


def value_errors(error: ValidationError) -> str:
    """Return the errors by argument, in a single line."""
    return "; ".join(
        gettext(
            "{field}: {reason}",
            field=" ".join(name_in_words(str(part)) for part in item["loc"]),
            reason=reason_in_words(item),
        )
        for item in error.errors()
    )


def reason_in_words(item: Mapping[str, object]) -> str:
    """Return the reason behind an error of pydantic's, in our words."""
    kind, limits = str(item["type"]), object_of(item.get("ctx"))
    if kind in _LENGTHS:
        limit, (one, many) = _LENGTHS[kind]
        return ngettext(one, many, int(str(limits[limit])))
    match kind:
        case "missing":
            return gettext("it is missing")
        case "literal_error" | "enum":
            return gettext("it must be one of: {choices}", choices=_choices(str(limits.get("expected", ""))))
        case "greater_than_equal":
            return gettext("it must be at least {limit}", limit=limits["ge"])
        case "greater_than":
            return gettext("it must be more than {limit}", limit=limits["gt"])
        case "less_than_equal":
            return gettext("it must be at most {limit}", limit=limits["le"])
        case "less_than":
            return gettext("it must be less than {limit}", limit=limits["lt"])
        case "time_parsing" | "time_type":
            return gettext("it must be a time such as 15:00")
        case "string_pattern_mismatch":
            return gettext("it is not valid")
    wanted = _KINDS.get(kind.split("_")[0])
    return gettext(wanted) if wanted else gettext("it is not valid")


def _choices(expected: str) -> str:
    """Return pydantic's choices, such as `'high', "it's" or 3`, as a list in the person's language."""
    written = [choice for choice in _CHOICE.findall(expected) if choice != "or"]
    return listed([str(ast.literal_eval(choice)) if choice[0] in "'\"" else choice for choice in written], "or")
