"""Whether a message is a command to the gateway, or an answer to a card: neither tells anything of the person."""

import re

from core.messaging.commands import own_words
from core.messaging.help_text import COMMAND_NAMES

_CODE = r"[0-9][A-Z][0-9A-Z]?"
_TO_CARDS = re.compile(
    rf"(?:ok|okay|no|again) {_CODE}(?: [0-9]{{6}})?|(?:ok|okay|no) all|snooze {_CODE}(?: [0-9]{{1,3}}(?:m|min|h))?",
    re.IGNORECASE,
)
_EDIT = re.compile(rf"EDIT (?i:{_CODE})\b.*|(?i:edit) {_CODE}\b.*")
"""What `core.approvals.exact_replies` reads, with the words that say what to change."""
_SLASH = re.compile(r"/[a-z_]+(?:@\w+)?(?: .*)?", re.IGNORECASE)
_TYPED = re.compile(rf"(?:{'|'.join((*COMMAND_NAMES, 'again', 'snooze')).upper()})\b.*")
"""A command as help writes it, whatever follows: in capitals, a sentence that begins with "new" is none."""
_SPELLINGS = ("sms", "slack")


def is_command(text: str) -> bool:
    """Return whether a whole message is a command or a decision, as it is typed on any channel."""
    plain = " ".join(text.split()).rstrip(".!")
    patterns = (_TO_CARDS, _EDIT, _SLASH, _TYPED)
    return any(pattern.fullmatch(plain) for pattern in patterns) or any(own_words(plain, one) for one in _SPELLINGS)
