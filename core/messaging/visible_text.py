"""Texts made safe to show: no character hides, turns others around, or poses as another."""

import re
import unicodedata

from core.messaging.mixed_scripts import posing_letters

_MARKUP = re.compile(r"[*~`\[\]<>#|\\{}]|(?<![^\W_])_+|_+(?![^\W_])")


_MAX_OF_SUMMARY = 200


_JOINER = "\u200d"


_PICTURE = "\ufe0f"
"""What makes a picture of the character before it."""


_GAP = re.compile(r"(?<=\S) {5,}")
"""Spaces inside a line; those that begin one are how it is set."""


_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(number) for number in range(0xFE00, 0xFE0F)
}
"""Letters and marks by their category that no font draws."""


def visible(text: str) -> str:
    """Name every character that a screen would hide, that would turn the order of others around, or poses as another.

    Spaces that would push the rest of a line out of sight are counted.
    """
    text = text.replace("\r\n", "\n")
    posing = posing_letters(text)
    seen = "".join(
        one if at not in posing and _is_seen(text, at) else f"<U+{ord(one):04X}>" for at, one in enumerate(text)
    )
    return _GAP.sub(lambda gap: f" <{len(gap[0])} spaces> ", seen)


def plain_words(text: str) -> str:
    """Return a text as one line without markup, in full. What stands inside a word is none, as in `a_b@example.com`."""
    return " ".join(_MARKUP.sub("", visible(text)).split())


def plain_line(text: str) -> str:
    """Return a text as one short line without markup; an argument is never shown by this alone."""
    line = plain_words(text)
    return line if is_short(line) else line[: _MAX_OF_SUMMARY - 3] + "..."


def is_short(text: str) -> bool:
    """Return whether `plain_line` shows a text in full."""
    return len(plain_words(text)) <= _MAX_OF_SUMMARY


def _is_seen(text: str, at: int) -> bool:
    one = text[at]
    if one in "\n\t" or one == " ":
        return True
    if one == _JOINER:  # as in many an emoji
        around = (text[at - 1 : at], text[at + 1 : at + 2])
        return all(part and unicodedata.category(part) in ("So", "Sk", "Mn") for part in around)
    if one == _PICTURE:
        return bool(at) and (text[at - 1] in "0123456789#*" or unicodedata.category(text[at - 1]) in ("So", "Sm", "Po"))
    if one in _BLANK or "\U000e0100" <= one <= "\U000e01ef":
        return False
    # Controls, formats (bidi, zero width), separators that are no plain space, surrogates, what nobody assigned.
    return unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
