"""Read numbers, truths, choices and text as small models write them: another form of the same value, never a guess."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from core.json_types import Json, JsonObject
from core.language.yes_no import read_yes_or_no

UNREAD: Final = object()
"""The result of a reader for a value that is of no type of its schema's."""

_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "1", "t", "y"), True),
    **dict.fromkeys(("false", "no", "off", "0", "f", "n"), False),
}
_DIGITS = r"[+-]?\d{1,40}(?:\.\d{1,40})?"
_NUMBER = re.compile(_DIGITS)
_PERCENTAGE = re.compile(rf"({_DIGITS})\s*[%％]")
_NUMBERED = re.compile(r"(?:([^\W\d_]+)\s*)?(?:n[º°]|#|№)?\s*(\d{1,18})", re.IGNORECASE)
"""A number with its noun: "task 2", "note #3", "no 4"."""
_NUMBER_WORDS = frozenset({"number", "no", "nr", "num", "item", "nummer", "número", "numéro", "numero"})
_NOT_NOUN = re.compile(
    "about|above|after|all|at|before|below|but|by|every|except|for|from|half|in|last|least|less|minus?|more|most|negative"
    "|next|not|of|over|past|plus?|than|til|to|under|until|within|without|second|minute|hour|day|week|month|year|january"
    "|february|march|april|may|june|july|august|september|october|november|december"
)
"""Words before a number that change its meaning."""
_EMPTY_WORDS = frozenset({"", "null", "none"})


def nouns_of(text: str) -> frozenset[str]:
    """Return the words of a text that may stand before a number and only name the numbered thing."""
    words = [word.removesuffix("s") for word in re.findall(r"[^\W\d_]+", text.casefold())]
    return frozenset(word for word in words if not _NOT_NOUN.fullmatch(word))


def read_scalar(value: Json, schema: JsonObject, name: str, nouns: frozenset[str]) -> object:
    """Convert a value of another type to a type of the schema; `UNREAD` if that fails.

    `name` is the argument's; `nouns` may stand before a number.
    """
    if "enum" in schema or "const" in schema:
        return _choice(value, schema)
    match schema.get("type"):
        case "integer" | "number":
            return _number(value, schema, name, nouns)
        case kind:
            reader = _READERS.get(str(kind))
            return reader(value, schema) if reader else UNREAD


def _choice(value: Json, schema: JsonObject) -> object:
    """Return the single choice that is the same but for case and for the characters between its words."""
    listed = schema.get("enum")
    choices = listed if isinstance(listed, list) else [schema.get("const")]
    if not isinstance(value, str):
        return UNREAD
    same = [choice for choice in choices if _plain(str(choice)) == _plain(value)]
    return same[0] if len(same) == 1 else UNREAD


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip().casefold())


def _number(value: Json, schema: JsonObject, name: str, nouns: frozenset[str]) -> object:
    """Read "42", "20%" or "task 2"."""
    whole = schema.get("type") == "integer"
    if isinstance(value, float) and whole and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return UNREAD
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _of_digits(text, whole=whole)
    if match := _PERCENTAGE.fullmatch(text):
        return _percentage(match[1], schema, name, whole=whole)
    match = _NUMBERED.fullmatch(text.replace(".", " ", 1))
    if match is None or not whole:
        return UNREAD
    noun = (match[1] or "number").casefold()
    return int(match[2]) if noun in _NUMBER_WORDS or noun.removesuffix("s") in nouns else UNREAD


def _of_digits(digits: str, *, whole: bool) -> object:
    integer, _, fraction = digits.partition(".")
    if not fraction or (whole and not fraction.strip("0")):
        return int(integer)
    return UNREAD if whole else float(digits)


def _percentage(digits: str, schema: JsonObject, name: str, *, whole: bool) -> object:
    """Read a percentage if its meaning is clear: a share of at most 1, or a number of percent by its name."""
    if schema.get("maximum") == 1:
        return UNREAD if whole else float(f"{digits}e-2")
    return _of_digits(digits, whole=whole) if re.search("percent|pct", name, re.IGNORECASE) else UNREAD


def _truth(value: Json, schema: JsonObject) -> object:
    """Read true and yes in words, or 1."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value in (0, 1):
        return bool(value)
    if not isinstance(value, str):
        return UNREAD
    truth = _TRUTHS.get(value.strip().casefold())
    truth = read_yes_or_no(value) if truth is None else truth
    return UNREAD if truth is None else truth


def _text(value: Json, schema: JsonObject) -> object:
    """Write a whole number as text. A fraction may have lost digits that matter, such as those of 1.10."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number and "format" not in schema else UNREAD


def _nothing(value: Json, schema: JsonObject) -> object:
    """Read nothing from an empty value, or from the word for it."""
    is_nothing = value in (None, []) or (isinstance(value, str) and value.strip().casefold() in _EMPTY_WORDS)
    return None if is_nothing else UNREAD


_READERS: Mapping[str, Callable[[Json, JsonObject], object]] = {"boolean": _truth, "string": _text, "null": _nothing}
