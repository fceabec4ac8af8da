"""Notes of ours beside a person's words: about files, references and texts of third parties."""

import re

from core.language.catalogue import gettext, gettext_noop
from core.loop.forwarded import CLIENT_ASKS
from core.loop.outside import words_of_others

UNREAD = gettext_noop("I cannot look at what you sent, only at words.")
_NOTE = re.compile(r"\[(?:With this the person|The person|A program wrote)\b[^\n]*\](?:\n|$)")
_FAILED = re.compile(r"\[The person sent a file that you cannot read\b[^\n]*\]\n(?P<why>.+)", re.DOTALL)
_SILENT = re.compile(r"\[The person (?:points at|said the words above|also sent a voice note)\b")
"""Notes without an answer: quoted messages, and a voice note that is transcribed, or reported elsewhere."""


def own_words(text: str) -> str | None:
    """Return the words of the person, or of their program, in a message; None for a note of ours."""
    return None if _NOTE.match(text) else text.removeprefix(CLIENT_ASKS).lstrip("\n")


def told_of(text: str) -> str:
    """Return the sentence about a note, from its message or in the demo model's words; empty for none."""
    if match := _FAILED.match(text):
        return words_of_others(match["why"])
    return "" if _SILENT.match(text) else gettext(UNREAD)
