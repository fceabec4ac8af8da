"""The language that a person writes in, recognised by its words."""

import re
from collections import Counter

from workbench.demo.phrases import TABLES

_ENGLISH = (
    "the is are i you what my me your and to please weather remind remember forget help hello hi thanks yes it that do"
    " does how when where who can of for this note notes email send tomorrow today"
)
_WORDS = {"en": _ENGLISH.split(), **{table.language: table.words.split() for table in TABLES if table.words}}
_HAN, _KANA = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"[\u3040-\u30ff]")


def language_written(text: str) -> str:
    """Return the code of a text's language, out of six; empty if it is not recognized."""
    if _HAN.search(text):
        return "" if _KANA.search(text) else "zh"
    said = re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", text.casefold().replace("\u2019", "'"))
    said += [part for word in said if "-" in word for part in word.split("-")]
    known = Counter({language: sum(word in words for word in said) for language, words in _WORDS.items()})
    [(language, count), (_, second)] = known.most_common(2)
    return language if count > second else ""
