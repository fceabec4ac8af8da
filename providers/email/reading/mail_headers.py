"""The headers of a message by mail: encoded words, bytes that are no ASCII, names of files, addresses, dates."""

import binascii
import re
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from quopri import decodestring

from core.language.charsets import decode_text
from core.language.unseen import one_line

_MAX_HEADER = 20_000
_MAX_ADDRESSES = 200
_MAX_LOOKED_AT = 20
_ADDRESS = re.compile(r"[^\s<>,;:\"()@]{1,200}@[^\s<>,;:\"()@]{1,250}")
_WORD = re.compile(r"=\?([^?*\s]{1,60})(?:\*[^?\s]{0,20})?\?([bBqQ])\?([^?]*)\?=")
"""An encoded word (RFC 2047), its language left out (RFC 2231 5)."""


def usual_label(message: Message) -> str | None:
    """Return the first part's character set that is named: raw bytes in headers use it, unless they are UTF-8."""
    for count, part in enumerate(message.walk()):
        if count >= _MAX_LOOKED_AT:
            break
        if label := charset_of(part):
            return label
    return None


def charset_of(part: Message) -> str | None:
    """Return the label of a part's character set; None if it has none."""
    label = part.get_param("charset")
    if isinstance(label, tuple):
        label = label[2]
    return str(label) if label else None


def raw_values(message: Message, name: str, label: str | None = None) -> list[str]:
    """Return all headers of a name, the topmost first: bytes that are no ASCII are UTF-8 (RFC 6532), or as `label`."""
    return [_unescaped(str(value), label) for known, value in message.raw_items() if known.lower() == name]


def raw_value(message: Message, name: str, label: str | None = None) -> str:
    """Return the first header of a name, its folding undone."""
    values = raw_values(message, name, label) or [""]
    return re.sub(r"\r?\n(?=[ \t])", "", values[0])[:_MAX_HEADER]


def decoded(text: str) -> str:
    """Return a text with its encoded words read (RFC 2047); unreadable words stay as they are."""
    said, at = list[str](), 0
    label, data = "", b""
    for word in _WORD.finditer(text):
        between = text[at : word.start()]
        read = _bytes_of(word[2], word[3])
        # Adjacent words are a single text: programs cut letters of several bytes in two.
        if between.strip() or word[1].lower() != label or read is None or at == 0:
            said.append(decode_text(data, label))
            said.append(between if between.strip() or at == 0 else "")
            label, data = word[1].lower(), b""
        if read is None:
            said.append(word[0])
        else:
            data += read
        at = word.end()
    return "".join([*said, decode_text(data, label), text[at:]])


def subject_of(message: Message, label: str | None) -> str:
    """Return the subject, on a single line."""
    return one_line(decoded(raw_value(message, "subject", label)))


def addresses(message: Message, name: str, label: str | None = None) -> list[tuple[str, str]]:
    """Return names and addresses; text in a name that looks like an address stays part of the name."""
    found: list[tuple[str, str]] = []
    try:
        pairs = getaddresses([raw_value(message, name, label)])
    except Exception:
        return []
    for said, address in pairs[:_MAX_ADDRESSES]:
        address = address if _ADDRESS.fullmatch(address) else ""
        said = one_line(decoded(said)).translate({ord(char): None for char in "<>"})[:200]
        if said or address:
            found.append((said, address))
    return found


def date_of(message: Message) -> str | None:
    """Return the date that a message states, as ISO 8601."""
    try:
        moment = parsedate_to_datetime(raw_value(message, "date").strip())
        return moment.isoformat() if moment.tzinfo else f"{moment.isoformat()}+00:00"
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def file_name(part: Message, label: str | None = None) -> str:
    """Return the file name of a part: by RFC 2231, by encoded words, or by bytes as they are."""
    for header, parameter in (("content-disposition", "filename"), ("content-type", "name")):
        written = raw_value(part, header, label)
        if name := _parameter(written, parameter):
            return one_line(name)[:200]
    return ""


def _parameter(header: str, name: str) -> str:
    """Return a parameter of a header, preferring the form with a character set if there are both (RFC 6266 4.3)."""
    read = Message()
    read["Content-Type"] = header
    try:
        found = [value for known, value in read.get_params([]) if known.lower() == name]
    except (LookupError, ValueError, TypeError):
        return ""
    for value in found:
        if isinstance(value, tuple):
            charset, _, text = value
            return decode_text(str(text).encode("latin-1", "replace"), charset)
    return decoded(str(found[0])) if found else ""


def _unescaped(value: str, label: str | None) -> str:
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return decode_text(raw, label)


def _bytes_of(encoding: str, text: str) -> bytes | None:
    """Return the bytes in an encoded word; None if they cannot be read."""
    data = text.encode("ascii", "ignore")
    if encoding in "qQ":
        return decodestring(data.replace(b"_", b"=20"))
    try:
        return binascii.a2b_base64(data.rstrip(b"=") + b"==")
    except binascii.Error:
        return None
