"""From an outbound message to push messages: a title, and at most 3,900 bytes of text each; pure.

Source of the limit: docs.ntfy.sh/publish, "Limitations": a message beyond 4,096 bytes becomes a file.
"""

from core.json_types import JsonObject
from core.messaging.channels import Part
from core.messaging.messages import OutboundMessage

MAX_BYTES = 3900
_EMPTY = "(no text)"


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Return the parts, in order; a heading in the first line becomes the title. Buttons are left out.

    Nothing can be answered here, so a text that needs an answer says where to give it.
    """
    title, text = split_title(message.text)
    addresses = "\n".join(media.url for media in message.media if media.url.startswith(("https://", "http://")))
    text = "\n\n".join(piece for piece in (text.strip(), addresses) if piece)
    data: JsonObject = {"title": title} if title else {}
    return tuple(Part(piece, data) for piece in _pieces(text or _EMPTY))


def split_title(text: str) -> tuple[str, str]:
    """Return the title, empty if there is none, and the rest of a text."""
    first, _, rest = text.lstrip().partition("\n")
    return (first[2:].strip(), rest) if first.startswith("# ") else ("", text)


def _pieces(text: str) -> list[str]:
    """Return a text in pieces, cut after a line where there is one, else after a word, never inside a character."""
    pieces = []
    while len(text.encode(errors="replace")) > MAX_BYTES:
        head = text.encode(errors="replace")[:MAX_BYTES].decode(errors="ignore")
        cut = max(head.rfind("\n"), 0) or max(head.rfind(" "), 0) or len(head)
        pieces.append(text[:cut].rstrip() or _EMPTY)
        text = text[cut:].lstrip()
    return [*pieces, text] if text or not pieces else pieces
