"""BCP 47 tags of languages, as providers and people write them. Pure."""

import re
from functools import cache

from babel import Locale

MAX_LENGTH = 35
"""Characters of a tag, which RFC 5646 (section 4.4.1) wants every program to hold."""
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_NAMES = {
    "english": "en",
    "portuguese": "pt",
    "spanish": "es",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "dutch": "nl",
    "polish": "pl",
    "ukrainian": "uk",
    "russian": "ru",
    "turkish": "tr",
    "arabic": "ar",
    "hindi": "hi",
    "chinese": "zh",
    "japanese": "ja",
    "korean": "ko",
}
"""The English names of the languages; Babel knows their own names."""


def read_tag(text: str) -> str:
    """Return a tag in its usual spelling, such as pt-BR for `pt_br`; empty for a text that is no tag."""
    tag = text.strip().replace("_", "-")
    if len(tag) > MAX_LENGTH or not _TAG.fullmatch(tag):
        return ""
    first, *others = tag.split("-")
    return "-".join((first.lower(), *(_spelled(part) for part in others)))


def named_tag(text: str) -> str:
    """Return the tag that a text is, or whose language it names: de for `German` and `Deutsch`; empty for none."""
    name = " ".join(text.split()).casefold()
    return _NAMES.get(name) or _own_names().get(name) or read_tag(text)


def _spelled(part: str) -> str:
    """Return a part after the first as RFC 5646 (section 2.1.1) writes it: a region in capitals, a script as a name."""
    if len(part) == 2:
        return part.upper()
    return part.title() if len(part) == 4 and part.isalpha() else part.lower()


@cache
def _own_names() -> dict[str, str]:
    """Return the languages by their own names, case-folded."""
    return {(Locale(code).get_language_name() or code).casefold(): code for code in _NAMES.values()}
