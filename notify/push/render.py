"""From an outbound message to push messages: a title, and at most 3,650 bytes of text each; pure.

Source of the limits: docs.ntfy.sh/publish, "Limitations": a message beyond 4,096 bytes becomes a file; and
github.com/binwiederhier/ntfy, server/server.go: JSON of more than twice that is refused with 413.
"""

import json

from core.json_types import JsonObject
from core.messaging.channels import Part
from core.messaging.messages import OutboundMessage
from notify.no_text import no_text
from notify.numbered_lists import keep_numbers
from notify.text_split import pieces_of, shorten

MAX_ENCODED = 7300
"""The limit of a text's bytes as JSON, and of twice its bytes as UTF-8."""
MAX_TITLE = 200


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Return the parts, in order; a heading in the first line becomes the title. Buttons are left out.

    Push messages cannot be answered, so a text that needs an answer names the place for it.
    """
    # Half a surrogate pair can never be encoded.
    source = message.text.encode(errors="replace").decode()
    title, text = split_title(source)
    if len(title) > MAX_TITLE:
        title, text = shorten(title, MAX_TITLE, len), source
    addresses = "\n".join(media.url for media in message.media if media.url.startswith(("https://", "http://")))
    text = "\n\n".join(piece for piece in (keep_numbers(text.strip()), addresses) if piece)
    data: JsonObject = {"title": title} if title else {}
    return tuple(Part(piece, data) for piece in _pieces(text or no_text()))


def split_title(text: str) -> tuple[str, str]:
    """Return the title, empty if there is none, and the rest of a text."""
    first, _, rest = text.lstrip().partition("\n")
    return (first[2:].strip(), rest) if first.startswith("# ") else ("", text)


def encoded(text: str) -> int:
    """Return a text's weight: its bytes as JSON, in which a quote takes two, or twice its bytes as UTF-8."""
    return max(len(json.dumps(text, ensure_ascii=False).encode()) - 2, 2 * len(text.encode()))


def _pieces(text: str) -> list[str]:
    """Return a text in pieces, cut at natural borders."""
    return [text[start:end] for start, end in pieces_of(text, MAX_ENCODED, encoded) if start < end] or [no_text()]
