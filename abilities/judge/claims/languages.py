"""The words by which answers claim acts, by language, and those by which people ask for acts.

A verb is strong if its past alone says that something was done out there ("emailed"); a weak verb ("added") does so
only about a thing such as a reminder, or in answer to a request.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

ADVERBS = "<adverbs>"
VERB = "<verb>"


class Verbs(NamedTuple):
    """Words, separated by spaces; all in lower case."""

    strong: str
    weak: str = ""


class Form(NamedTuple):
    """A form of a claim. In `pattern`, `VERB` and `ADVERBS` stand for those words.

    `passive`: it names no agent, so it may be news ("your flight is booked").
    """

    pattern: str
    verbs: Verbs
    passive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language's words. All but `forms` are regular expressions that ignore case."""

    adverbs: str
    forms: tuple[Form, ...]
    done: str
    """An answer's beginning that claims whatever was asked for."""
    outward: str
    """Verbs of acts that reach others: a reminder that was set does not make them true."""
    to_the_reader: str
    """Within a sentence: it was sent to the reader, as this very answer is."""
    barred: str
    """Before a claim, within its clause: a condition, a negation, or others' words."""
    things: str
    """Things that weak verbs change."""
    texts: str
    """Parts of a text that was written for the reader: to change them is no act."""
    past: str
    """Times before this turn."""
    asks: str
    """The beginnings of verbs by which acts are asked for."""
    begins: str
    """The beginning of a request, before its verb."""
    polite: str
    """The beginning of a request in the form of a question, up to its verb."""
    inquires: str
    """The beginning of a message that asks for news or for words."""
    agrees: str
    """The beginning of a message that says yes to an offer."""


def words_of(listed: str) -> frozenset[str]:
    """Return words that are separated by spaces."""
    return frozenset(listed.split())


def with_endings(stems: str, endings: str) -> str:
    """Return each stem with each ending, as words."""
    return " ".join(f"{stem}{ending}" for stem in stems.split() for ending in endings.split(","))


def one_of(words: str | Iterable[str]) -> str:
    """Return an expression for one of some words, the longest first."""
    listed = words.split() if isinstance(words, str) else words
    return "|".join(map(re.escape, sorted(listed, key=len, reverse=True)))
