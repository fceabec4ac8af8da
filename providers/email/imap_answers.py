"""An IMAP server's answers, and the arguments of its commands, as text. Pure."""

import base64
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from core.language.catalogue import gettext
from providers.email.imap_wire import ImapResponse
from providers.email.types import MailFailed, MailFailure, MailQuery, StoredMail

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MAX_NUMBER, MAX_SIZE = 2**32 - 1, 2**63 - 1
"""The highest UID or UIDVALIDITY, and the highest size of a message (RFC 9051 9: number, number64)."""
_MAX_TEXT = 500
UID = re.compile(rb"\bUID ([0-9]+)")
MESSAGES, UIDNEXT = re.compile(rb"\bMESSAGES ([0-9]+)"), re.compile(rb"\bUIDNEXT ([0-9]+)")
_SIZE = re.compile(rb"\bRFC822\.SIZE ([0-9]+)")
_FLAGS = re.compile(rb"\bFLAGS \(([^()]*)\)")  # of no "(" either: its time would grow with the square of a line
_FOLDER = re.compile(rb"\* LIST \(([^()]*)\) \S{1,8} (.+)", re.DOTALL | re.IGNORECASE)
_MAX_FOLDER, _MAX_FETCH = 8 * 1024, 1024 * 1024
_RECEIVED = re.compile(rb'\bINTERNALDATE "([ 0-9]{2})-(\w{3})-([0-9]{4}) ([0-9:]{8}) ([+-][0-9]{4})"')
_BODY = re.compile(rb'\bBODY\[\](?:<0>)? (\{n\}|NIL|"")')
_CODE = re.compile(rb"\S{1,20} OK \[([A-Z]+) ([^\]]+)\]", re.IGNORECASE)
_MAX_CODE = 64 * 1024
_CODED = re.compile(r"&|[^\x20-\x7e]+")
_BASE64 = re.compile(r"&([^-]*)-")


def read_number(digits: str | bytes, most: int = MAX_NUMBER) -> int:
    """Return a number that a server wrote; raises `ValueError` if it is not a number of IMAP."""
    text = digits.decode("ascii", "replace") if isinstance(digits, bytes) else digits
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and int(text) <= most):
        raise ValueError("no number of a mailbox")  # without the number: a server's words stay out of errors
    return int(text)


def criteria_of(query: MailQuery) -> str:
    """Return a query as a SEARCH asks for it (RFC 3501 6.4.4); raises `MailFailed` for text that could end its line."""
    texts = {"FROM": query.sender, "TO": query.recipient, "SUBJECT": query.subject, "TEXT": query.text}
    asked = [f"{key} {_quoted(text)}" for key, text in texts.items() if text]
    if query.message_id:
        asked.append(f"HEADER Message-ID {_quoted(query.message_id)}")
    if query.reference:
        asked.append(f"HEADER References {_quoted(query.reference)}")
    if query.since:
        asked.append(f"SINCE {day_argument(query.since)}")
    if query.before:
        asked.append(f"BEFORE {day_argument(query.before)}")
    if query.unread is not None:
        asked.append("UNSEEN" if query.unread else "SEEN")
    if query.flagged is not None:
        asked.append("FLAGGED" if query.flagged else "UNFLAGGED")
    return " ".join(asked) or "ALL"


def response_code(answer: ImapResponse) -> tuple[str, str] | None:
    """Return the name and words of a response code, such as UIDVALIDITY; None for an answer without one."""
    match = _CODE.match(answer.text[:_MAX_CODE])
    return (match[1].decode().upper(), match[2].decode("ascii", "replace")) if match else None


def folder_number(answer: ImapResponse) -> tuple[str, int] | None:
    """Return the name and number of a response code, UIDVALIDITY or UIDNEXT; None for another answer."""
    name, words = response_code(answer) or ("", "")
    return (name, read_number(words)) if name in ("UIDVALIDITY", "UIDNEXT") else None


def number_after(pattern: re.Pattern[bytes], text: bytes, most: int = MAX_NUMBER) -> int:
    """Return a number of an answer; 0 if it has none. Raises `ValueError` if the number is not valid in IMAP."""
    match = pattern.search(text)
    return read_number(match[1], most) if match else 0


