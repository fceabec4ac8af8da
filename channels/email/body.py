"""The text and the files of a mail: its parts walked, characters decoded, files as references; pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message

from channels.email.headers import decoded
from channels.email.html_text import text_of_html
from core.messaging.messages import Media
from providers.email.wire import file_url

MAX_FILES = 20
MAX_TEXT = 200_000
"""Characters of a mail's text that are read."""
_DEEPEST, _MOST = 12, 300
_LOGO = 12_000
"""Bytes below which a picture that the text shows is a logo or a pixel, and no file."""


@dataclass(slots=True)
class Content:
    """What a mail holds. `attached`: the text of mails that hang on it. `history`: HTML keeps what it quotes."""

    history: bool = False
    texts: list[str] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)
    files: list[Message] = field(default_factory=list)
    parts: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(text for text in self.texts if text.strip())[:MAX_TEXT]


def read_content(message: Message, *, history: bool = False) -> Content:
    content = Content(history)
    _read(message, content, 0)
    return content


def media_of(content: Content, uid_validity: int, uid: int) -> tuple[Media, ...]:
    """Return the files of a mail as references."""
    return tuple(
        Media(file_url(uid_validity, uid, number), part.get_content_type(), file_name(part), len(payload(part)))
        for number, part in enumerate(content.files[:MAX_FILES])
    )


def payload(part: Message) -> bytes:
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def file_name(part: Message) -> str:
    try:
        name = decoded(part.get_filename() or "")
    except (LookupError, ValueError):
        name = ""
    return name.replace("\\", "/").rpartition("/")[2][:120]


def _read(part: Message, content: Content, depth: int) -> None:
    content.parts += 1
    if depth > _DEEPEST or content.parts > _MOST:
        return
    kind, attached = part.get_content_type(), part.get_content_disposition() == "attachment"
    if kind == "message/rfc822" and depth:
        content.attached.append(_mail_in(part))
    elif kind == "multipart/alternative":
        _read_alternative(list(_children(part)), content, depth)
    elif part.is_multipart():
        for child in _children(part):
            _read(child, content, depth + 1)
    elif kind in ("text/plain", "text/html") and not attached and not part.get_filename():
        content.texts.append(_text(part, content.history))
    elif not _is_logo(part, kind):
        content.files.append(part)


def _read_alternative(children: list[Message], content: Content, depth: int) -> None:
    """Read the plain text where it says anything, else what is richer; files hang on either."""
    plain = next((child for child in children if child.get_content_type() == "text/plain"), None)
    if plain is not None and _text(plain, content.history).strip():
        chosen = [plain, *(child for child in children if child is not plain and not _is_text(child))]
    else:
        chosen = children[-1:]
    for child in chosen:
        if child is not plain and plain in chosen:
            inner = Content(content.history)
            _read(child, inner, depth + 1)
            content.files += inner.files
        else:
            _read(child, content, depth + 1)


def _is_text(part: Message) -> bool:
    return part.get_content_maintype() == "text"


def _mail_in(part: Message) -> str:
    """Return a mail that hangs on another as text: who wrote it, when, about what."""
    inner = next(_children(part), None)
    if inner is None:
        return ""
    named = [f"{name}: {decoded(str(inner[name]))}" for name in ("From", "Date", "Subject") if inner[name]]
    return "\n".join([*named, "", read_content(inner, history=True).text])[:MAX_TEXT].strip()


def _children(part: Message) -> Iterator[Message]:
    children = part.get_payload()
    if isinstance(children, list):
        yield from (child for child in children if isinstance(child, Message))


def _is_logo(part: Message, kind: str) -> bool:
    if kind in ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"):
        return True
    shown = part.get_content_disposition() != "attachment" and part["Content-ID"] is not None
    return shown and kind.startswith("image/") and len(payload(part)) < _LOGO


def _text(part: Message, history: bool) -> str:
    body = payload(part)
    try:
        text = body.decode(part.get_content_charset() or "utf-8", "replace")
    except (LookupError, ValueError):
        text = body.decode("utf-8", "replace")
    text = text[: 4 * MAX_TEXT].replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if part.get_content_type() == "text/html":
        return text_of_html(text, quoted=history)
    return _joined(text) if str(part.get_param("format", "")).lower() == "flowed" else text


def _joined(text: str) -> str:
    """Return a text whose lines were broken to be joined again: those that end with a space (RFC 3676)."""
    written: list[str] = []
    flows = False
    for line in text.split("\n"):
        quote = line.startswith(">")
        line = line if quote else line.removeprefix(" ")
        if flows and not quote and line != "-- ":
            written[-1] += line
        else:
            written.append(line)
        flows = line.endswith(" ") and line != "-- " and not quote
    return "\n".join(written)
