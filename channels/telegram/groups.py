"""Words in a group that are meant for us; pure.

Source: core.telegram.org/bots/features#privacy-mode: a bot with privacy mode gets hardly any others.
"""

import re


def is_named(name: str, username: str) -> bool:
    """Return whether a name after @ is ours."""
    return bool(username) and name.casefold() == username.casefold()


def addressed_words(text: str, username: str) -> str | None:
    """Return the words of a text without our @name; None if it does not mention us."""
    if not username:
        return None
    mention = re.compile(rf"(?<![\w@])@{re.escape(username)}(?!\w)[,:]?", re.IGNORECASE)
    words, found = mention.subn("", text)
    return words.strip() if found else None
