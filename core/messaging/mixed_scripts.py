"""Letters that pose as those of another script: `p` and `a` of the Cyrillic in an otherwise Latin word."""

import unicodedata

import regex

_ALIKE = ("Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu", "Georgian", "Deseret")
"""Scripts whose letters look like those of one another (Unicode TR39). Others are written together, as in Japanese."""
_LETTERS = {name: regex.compile(rf"\p{{Script={name}}}") for name in _ALIKE}
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+")


def posing_letters(text: str) -> frozenset[int]:
    """Return where letters stand that are of another script than most of their word, and those in a disguise.

    In a word with Latin letters all others are meant: those are the words that are posed as.
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
    """Return whether a letter is a variant of an ASCII one, such as a full-width or a mathematical `a`."""
    if letter < "\u0100" or unicodedata.category(letter)[0] not in "LN":
        return False
    plain = unicodedata.normalize("NFKC", letter)
    return plain != letter and plain.isascii() and plain.isalnum()
