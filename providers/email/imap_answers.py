"""An IMAP server's answers, and the arguments of its commands, as text. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from core.language.catalogue import gettext
from providers.email.types import MailFailed, MailFailure, MailQuery, StoredMail

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MAX_NUMBER, MAX_SIZE = 2**32 - 1, 2**63 - 1
"""The highest UID or UIDVALIDITY, and the highest size of a message (RFC 9051 9: number, number64)."""
_MAX_TEXT = 500
_UID = re.compile(rb"\bUID (\d+)\b")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d+)\b")
_FLAGS = re.compile(rb"\bFLAGS \(([^()]*)\)")
_FOLDER = re.compile(rb"\(([^()]*)\) \S{1,8} (.+)", re.DOTALL)
_MAX_FOLDER = 8 * 1024
_RECEIVED = re.compile(rb'\bINTERNALDATE "([^"]{10,40})"')


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
        asked.append(f"SINCE {_day(query.since)}")
    if query.before:
        asked.append(f"BEFORE {_day(query.before)}")
    if query.unread is not None:
        asked.append("UNSEEN" if query.unread else "SEEN")
    if query.flagged is not None:
        asked.append("FLAGGED" if query.flagged else "UNFLAGGED")
    return " ".join(asked) or "ALL"


def safe_name(name: str) -> str:
    """Return a valid folder name; raises `ValueError` for any other."""
    if not name or len(name) > 250 or not name.isprintable():
        raise ValueError("no folder's name")
    return name


def told(responses: dict[str, Any], code: str) -> list[str]:
    """Return the words of the last response code of a kind, such as UIDVALIDITY, and forget it."""
    last = (responses.pop(code, None) or [b""])[-1]
    return last.decode("ascii", "replace").split() if isinstance(last, bytes) else []


def stored_mails(answer: Sequence[Any], validity: int) -> Sequence[StoredMail]:
    """Return the messages of a FETCH's answer, as imaplib has it: the texts before and after each body count.

    Raises `ValueError` for numbers that are not valid in IMAP.
    """
    found: list[StoredMail] = []
    for number, part in enumerate(answer):
        if not isinstance(part, tuple):
            continue
        behind = answer[number + 1] if number + 1 < len(answer) else b""
        said = part[0] + b" " + (behind if isinstance(behind, bytes) else b"")
        uid = _UID.search(said)
        if uid is None:
            continue
        size, flags, received = _SIZE.search(said), _FLAGS.search(said), _RECEIVED.search(said)
        found.append(
            StoredMail(
                validity,
                read_number(uid[1]),
                frozenset(flags[1].decode("ascii", "replace").lower().split()) if flags else frozenset(),
                read_number(size[1], MAX_SIZE) if size else len(part[1]),
                _moment(received[1].decode("ascii", "replace")) if received else None,
                part[1],
            )
        )
    return found


def listed_folders(answer: Sequence[Any], decode: Callable[[bytes], str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the folders of a LIST's answer, as imaplib has it: names by `decode`, and flags in lower case.

    Not by imap_tools: the time of its expression grows with the square of a line.
    """
    for item in answer:
        said, literal = item if isinstance(item, tuple) else (item, None)
        match = _FOLDER.match(said) if isinstance(said, bytes) and len(said) <= _MAX_FOLDER else None
        name = match[2] if match and literal is None else literal
        if match is None or not isinstance(name, bytes) or len(name) > _MAX_FOLDER:
            continue
        if literal is None and name.startswith(b'"') and name.endswith(b'"'):
            name = name[1:-1].replace(b'\\"', b'"')
        yield decode(name), frozenset(match[1].decode("ascii", "replace").lower().split())


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), "%d-%b-%Y %H:%M:%S %z")
    except ValueError:
        return None


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


def set_of(uids: Sequence[int]) -> str:
    """Return numbers as commands name them."""
    return ",".join(str(int(uid)) for uid in uids)


def _quoted(text: str) -> str:
    if len(text) > _MAX_TEXT or not text.isprintable():
        raise MailFailed(gettext("Mail cannot be searched for that."), MailFailure.REFUSED)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _day(day: date) -> str:
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"
