"""Letters that pose as letters of another script, such as Cyrillic `p` and `a` in an otherwise Latin word."""

import unicodedata

import regex

_ALIKE = ("Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu", "Georgian", "Deseret")
"""Scripts with letters that look alike (Unicode TR39). Other scripts are properly mixed, as in Japanese."""
_LETTERS = {name: regex.compile(rf"\p{{Script={name}}}") for name in _ALIKE}
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+")


def posing_letters(text: str) -> frozenset[int]:
    """Return the indexes of letters whose script is not that of most of their word, and of disguised letters.

    In a word with Latin letters, all letters of other scripts count: Latin words are those that are imitated.
    """
    if text.isascii():
        return frozenset()
    return frozenset(at for word in _WORD.finditer(text) for at in _posing(word[0], word.start()))


def _posing(word: str, start: int) -> list[int]:
    present = [name for name, letter in _LETTERS.items() if letter.search(word)]
    scripts = [_script(letter) for letter in word] if len(present) > 1 else [""] * len(word)
    most = "Latin" if "Latin" in present else max(present, key=scripts.count, default="")
    return [
        start + at
        for at, (letter, script) in enumerate(zip(word, scripts, strict=True))
        if (script and script != most) or _is_disguised(letter)
    ]


def _script(letter: str) -> str:
    return next((name for name, pattern in _LETTERS.items() if pattern.fullmatch(letter)), "")


def _is_disguised(letter: str) -> bool:
    """Return whether a letter is a variant of an ASCII letter, such as a full-width or a mathematical `a`."""
    if letter < "\u0100" or unicodedata.category(letter)[0] not in "LN":
        return False
    plain = unicodedata.normalize("NFKC", letter)
    return plain != letter and plain.isascii() and plain.isalnum()
