"""The conventions of both directions with Twilio: addresses, our webhooks, limits; pure."""

from collections.abc import Iterable
from urllib.parse import urlencode

REAL_API_URL = "https://api.twilio.com"
MESSAGE_PATH = "/webhooks/sms"
STATUS_PATH = "/webhooks/sms/status"
MAX_MEDIA = 10
"""Files of a message, in and out."""
FILES_LOST = frozenset({"11200", "11751", "12300", "30019", "63019"})
"""Twilio could not fetch the files of a message that it had taken, or they are of no type or size that it can send."""

_REF = "ref"


def is_service(sender: str) -> bool:
    """Return whether a sender is a Messaging Service rather than a number."""
    return sender.startswith("MG")


def status_url(public_url: str, ref: str) -> str:
    """Return the URL for Twilio's reports on the part `ref`."""
    return f"{public_url}{STATUS_PATH}?{urlencode({_REF: ref})}"


def refs_of(query: Iterable[tuple[str, str]]) -> list[str]:
    """Return the parts that the query of a status callback names."""
    return [value for name, value in query if name == _REF]


def is_sound(content_type: str) -> bool:
    """Return whether a file of a text counts as a voice note: phones send recordings like any other sound."""
    return content_type.lower().startswith("audio/")
