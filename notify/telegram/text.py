"""Characters that Telegram drops from a text, and the check that anything visible is left; pure.

Telegram refuses a text that is empty once it has cleaned it. Source: core.telegram.org/bots/api#sendmessage and the Bot
API server's `clean_input_string`.
"""

import regex

_LINE_ENDS = regex.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
# Control characters, halves of surrogate pairs, direction overrides, and three marks that Telegram drops.
_DROPPED = regex.compile("(?![\\n\\t])[\\p{Cc}\\p{Cs}\u202a-\u202e\u0333\u033f\u030a]")
_VISIBLE = regex.compile("[^\\p{Z}\\p{Cc}\\p{Cf}\\p{Cs}\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\ufe00-\ufe0f]")


def clean(text: str) -> str:
    """Return a text without the characters that Telegram would drop, so that lengths and offsets are right."""
    return str(_DROPPED.sub("", _LINE_ENDS.sub("\n", text)).replace("\t", "    "))


def is_visible(text: str) -> bool:
    """Return whether a person would see anything of it."""
    return _VISIBLE.search(text) is not None
