"""Messages by mail (RFC 5322, MIME): their heads, their text, and the files in them.

Request: `{"sizes": [...], "take": number | null, "names": [...] | null}`, and the messages in a row. Answer: the
messages as values; with `take` the file of that number in the first, without its transfer encoding; with `names` the
headers with these names of each part of the first.
"""

import re
from collections.abc import Mapping
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from typing import Any

from core.children.child_job import JobAnswer, Unreadable
from core.language.unseen import one_line
from providers.email.reading.mail_body import is_shown, payload, read_body
from providers.email.reading.mail_headers import (
    addresses,
    date_of,
    file_name,
    raw_value,
    raw_values,
    subject_of,
    usual_label,
)

MAX_TEXT = 200_000
"""Characters of a message's text."""
_MAX_PARTS = 50
"""Parts of which headers are read."""
_FURTHER = ("authentication-results", "auto-submitted", "precedence", "list-id", "list-unsubscribe", "return-path")
"""Headers that say who vouches for the sender, and whether a program sent the message."""
_IDS = re.compile(r"<([^<>\s]{1,250})>")
_ENDINGS = {"message/rfc822": ".eml", "text/calendar": ".ics"}


def read(asked: Mapping[str, Any], data: bytes) -> JobAnswer:
    """Return the messages, the bytes of a file, or headers of parts."""
    raws: list[bytes] = []
    for size in asked["sizes"]:
        raws.append(data[:size])
        data = data[size:]
    if (take := asked.get("take")) is not None:
        return _file(raws[0], take)
    if (names := asked.get("names")) is not None:
        return {"parts": _part_headers(raws[0], names)}, b""
    return {"messages": [_message(raw) for raw in raws]}, b""


def _message(raw: bytes) -> dict[str, Any]:
    head, _, _ = raw.partition(b"\r\n\r\n") if b"\r\n\r\n" in raw else raw.partition(b"\n\n")
    try:
        message, readable = message_from_bytes(raw, policy=compat32), True
        label = usual_label(message)
        body = read_body(message, label)
        text, files, attached = body.text, body.files, body.attached
    except RecursionError:  # parts within parts, hundreds deep
        message, readable = message_from_bytes(head + b"\r\n\r\n", policy=compat32), False
        text, files, attached, label = "", [], [], None
    return {
        **_head(message, label),
        "text": text[:MAX_TEXT],
        "cut": len(text) > MAX_TEXT,
        "files": [_described(number, part, label) for number, part in enumerate(files, start=1)],
        "attached": "\n\n".join(filter(None, attached))[:MAX_TEXT],
        "readable": readable,
    }


def _head(message: Message, label: str | None) -> dict[str, Any]:
    ids = _IDS.findall(raw_value(message, "message-id"))
    references = _IDS.findall(f"{raw_value(message, 'references')} {raw_value(message, 'in-reply-to')}")
    return {
        "sender": addresses(message, "from", label),
        "to": addresses(message, "to", label),
        "cc": addresses(message, "cc", label),
        "reply_to": addresses(message, "reply-to", label),
        "subject": subject_of(message, label)[:500],
        "date": date_of(message),
        "message_id": ids[0] if ids else None,
        "references": list(dict.fromkeys(references))[-50:],
        "headers": [(name, one_line(value)[:2000]) for name in _FURTHER for value in raw_values(message, name)[:10]],
    }


def _part_headers(raw: bytes, names: list[str]) -> list[dict[str, list[str]]]:
    """Return headers of each part, and of those that a part holds as text, as reports do."""
    found: list[dict[str, list[str]]] = []
    for part in _all_parts(message_from_bytes(raw, policy=compat32)):
        values = {name: [one_line(value)[:2000] for value in raw_values(part, name)] for name in names}
        found.append({name: known for name, known in values.items() if known})
    return found


def _all_parts(message: Message) -> list[Message]:
    parts: list[Message] = []
    for part in message.walk():
        if len(parts) >= _MAX_PARTS:
            break
        parts.append(part)
        if part.get_content_type() == "text/rfc822-headers":
            parts.append(message_from_bytes(payload(part).partition(b"\n\n")[0] + b"\n\n", policy=compat32))
    return parts


def _described(number: int, part: Message, label: str | None) -> tuple[int, str, str, int, bool]:
    kind = part.get_content_type()
    name = file_name(part, label) or f"{part.get_content_maintype()}-{number}{_ENDINGS.get(kind, '')}"
    return number, name, kind, len(payload(part)), is_shown(part)


def _file(raw: bytes, number: int) -> tuple[dict[str, Any], bytes]:
    message = message_from_bytes(raw, policy=compat32)
    label = usual_label(message)
    files = read_body(message, label).files
    if not 1 <= number <= len(files):
        raise Unreadable("gone")
    _, name, kind, *_ = _described(number, files[number - 1], label)
    return {"name": name, "content_type": kind}, payload(files[number - 1])
