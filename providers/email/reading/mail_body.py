"""A mail's text and its attachments: its parts as a mail program shows them (RFC 2046, RFC 3676)."""

import re
from dataclasses import dataclass, field
from email.message import Message

from core.language.charsets import decode_page, decode_text
from core.language.unseen import one_line
from providers.email.reading.mail_headers import charset_of, decoded, file_name, raw_value
from providers.email.reading.mail_html import text_of_html

_MAX_PARTS = 200
_MAX_DEPTH = 20
_MAX_ATTACHED = 200_000
"""Characters of an attached message."""
_CALENDARS = ("text/calendar", "application/ics")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_STUB_WORDS, _STUB_SHARE = 30, 4
"""If the HTML has more words than this, a plain text with less than a quarter of them only refers to it."""


@dataclass(slots=True)
class Body:
    """The result: texts in their order, files, and the texts of attached messages."""

    label: str | None = None
    texts: list[str] = field(default_factory=list)
    files: list[Message] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)
    parts: int = 0

    @property
    def text(self) -> str:
        text = "\n\n".join(text for text in self.texts if text.strip())
        return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n")


def read_body(message: Message, label: str | None) -> Body:
    """Return the content of a message. `label`: the character set of raw names. Raises `RecursionError`."""
    body = Body(label)
    _read(message, body, 0)
    return body


def is_shown(part: Message) -> bool:
    """Return whether a part is a picture that the text shows, rather than a file."""
    shown = part.get_content_disposition() != "attachment" and part["Content-ID"] is not None
    return shown and part.get_content_maintype() == "image"


def payload(part: Message) -> bytes:
    """Return a part's bytes, its transfer encoding undone."""
    if part.get_content_maintype() == "message":
        inner = part.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else inner
        return first.as_bytes() if isinstance(first, Message) else str(first).encode("utf-8", "replace")
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _read(part: Message, body: Body, depth: int) -> None:
    body.parts += 1
    if depth > _MAX_DEPTH:
        raise RecursionError
    if body.parts > _MAX_PARTS:
        return
    kind = part.get_content_type()
    if kind == "multipart/alternative":
        _read_alternative(part, body, depth)
    elif part.is_multipart() and part.get_content_maintype() != "message":
        for child in _children(part):
            _read(child, body, depth + 1)
    elif _is_text(part, body):
        body.texts.append(_text(part))
    elif kind not in _SIGNATURES and part.get_content_maintype() != "multipart" and not _is_twin(part, body):
        body.files.append(part)
        if kind == "message/rfc822":
            body.attached.append(_attached(part, body, depth))


def _read_alternative(part: Message, body: Body, depth: int) -> None:
    """Read the best form of a text: the plain form, or a richer form that says more. Any form may have files.

    Calendars are files: an invitation is one of the forms (RFC 6047), with content that no other has.
    """
    found: list[tuple[bool, Body]] = []
    for child in _children(part):
        inner = Body(body.label, files=[*body.files], parts=body.parts)
        _read(child, inner, depth + 1)
        inner.files = inner.files[len(body.files) :]
        body.parts = inner.parts
        kind = child.get_content_type()
        # Any other form of text is for watches, or for rare programs.
        if inner.texts or kind in _CALENDARS or not kind.startswith("text/"):
            found.append((kind == "text/plain", inner))
    said = [(plain, inner) for plain, inner in found if inner.text.strip()]
    if said:
        chosen = next((inner for plain, inner in said if plain), said[-1][1])
        richest = said[-1][1]
        words = len(richest.text.split())
        if words > _STUB_WORDS and len(chosen.text.split()) * _STUB_SHARE < words:
            chosen = richest
        body.texts += chosen.texts
    for _, inner in found:
        body.files += [file for file in inner.files if not _is_twin(file, body)]
        body.attached += inner.attached


def _is_text(part: Message, body: Body) -> bool:
    """Return whether a mail program shows a part without opening it."""
    if part.get_content_type() not in ("text/plain", "text/html"):
        return False
    return part.get_content_disposition() != "attachment" and not file_name(part, body.label)


def _is_twin(part: Message, body: Body) -> bool:
    """Return whether a calendar is there already: programs send an invitation as a form of the text and as a file."""
    if part.get_content_type() not in _CALENDARS:
        return False
    data = payload(part)
    return any(file.get_content_type() in _CALENDARS and payload(file) == data for file in body.files)


def _children(part: Message) -> list[Message]:
    children = part.get_payload()
    return [child for child in children if isinstance(child, Message)] if isinstance(children, list) else []


def _attached(part: Message, body: Body, depth: int) -> str:
    """Return an attached message as text: its author, date and subject, and its text."""
    inner = next(iter(_children(part)), None)
    if inner is None:
        return ""
    within = Body(body.label, parts=body.parts)
    _read(inner, within, depth + 1)
    body.parts = within.parts
    named = {name: raw_value(inner, name.lower(), body.label) for name in ("From", "Date", "Subject")}
    head = [f"{name}: {one_line(decoded(value))}" for name, value in named.items() if value]
    return "\n".join([*head, "", within.text, *within.attached])[:_MAX_ATTACHED].strip()


def _text(part: Message) -> str:
    data, label = payload(part), charset_of(part)
    if part.get_content_type() == "text/html":
        return text_of_html(decode_page(data, label))
    text = decode_text(data, label).replace("\r\n", "\n").replace("\r", "\n")
    if str(part.get_param("format", "")).lower() != "flowed":
        return text
    return _flowed(text, joins_words=str(part.get_param("delsp", "")).lower() == "yes")


def _flowed(text: str, *, joins_words: bool) -> str:
    """Return a text whose lines were broken to be joined again: those that end with a space (RFC 3676).

    `joins_words`: that space was put there (DelSp), as in Japanese, which has none, and in long addresses.
    """
    lines: list[list[str]] = []
    flows_at = -1
    for line in text.split("\n"):
        said = line.lstrip(">")
        depth = len(line) - len(said)
        said = said.removeprefix(" ")
        is_mark = said == "-- "
        flows = said.endswith(" ") and not is_mark
        end = said[:-1] if flows and joins_words else said
        if flows_at == depth and not is_mark:
            lines[-1].append(end)
        else:
            # A space before a sign that quotes says that it was typed.
            lines.append([">" * depth + " " if depth or said.startswith(">") else "", end])
        flows_at = depth if flows else -1
    return "\n".join("".join(line) for line in lines)
