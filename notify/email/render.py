"""From an outbound message to an email: a subject, a plain text, the same as HTML, and files; pure."""

from core.json_types import Json, JsonObject
from core.language.catalogue import gettext
from core.messaging.channels import Part
from core.messaging.messages import OutboundKind, OutboundMessage
from notify.email.html import to_html
from notify.no_text import no_text
from notify.plain_markdown import to_plain, without_controls
from providers.email.wire import MAX_ATTACHED

MAX_SUBJECT = 120


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Return a single part; a heading in the first line becomes the subject, else the first words.

    Buttons are left out: the text names the words that answer a card. A message in a thread takes the thread's subject
    instead (`notify.email.compose`). Files that exceed a mail's limit are named in the text.
    """
    files, instead = _fitting(message)
    source = "\n\n".join(filter(None, (message.text, *instead)))
    first, _, rest = source.lstrip().partition("\n")
    # A notification's heading is its title; of an answer it is a part.
    titled = first.startswith("# ") and message.kind is OutboundKind.NOTIFICATION
    subject, text = (first[2:], rest) if titled else (first, source)
    addresses = "\n".join(media.url for media in message.media if media.url.startswith(("https://", "http://")))
    text = "\n\n".join(piece for piece in (text.strip(), addresses) if piece)
    plain = to_plain(without_controls(text)) or without_controls(text).strip() or ("" if files else no_text())
    data: JsonObject = {
        "subject": _one_line(subject) or gettext("A message from your assistant"),
        "html": to_html(text) if text else "",
        "answers": message.kind is not OutboundKind.NOTIFICATION,
    }
    return (Part(plain, data | {"attached": files} if files else data),)


def _fitting(message: OutboundMessage) -> tuple[list[Json], list[str]]:
    """Return the files that fit in a mail, and the sentences about the others."""
    carried, instead, size = list[Json](), list[str](), 0
    for file in message.files:
        if size + file.size <= MAX_ATTACHED:
            carried.append(file.to_json())
            size += file.size
        else:
            instead.append(file.instead)
    return carried, instead


def _one_line(text: str) -> str:
    """Return a subject on a single line of visible characters, since a line end would begin another header."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).replace("*", "").split())
    return line if len(line) <= MAX_SUBJECT else f"{line[: MAX_SUBJECT - 1].rstrip()}…"
