"""The place of a mark in a text, which tells a model's own marks from words about them; pure."""

import re

_TICKS = re.compile("`+")
_AFTER_SENTENCE = frozenset(".!?:;…>]}。！？：")
_GLUE = _AFTER_SENTENCE | frozenset(",)\"'”’»*_`")
_QUOTES, _CLOSING = frozenset("\"'“‘«»„‹「『(*_|~"), frozenset("\"'”’»«“›」』)*_|~")
_NEARBY = 400
"""Characters of a line that are searched for backticks beside a mark."""


def line_of(text: str, mark: re.Match[str]) -> int:
    """Return the beginning of a mark's line, or a place in it that is far enough before the mark."""
    far = max(mark.start() - _NEARBY, 0)
    return max(text.rfind("\n", far, mark.start()) + 1, far)


def begins_line(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark begins a line that is no code, or follows the end of a sentence without a space."""
    before = text[line_of(text, mark) : mark.start()]
    return (len(before) < 4 and not before.strip(" ")) or before[-1] in _AFTER_SENTENCE


def is_glued(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark follows words without a space."""
    before = text[mark.start() - 1 : mark.start()]
    return before.isalnum() or before in _GLUE


def is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark is in quotes, brackets or emphasis."""
    before, after = text[max(mark.start() - 2, 0) : mark.start()], text[mark.end() : mark.end() + 1]
    if before[-1:] not in _QUOTES or not before:
        return False
    opening = len(before) == 1 or not before[0].isalnum()
    return after in _CLOSING or (opening and before[-1] in "\"'“‘«»„‹「『(")


def is_in_code(text: str, mark: re.Match[str], *, done: bool) -> bool | None:
    """Return whether a mark is between backticks; None if the rest of its line has not arrived yet."""
    if not len(_TICKS.findall(text, line_of(text, mark), mark.start())) % 2:
        return False
    after = text[mark.end() : mark.end() + _NEARBY]
    if "`" in after.partition("\n")[0]:
        return True
    return False if done or "\n" in after or len(after) == _NEARBY else None
