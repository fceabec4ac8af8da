"""Whether a message is a command to the gateway, or an answer to a card: neither tells anything of the person."""

import re

from core.messaging.chat_reader import chat_words

_CODE = r"[0-9][A-Z][0-9A-Z]?"
_TO_CARDS = re.compile(
    rf"(?:ok|okay|no|again) {_CODE}(?: [0-9]{{6}})?|(?:ok|okay|no) all|snooze {_CODE}(?: [0-9]{{1,3}}(?:m|min|h))?",
    re.IGNORECASE,
)
_EDIT = re.compile(rf"EDIT (?i:{_CODE})\b.*|(?i:edit) {_CODE}\b.*")
"""A reply that `core.approvals.exact_replies` reads, with the words of the change."""
_SLASH = re.compile(r"/[a-z_]+(?:@\w+)?(?: .*)?", re.IGNORECASE)
_CAPITALS = re.compile(r"[A-Z]+\b")
_SPELLINGS = ("sms", "slack")


def is_command(text: str) -> bool:
    """Return whether a whole message is a command or a decision, as it is typed on any channel."""
    plain = " ".join(text.split()).rstrip(".!")
    if any(pattern.fullmatch(plain) for pattern in (_TO_CARDS, _EDIT, _SLASH)) or _is_typed(plain):
        return True
    return any(chat_words().read(plain, one) for one in _SPELLINGS)


def _is_typed(plain: str) -> bool:
    """Return whether it is a word as help writes it, with any text after it; a sentence with "new" in front is not."""
    capitals = _CAPITALS.match(plain)
    word = chat_words().find(capitals[0].lower()) if capitals else None
    return capitals is not None and (capitals[0] == "SNOOZE" or (word is not None and word.is_listed("email")))
