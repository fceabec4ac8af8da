"""Groups of tools, and the words at which one is opened before the model is asked."""

import re
from collections.abc import Iterable
from functools import lru_cache

from core.language.catalogue import LANGUAGES, translations

_AT_ONCE = 2
"""Groups that one text opens: more would be a guess."""
_NO_SPACES = re.compile(r"[\u3400-\u9fff]")


class ToolGroup(str):
    """The name of a group of tools, which is one line for the model until the conversation opens it.

    words: what people say who want it, with commas between, such as `email, emails, inbox`: a text with one of them, in
    any of the catalogues' languages, opens the group. A small model seldom opens one by itself.
    """

    words: str

    def __new__(cls, name: str, words: str = "") -> "ToolGroup":
        group = super().__new__(cls, name)
        group.words = words
        return group


def likely_groups(groups: Iterable[str | None], text: str) -> tuple[str, ...]:
    """Return the groups that a text speaks of, by their words; the first two of them."""
    found = {str(group): None for group in groups if isinstance(group, ToolGroup) and _speaks_of(group.words, text)}
    return tuple(found)[:_AT_ONCE]


def _speaks_of(words: str, text: str) -> bool:
    return bool(words) and _pattern(words).search(text) is not None


@lru_cache(256)
def _pattern(words: str) -> re.Pattern[str]:
    """Return what finds a group's words in any language: whole words, where a language has spaces between them."""
    listed = {word.strip() for tag in LANGUAGES for word in re.split("[,，、]", translations(tag).gettext(words))}
    found = (
        re.escape(word) if _NO_SPACES.search(word) else rf"\b{re.escape(word)}\b" for word in sorted(listed - {""})
    )
    return re.compile("|".join(found), re.IGNORECASE)


def _finding(word: str) -> str:
    return re.escape(word) if _NO_SPACES.search(word) else rf"\b{re.escape(word)}\b"
