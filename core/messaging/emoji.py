"""The emoji of reactions: without skin tones and variants, so that a thumb is a thumb from every keyboard."""

import re

THUMB_UP = "👍"
THUMB_DOWN = "👎"

_VARIANTS = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")


def plain_emoji(emoji: str) -> str:
    """Return an emoji without its skin tone and variation selector."""
    return _VARIANTS.sub("", emoji)
