"""Third parties' text without invisible letters, so that a person and a model read the same. Pure.

Of Unicode's default-ignorable characters, only those that writing needs are kept: joiners within emoji and between
letters of scripts that join, one selector after an emoji, and the flags that are made of tags. All marks of direction
go.
"""

import re
import unicodedata

_FLAG = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls"))
)
_UNSEEN = re.compile(
    f"(?P<flag>{_FLAG})|"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_LINES = ("\u2028", "\u2029")
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_SELECTORS = ("\ufe0e", "\ufe0f")
_PICTURES = ("So", "Sk")
_JOINING = re.compile(
    "[\u0600-\u07ff\u0840-\u0dff\u0e80-\u109f\u1780-\u17ff\u1820-\u18aa\ua800-\ua82f\ua840-\ua877\ua8e0-\ua8ff\ufb50-\ufdcf"
    "\ufe70-\ufefc\U00010a00-\U00011fff]"
)
"""Letters and marks of scripts in which a joiner, or its opposite, changes the reading."""


def without_unseen(text: str) -> str:
    """Return a text without invisible letters; separators of lines become line ends."""
    return _UNSEEN.sub(_kept, text)


def one_line(text: str) -> str:
    """Return a text on a single line, without invisible letters."""
    return " ".join(without_unseen(" ".join(text.split())).split())


def _kept(found: re.Match[str]) -> str:
    char, text, at = found[0], found.string, found.start()
    if found["flag"]:
        return char
    if char in _LINES:
        return "\n"
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return char if _is_needed(char, before, after) else ""


def _is_needed(char: str, before: str, after: str) -> bool:
    if char in _SELECTORS:
        return _is_picture(before) or (before in tuple("0123456789#*") and after == "\u20e3")
    if "\u180b" <= char <= "\u180f":
        return "\u1820" <= before <= "\u18aa"
    if char not in (_NON_JOINER, _JOINER):
        return False
    if char == _JOINER and (_is_picture(before) or before == _SELECTORS[1]) and _is_picture(after):
        return True
    return _JOINING.match(before) is not None and _JOINING.match(after) is not None


def _is_picture(char: str) -> bool:
    return bool(char) and (
        unicodedata.category(char) in _PICTURES or char in "\u203c\u2049\u3030\u303d\u2194\u2195\u2640\u2642"
    )