def stored_mail(answer: ImapResponse, validity: int, max_bytes: int) -> StoredMail | None:
    """Return the message in a FETCH's answer, with a limit on its body's bytes; None for an answer of another kind.

    Raises `ValueError` for numbers that are not valid in IMAP, and for a body of another form.
    """
    said = answer.text
    if len(said) > _MAX_FETCH:
        raise ValueError("a line longer than any of a message")
    uid, body, has_size = number_after(UID, said), _BODY.search(said), _SIZE.search(said) is not None
    if body is None and b" BODY[]" in said:
        raise ValueError("a body of another form")
    if not uid or (body is None and not has_size):
        return None  # others' flags
    number = said[: body.end()].count(b"{n}") if body and body[1] == b"{n}" else 0
    if number > len(answer.literals):
        raise ValueError("a body that is not there")
    data = answer.literals[number - 1] if number else b""
    flags = _FLAGS.search(said)
    size = number_after(_SIZE, said, MAX_SIZE) if has_size else len(data)
    words = (flags[1] if flags else b"").decode("ascii", "replace").lower().split()
    return StoredMail(validity, uid, frozenset(words), size, moment_of(said), data[:max_bytes])


def moment_of(text: bytes) -> datetime | None:
    """Return the moment at which a message came into its folder; None if the answer has none that is valid."""
    match = _RECEIVED.search(text)
    if match is None:
        return None
    day, month, year, clock, offset = (piece.decode() for piece in match.groups())
    try:
        written = f"{year}-{_MONTHS.index(month.title()) + 1:02}-{day.strip():0>2}T{clock}{offset[:3]}:{offset[3:]}"
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def found_messages(lines: Sequence[bytes]) -> Sequence[int]:
    """Return the messages of a SEARCH's answers; raises `ValueError` for a number that is not valid in IMAP."""
    return [read_number(word) for line in lines for word in line.split()[2:]]


def listed_folder(answer: ImapResponse) -> tuple[str, frozenset[str]] | None:
    """Return the folder of a LIST's answer: its name, and its flags in lower case; None for another answer."""
    if len(answer.text) > _MAX_FOLDER or not (match := _FOLDER.match(answer.text.rstrip(b"\r\n"))):
        return None
    name = match[2]
    if name == b"{n}" and len(answer.literals) == 1:
        name = answer.literals[0]
    elif name.startswith(b'"') and name.endswith(b'"'):
        name = name[1:-1].replace(b'\\"', b'"').replace(b"\\\\", b"\\")
    if len(name) > _MAX_FOLDER:
        return None
    return decoded_name(name), frozenset(match[1].decode("ascii", "replace").lower().split())


def folder_argument(name: str) -> bytes:
    """Return a folder's name as commands carry it (RFC 3501 5.1.3); raises `ValueError` for an invalid name."""
    if not name or len(name) > 250 or not name.isprintable():
        raise ValueError("no folder's name")
    coded = _CODED.sub(_in_base64, name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{coded}"'.encode("ascii")


def decoded_name(raw: bytes) -> str:
    """Return the name of a folder as people read it; as it is if its coding is not valid."""
    try:
        return _BASE64.sub(_from_base64, raw.decode())
    except ValueError:
        return raw.decode("ascii", "replace")


def moment_argument(moment: datetime) -> bytes:
    """Return a moment as commands carry it; `moment` has a timezone."""
    return f'"{moment.day:02}-{_MONTHS[moment.month - 1]}-{moment:%Y %H:%M:%S %z}"'.encode()


def _in_base64(match: re.Match[str]) -> str:
    if match[0] == "&":
        return "&-"
    coded = base64.b64encode(match[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
    return f"&{coded}-"


def _from_base64(match: re.Match[str]) -> str:
    coded = match[1].replace(",", "/")
    return base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True).decode("utf-16-be") if coded else "&"


def numbers_in(text: str, most: int) -> Sequence[int]:
    """Return the numbers of a set such as 4:6,9; none if it is not a set, or has more than `most`."""
    found: list[int] = []
    for part in text.split(",", most):
        first, _, last = part.partition(":")
        try:
            numbers = range(read_number(first), read_number(last or first) + 1)
        except ValueError:
            return ()
        if len(found) + len(numbers) > most:
            return ()
        found += numbers
    return found


def set_of(uids: Sequence[int]) -> bytes:
    """Return numbers as commands name them."""
    return b",".join(b"%d" % uid for uid in uids)


def _quoted(text: str) -> str:
    if len(text) > _MAX_TEXT or not text.isprintable():
        raise MailFailed(gettext("Mail cannot be searched for that."), MailFailure.REFUSED)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def day_argument(day: date) -> str:
    """Return a day as commands carry it."""
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"
