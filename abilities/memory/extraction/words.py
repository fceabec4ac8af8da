"""Content words and their stems: enough to compare statements without a model."""

import re
import unicodedata
from pathlib import Path


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[^\W_][\w'’-]*", re.UNICODE)
STOP_WORDS = frozenset(
    word
    for line in Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
"""Words that only hold a sentence together, in the languages that the product speaks."""
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u30a1-\u30fa\u30fc]+")
"""Han characters and katakana, which are written without spaces."""
_HAN_GRAMMAR = re.compile(
    "为什么|什么时候|什么名字|什么|名字|名前|怎么|哪里|哪儿|哪个|哪些|多少|几点|我们|你们|他们|她们|吗|呢|吧|我|你|您|他|她|它|谁|哪"
    "|的|是|叫|在|了|有|和|与|也|都|就|很|这|那|请|私|何"
)
"""Words between which those stand that carry meaning."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, normalised, without possessive endings."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    return [word.strip("'-").removesuffix("'s") for word in _WORD.findall(plain)]


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning, in order, each once.

    In languages without spaces, such as Chinese, they are pairs of neighbouring characters.
    """
    return list(dict.fromkeys(part for word in words_of(text) for part in _meaning_in(word)))


def is_unspaced(word: str) -> bool:
    """Return whether a word is of a language that writes words without spaces around them."""
    return _HAN.fullmatch(word) is not None


def _meaning_in(word: str) -> list[str]:
    if not _HAN.search(word):
        return [word] if len(word) > 1 and word not in STOP_WORDS else []
    runs = [run for whole in _HAN.findall(word) for run in _HAN_GRAMMAR.split(whole) if run]
    return [pair for run in runs for pair in ([run[n : n + 2] for n in range(len(run) - 1)] or [run])]


def stem(word: str) -> str:
    """Strip common English endings, so that "moved" equals "moving"; other words stay as they are."""
    for ending, least in (("ies", 3), ("ing", 4), ("ied", 3), ("ed", 4), ("es", 4), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    return word.rstrip("e") if len(word) > 4 else word


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(stem(word) for word in content_words(text))
