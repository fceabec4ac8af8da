"""The conventions of both directions with Slack: addresses, ids, limits, and the form of a literal text; pure."""

import re

from core.json_types import JsonObject
from providers.utf16 import units

CHANNEL_NAME = "slack"
REAL_API_URL = "https://slack.com/api/"
WEBHOOK_PATH = "/webhooks/slack"
MAX_SECTION = 3_000
"""Characters of a section's text (docs.slack.dev, reference/block-kit/blocks/section-block)."""

STUB = "slack-file:"
"""Stands before the id of a file of which a message has no address."""

# The form of our buttons' values: Slack itself takes 2,000 characters.
_TOKEN = re.compile(r"[!-~]{1,64}")
_CHOICE = re.compile(r"choice_[0-9]{1,3}")
_FILE = re.compile(r"F[A-Z0-9]{2,30}")
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{6}")
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def choice_id(index: int) -> str:
    """Return the action_id of a message's button."""
    return f"choice_{index}"


def is_choice(action_id: str) -> bool:
    """Return whether an action_id was made by `choice_id`."""
    return _CHOICE.fullmatch(action_id) is not None


def is_file_id(value: str) -> bool:
    """Return whether a value names a file of Slack's."""
    return _FILE.fullmatch(value) is not None


def is_ts(value: str) -> bool:
    """Return whether a value names a message of Slack's."""
    return _TS.fullmatch(value) is not None


def is_token(value: str) -> bool:
    """Return whether a value can be the token of one of our buttons or forms."""
    return _TOKEN.fullmatch(value) is not None


def escape(text: str, limit: int | None = None) -> str:
    """Escape a text so that Slack shows it literally; cut before `limit` UTF-16 units, if given.

    Slack does not define its characters: units are the larger number.
    Source: docs.slack.dev, messaging/formatting-message-text, "Escaping text".
    """
    written = [_ESCAPED.get(letter, letter) for letter in text]
    if limit is None or sum(map(units, written)) <= limit:
        return "".join(written)
    kept, used = [], units("…")
    for letters in written:
        used += units(letters)
        if used > limit:
            break
        kept.append(letters)
    return "".join(kept).rstrip() + "…"


def plain_text(escaped: str) -> JsonObject:
    """Return the text object that shows an escaped text as it is; Slack refuses an empty text."""
    return {"type": "plain_text", "text": escaped if escaped.strip() else "…", "emoji": False}
