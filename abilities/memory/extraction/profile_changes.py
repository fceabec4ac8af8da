"""Extracting profile facts from a person's words: the prompt for the model, and its answer, parsed strictly."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.json_types import object_in
from core.people.profile import MAX_VALUE, FactSource

PROFILE_TASK = """"changes" in the answer: a short profile of the person is kept, so that their assistant serves them
better: their name, language, home town, work, family, diet, and lasting preferences of how they want to be served.
From what the person wrote, name only what is new or has changed against "known" and will still hold in months. Nothing
about today's task, other people's secrets, passwords, numbers of cards or accounts. "told" is what they say of
themselves in so many words; "inferred" is what follows. Such as [{"key": "home_town", "value": "Lisbon", "source":
"told"}], with an empty list when there is nothing. Keys are short, in snake_case; use a key that is known where it
fits."""
_MAX_CHANGES = 5
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SECRET = re.compile(r"password|passcode|\bpin\b|secret|token|card|cvv|iban|account_n", re.IGNORECASE)
_DIGITS = re.compile(r"(?:[0-9][ -]?){9,}")


@dataclass(frozen=True, slots=True)
class Change:
    """A fact to store."""

    key: str
    value: str
    source: FactSource


def read_changes(answer: str, words: Sequence[str]) -> list[Change]:
    """Parse the model's answer, without facts that are malformed or should not be stored.

    A fact that the model calls stated, but of which the person wrote no word, counts as inferred.
    """
    listed = object_in(answer).get("changes")
    changes: list[Change] = []
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict):
            continue
        key, value = str(item.get("key", "")), " ".join(str(item.get("value", "")).split())
        if not _KEY.fullmatch(key) or not 1 <= len(value) <= MAX_VALUE or _SECRET.search(key) or _DIGITS.search(value):
            continue
        is_told = item.get("source") == "told" and _is_written(value, words)
        changes.append(Change(key, value, FactSource.TOLD if is_told else FactSource.INFERRED))
    return changes[:_MAX_CHANGES]


def _is_written(value: str, words: Sequence[str]) -> bool:
    written = {word for text in words for word in re.findall(r"\w+", text.casefold())}
    return bool(written & set(re.findall(r"\w{2,}", value.casefold())))
