"""From an outbound message to one email: a subject and a plain text; pure."""

from core.language.catalogue import gettext
from core.messaging.channels import Part
from core.messaging.messages import OutboundMessage
from notify.no_text import no_text

MAX_SUBJECT = 120


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Return one part; a heading in the first line becomes the subject, else the first words. Buttons are left out.

    Nothing can be answered here, so a text that needs an answer says where to give it.
    """
    first, _, rest = message.text.lstrip().partition("\n")
    subject, text = (first[2:], rest) if first.startswith("# ") else (first, message.text)
    addresses = "\n".join(media.url for media in message.media if media.url.startswith(("https://", "http://")))
    text = "\n\n".join(piece for piece in (text.strip(), addresses) if piece) or no_text()
    return (Part(text, {"subject": _one_line(subject) or gettext("A message from your assistant")}),)


def _one_line(text: str) -> str:
    """Return a subject in one line of visible characters, since a line's end in a header would begin another header."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).replace("*", "").split())
    return line if len(line) <= MAX_SUBJECT else f"{line[: MAX_SUBJECT - 1].rstrip()}…"
