"""Messages by mail (RFC 5322, MIME): their heads, their text, and the files in them.

Input: one line of JSON, `{"sizes": [...], "take": number | null}`, and the messages one after another. Output: the
messages as values, or with `take` the file of that number in the first, as it is behind its transfer encoding.
"""

import json
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.policy import compat32
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any

from core.documents.readers.limits import Unreadable
from core.documents.readers.mail_html import text_of_html
from core.language.charsets import decode_text
from core.language.unseen import one_line

MAX_TEXT = 200_000
"""Characters of a message's text."""
_MAX_PARTS = 200
_MAX_DEPTH = 20
_MAX_HEADER = 20_000
_MAX_ADDRESSES = 200
_FURTHER = ("authentication-results", "auto-submitted", "precedence", "list-id", "list-unsubscribe", "return-path")
"""Headers that say who vouches for the sender, and whether a program sent the message."""
_IDS = re.compile(r"<([^<>\s]{1,250})>")
_ADDRESS = re.compile(r"[^\s<>,;:\"()@]{1,200}@[^\s<>,;:\"()@]{1,250}")


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the messages, or the bytes of one file."""
    head, _, rest = data.partition(b"\n")
    asked = json.loads(head)
    raws: list[bytes] = []
    for size in asked["sizes"]:
        raws.append(rest[:size])
        rest = rest[size:]
    if (take := asked.get("take")) is not None:
        return _file(raws[0], take)
    return {"messages": [_message(raw) for raw in raws]}, b""


def _message(raw: bytes) -> dict[str, Any]:
    head, _, _ = raw.partition(b"\r\n\r\n") if b"\r\n\r\n" in raw else raw.partition(b"\n\n")
    try:
        message, readable = message_from_bytes(raw, policy=compat32), True
        text, files = _body(message)
    except RecursionError:  # parts within parts, hundreds deep
        message, readable = message_from_bytes(head + b"\r\n\r\n", policy=compat32), False
        text, files = "", []
    return {
        **_head(message),
        "text": text[:MAX_TEXT],
        "cut": len(text) > MAX_TEXT,
        "files": [_described(number, part) for number, part in enumerate(files, start=1)],
        "readable": readable,
    }


def _head(message: Message) -> dict[str, Any]:
    ids = _IDS.findall(_raw(message, "message-id"))
    references = _IDS.findall(f"{_raw(message, 'references')} {_raw(message, 'in-reply-to')}")
    return {
        "sender": _addresses(message, "from"),
        "to": _addresses(message, "to"),
        "cc": _addresses(message, "cc"),
        "reply_to": _addresses(message, "reply-to"),
        "subject": one_line(_decoded_header(_raw(message, "subject")))[:500],
        "date": _date(_raw(message, "date")),
        "message_id": ids[0] if ids else None,
        "references": list(dict.fromkeys(references))[-50:],
        "headers": [(name, one_line(value)[:2000]) for name in _FURTHER for value in _values(message, name)[:10]],
    }


def _raw(message: Message, name: str) -> str:
    """Return the first header of a name, its folding undone."""
    values = _values(message, name) or [""]
    return re.sub(r"\r?\n(?=[ \t])", "", values[0])[:_MAX_HEADER]


def _values(message: Message, name: str) -> list[str]:
    """Return all headers of a name: bytes in them that are no ASCII are UTF-8, as RFC 6532 has it, or Latin."""
    found: list[str] = []
    for known, value in message.raw_items():
        if known.lower() == name:
            raw = str(value).encode("utf-8", "surrogateescape")
            try:
                found.append(raw.decode())
            except UnicodeDecodeError:
                found.append(raw.decode("latin-1"))
    return found


def _decoded_header(text: str) -> str:
    """Return a text with its encoded words read (RFC 2047); what cannot be read stays as it is."""
    if "=?" not in text:
        return text
    try:
        parts = decode_header(text)
    except Exception:  # binascii's and others' errors on words that are broken
        return text
    return "".join(part if isinstance(part, str) else decode_text(part, charset) for part, charset in parts)


def _addresses(message: Message, name: str) -> list[tuple[str, str]]:
    """Return names and addresses; what looks like an address in a name is told as a part of the name."""
    found: list[tuple[str, str]] = []
    try:
        pairs = getaddresses([_raw(message, name)])
    except Exception:
        return []
    for said, address in pairs[:_MAX_ADDRESSES]:
        address = address if _ADDRESS.fullmatch(address) else ""
        said = one_line(_decoded_header(said)).translate({ord(char): None for char in "<>"})[:200]
        if said or address:
            found.append((said, address))
    return found


def _date(text: str) -> str | None:
    try:
        moment = parsedate_to_datetime(text.strip())
        return moment.isoformat() if moment.tzinfo else f"{moment.isoformat()}+00:00"
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _parts(message: Message, depth: int = 0) -> Iterator[Message]:
    """Yield what holds something; a message within the message is one file."""
    if message.is_multipart() and message.get_content_maintype() != "message":
        if depth >= _MAX_DEPTH:
            raise RecursionError
        for part in message.get_payload():
            if isinstance(part, Message):
                yield from _parts(part, depth + 1)
    else:
        yield message


def _body(message: Message) -> tuple[str, list[Message]]:
    plain: list[Message] = []
    html: list[Message] = []
    files: list[Message] = []
    for count, part in enumerate(_parts(message)):
        if count >= _MAX_PARTS:
            break
        kind = part.get_content_type()
        is_file = part.get_content_disposition() == "attachment" or bool(_name(part))
        if kind == "text/plain" and not is_file:
            plain.append(part)
        elif kind == "text/html" and not is_file:
            html.append(part)
        elif kind != "multipart/mixed":
            files.append(part)
    text = "\n".join(_text(part) for part in plain).strip()
    if not text and html:
        text = "\n\n".join(text_of_html(_text(part)) for part in html).strip()
    return re.sub(r"\n{4,}", "\n\n\n", text.replace("\r\n", "\n").replace("\r", "\n")), files


def _text(part: Message) -> str:
    return decode_text(_payload(part), _charset(part))


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except (LookupError, ValueError):
        return None


def _payload(part: Message) -> bytes:
    if part.get_content_maintype() == "message":
        inner = part.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else inner
        return first.as_bytes() if isinstance(first, Message) else str(first).encode("utf-8", "replace")
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _name(part: Message) -> str:
    try:
        return one_line(_decoded_header(part.get_filename() or ""))[:200]
    except (LookupError, ValueError, TypeError):
        return ""


def _described(number: int, part: Message) -> tuple[int, str, str, int]:
    kind = part.get_content_type()
    ending = ".eml" if kind == "message/rfc822" else ""
    return number, _name(part) or f"{part.get_content_maintype()}-{number}{ending}", kind, len(_payload(part))


def _file(raw: bytes, number: int) -> tuple[dict[str, Any], bytes]:
    _, files = _body(message_from_bytes(raw, policy=compat32))
    if not 1 <= number <= len(files):
        raise Unreadable("gone")
    _, name, kind, _ = _described(number, files[number - 1])
    return {"name": name, "content_type": kind}, _payload(files[number - 1])
