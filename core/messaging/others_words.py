"""The words of others inside a line for a person: without markup, hidden characters or anything to press."""

import re

from core.language.catalogue import gettext
from core.language.unseen import one_line
from core.messaging.visible_text import literal

_LINK = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s<>\"']+|\bwww\.[^\s<>\"']+|(?<![\w@.-])(?:[\w-]+\.)+[^\W\d_]{2,24}(?::\d+)?[/?#][^\s<>\"']*"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])(?:[:/][^\s<>\"']*)?",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DOMAIN = re.compile(r"(?<=\w)\.(?=[^\W\d_]{2})")
"""The dot that makes chats take a word such as example.com for a web address."""
_PRESSED = re.compile(r"(?<!\w)[@/]+(?=\w)")
"""The mark that makes a name or a command of the word behind it, which a press opens or sends."""
_BEGINS = re.compile(r"(?P<number>\d*)(?P<mark>[#>+=|-]|[.)])")
"""The beginning of a line that Markdown reads as a heading, a quotation or a list."""


def others_words(text: str, longest: int = 80) -> str:
    """Return a text of others as Markdown that reads as plain words, on a single line, cut to `longest`.

    Web addresses are left out, since chats would make links of them.
    """
    line = " ".join(_inert(word) for word in one_line(text).split())
    line = line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
    return _BEGINS.sub(r"\g<number>\\\g<mark>", literal(line), count=1) if _BEGINS.match(line) else literal(line)


def _inert(word: str) -> str:
    if _MAIL.fullmatch(word.strip("<>()[]{},;:\"'")):
        return word
    return _PRESSED.sub("", _DOMAIN.sub(" ", _LINK.sub(gettext("(link)"), word)))
