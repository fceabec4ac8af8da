"""Make texts safe to show: no character hides, reverses others, or poses as another."""

import re
import unicodedata

from core.messaging.mixed_scripts import posing_letters

_MARKUP = re.compile(r"[\\`*~\[\]<]|&(?=#?[0-9A-Za-z]+;)|(?<![^\W_])_|_(?![^\W_])")
"""Characters with a meaning in Markdown inside a line. The SQL function `literal` has the same pattern."""


_MAX_OF_SUMMARY = 200


_JOINER = "\u200d"


_PICTURE = "\ufe0f"
"""The selector that shows the preceding character as a picture."""


_GAP = re.compile(r"(?<=\S) {5,}")
"""Many spaces inside a line; those at its beginning are its indentation."""


_TAIL = re.compile(r" +(?=\n|\Z)")
"""Spaces at the end of a line, which some channels leave out."""


_ROOM = re.compile(r"[ \t\r\n]+")


_OURS = re.compile(r"<(?=U\+[0-9A-F]+>|[0-9]+ spaces?>|tab>)")
"""The beginning of a person's own text that looks like this module's name for a hidden character."""


_DROPPED = frozenset("\u030a\u0333\u033f")
"""Marks that Telegram drops from every text."""


_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(number) for number in range(0xFE00, 0xFE0F)
}
"""Letters and marks, by category, that no font draws."""


def visible(text: str) -> str:
    """Replace every character that a screen would hide, that reverses others, or that poses as another by its name.

    Spaces that would push the rest of a line out of sight, and those at its end, are replaced by their number. Two
    different texts never have the same result.
    """
    posing = posing_letters(text)
    ours = {match.start() for match in _OURS.finditer(text)}
    seen = "".join(
        char if at not in posing and at not in ours and _is_seen(text, at) else _named(char)
        for at, char in enumerate(text)
    )
    counted = _TAIL.sub(lambda tail: f"<{_spaces(tail[0])}>", seen)
    return _GAP.sub(lambda gap: f" <{_spaces(gap[0])}> ", counted)


def literal(text: str) -> str:
    """Escape a line so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\g<0>", text)


def plain_words(text: str) -> str:
    """Return a text as a single line, in full and with every visible character."""
    return visible(_ROOM.sub(" ", text).strip())


def plain_line(text: str) -> str:
    """Return a text as a short line. An argument must never be shown by this alone."""
    line = plain_words(text)
    return line if is_short(line) else line[: _MAX_OF_SUMMARY - 3] + "..."


def is_short(text: str) -> bool:
    """Return whether `plain_line` shows a text in full."""
    return len(plain_words(text)) <= _MAX_OF_SUMMARY


def _named(char: str) -> str:
    return "<tab>" if char == "\t" else f"<U+{ord(char):04X}>"


def _spaces(run: str) -> str:
    return f"{len(run)} space{'s' if len(run) > 1 else ''}"


def _is_seen(text: str, at: int) -> bool:
    """Return whether a screen shows the character at this index."""
    char = text[at]
    if char in "\n ":
        return True
    if char == _JOINER:  # as in many an emoji
        around = (text[at - 1 : at], text[at + 1 : at + 2])
        return all(part and unicodedata.category(part) in ("So", "Sk", "Mn") for part in around)
    if char == _PICTURE:
        return bool(at) and (text[at - 1] in "0123456789#*" or unicodedata.category(text[at - 1]) in ("So", "Sm", "Po"))
    if char in _BLANK or char in _DROPPED or "\U000e0100" <= char <= "\U000e01ef":
        return False
    # Controls, formats (bidi, zero width), separators other than a plain space, surrogates, unassigned characters.
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
