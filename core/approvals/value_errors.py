"""What is wrong with the value of an argument that a person changed, in their language. Pure."""

from collections.abc import Mapping

from pydantic import ValidationError

from core.language.catalogue import gettext, gettext_noop, name_in_words, ngettext

_KINDS = {
    "int": gettext_noop("it must be a whole number"),
    "float": gettext_noop("it must be a number"),
    "bool": gettext_noop("it must be yes or no"),
    "list": gettext_noop("it must be a list"),
    "string": gettext_noop("it must be a text"),
    "date": gettext_noop("it must be a date such as 2027-01-31"),
    "datetime": gettext_noop("it must be a date and time such as 2027-01-31T15:00"),
}
"""By the beginning of pydantic's names of errors, such as `int_parsing` and `int_type`."""


def value_errors(error: ValidationError) -> str:
    """Return what is wrong, by argument."""
    return "; ".join(
        gettext(
            "{field}: {reason}", field=" ".join(name_in_words(str(part)) for part in item["loc"]), reason=_reason(item)
        )
        for item in error.errors()
    )


def _reason(item: Mapping[str, object]) -> str:
    kind, given = str(item["type"]), item.get("ctx")
    limits = given if isinstance(given, dict) else {}
    match kind:
        case "missing":
            return gettext("it is missing")
        case "literal_error" | "enum":
            return gettext("it must be one of: {choices}", choices=limits.get("expected", ""))
        case "greater_than_equal":
            return gettext("it must be at least {limit}", limit=limits["ge"])
        case "greater_than":
            return gettext("it must be more than {limit}", limit=limits["gt"])
        case "less_than_equal":
            return gettext("it must be at most {limit}", limit=limits["le"])
        case "less_than":
            return gettext("it must be less than {limit}", limit=limits["lt"])
        case "string_too_long":
            return ngettext(
                "it must have at most {number} character",
                "it must have at most {number} characters",
                int(str(limits["max_length"])),
            )
    wanted = _KINDS.get(kind.split("_")[0])
    return gettext(wanted) if wanted else gettext("it is not valid")
