"""Read typed answers to questions with choices: by their numbers, or by their words. Pure."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from core.language.catalogue import LANGUAGES, gettext_noop, translations
from core.questions.types import SKIP, Asked

_PARTS = re.compile(r"[,;\n，、；]+")
_AROUND = " \t.!()[]#:。！"
_AND = frozenset({"and", "&", "+", "und", "y", "et", "e", "和"})
_SKIPS = (gettext_noop("skip"), gettext_noop("Skip"), gettext_noop("(skip this)"))

type Picks = Mapping[int, int]
"""The choices by the place of their question; `SKIP` for a question that is left out."""


def read_picks(asks: Sequence[Asked], text: str, *, by_words: bool = True) -> Picks | None:
    """Return the choices that a text makes, if it does nothing else; None if it may say something else, or too much.

    `by_words`: choices count by their words too, and not by their keys alone.
    """
    said = _plain(text)
    if not said:
        return None
    if by_words:
        named = [(at, choice) for at, asked in enumerate(asks) for choice in _by_words(asked, said)]
        if len(named) == 1:
            return dict(named)
        if len(asks) == 1 and asks[0].skip and said in _skip_words():
            return {0: SKIP}
    parts = [part for part in map(_plain, _PARTS.split(text)) if part]
    found = [pick for part in parts for pick in _read_part(asks, part, by_words=by_words)]
    picks = {at: choice for at, choice in found if at is not None}
    if len(picks) == len(found):
        return picks
    return _one_for_each(asks, parts) if by_words else None


def _read_part(asks: Sequence[Asked], part: str, *, by_words: bool) -> list[tuple[int | None, int]]:
    """Return the picks of a part; a pick without a question if the part, or a word of it, is no pick."""
    if by_words:
        named = [(at, choice) for at, asked in enumerate(asks) for choice in _by_words(asked, part)]
        if len(named) == 1:
            return [*named]
    found = [(word, _by_key(asks, word)) for word in map(_plain, part.split())]
    return [pick for word, pick in found if pick[0] is not None or word not in _AND]


def _by_key(asks: Sequence[Asked], word: str) -> tuple[int | None, int]:
    for at, asked in enumerate(asks):
        if word in asked.keys:
            choice = asked.keys.index(word)
            return at, choice if choice < len(asked.labels) else SKIP
    return None, 0


def _one_for_each(asks: Sequence[Asked], parts: Sequence[str]) -> Picks | None:
    """Return the choices if each part is a choice of the question in its place: "yes, no"."""
    if len(parts) != len(asks):
        return None
    found = [
        [SKIP] if asked.skip and part in _skip_words() else _by_words(asked, part)
        for asked, part in zip(asks, parts, strict=True)
    ]
    return {at: choices[0] for at, choices in enumerate(found)} if all(found) else None


def _by_words(asked: Asked, said: str) -> list[int]:
    return [at for at, label in enumerate(asked.labels) if _plain(label) == said]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_AROUND)


def _skip_words() -> frozenset[str]:
    return frozenset(_plain(translations(language).gettext(word)) for language in LANGUAGES for word in _SKIPS)
