"""Messages read in a child process, since anyone who knows an address may send a message that breaks a parser."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from core.children.child_job import Unreadable
from core.children.child_process import ChildFailed, ask_child
from core.json_types import storable
from core.language.catalogue import gettext
from core.language.unseen import without_unseen
from providers.email.types import MailAddress, MailAttachment, MailFailed, MailFailure, MailFile, MailMessage

_SCRIPT = Path(__file__).with_name("mail_script.py")
MAX_FILE = 25 * 1024 * 1024
"""Bytes of a file in a message."""


async def read_messages(raws: Sequence[bytes]) -> Sequence[MailMessage]:
    """Return messages as far as they can be read; `readable` is false if parsing failed."""
    if not raws:
        return []
    try:
        return [message_of(found) for found in (await _ask(raws))["messages"]]
    except MailFailed:
        if len(raws) == 1:
            return [MailMessage(readable=False)]
    # A message among them is made to break the reader; the others are read without it.
    return [message for raw in raws for message in await read_messages([raw])]


async def read_message(raw: bytes) -> MailMessage:
    """Return a single message."""
    return (await read_messages([raw]))[0]


async def take_file(raw: bytes, number: int) -> MailFile:
    """Return a file of a message by its number, from 1. Raises `MailFailed`."""
    found = await _ask([raw], number)
    return MailFile(_seen(found["name"]), found["content_type"], found["body"])


async def read_part_headers(raw: bytes, names: Sequence[str]) -> Sequence[Mapping[str, Sequence[str]]]:
    """Return for each part of a message the headers with these names, in lower case; none if it cannot be read."""
    try:
        parts: list[dict[str, list[str]]] = (await _ask([raw], names=names))["parts"]
    except MailFailed:
        return []
    return parts


async def _ask(raws: Sequence[bytes], take: int | None = None, names: Sequence[str] | None = None) -> dict[str, Any]:
    asked = {"sizes": [len(raw) for raw in raws], "take": take, "names": names and [*names]}
    try:
        found, body = await ask_child(_SCRIPT, asked, b"".join(raws), max_out=MAX_FILE + 1024 * 1024)
    except (ChildFailed, Unreadable) as error:
        if isinstance(error, Unreadable) and str(error) == "gone":
            raise MailFailed(gettext("There is no such file in that mail."), MailFailure.GONE) from error
        sentence = gettext("That mail cannot be read: it is broken or too complex.")
        raise MailFailed(sentence, MailFailure.UNREADABLE) from error
    return found | {"body": body}


def message_of(found: dict[str, Any]) -> MailMessage:
    """Return a message from its reader's output."""
    addresses = {name: _addresses(found[name]) for name in ("sender", "to", "cc", "reply_to")}
    files = tuple(MailAttachment(number, _seen(name), *further) for number, name, *further in found["files"])
    return MailMessage(
        **addresses,
        subject=_seen(found["subject"]),
        date=datetime.fromisoformat(found["date"]) if found["date"] else None,
        message_id=found["message_id"],
        references=tuple(found["references"]),
        text=_seen(found["text"]),
        attached=_seen(found["attached"]),
        cut=found["cut"],
        attachments=files,
        headers=tuple((name, _seen(value)) for name, value in found["headers"]),
        readable=found["readable"],
    )


def _addresses(found: Sequence[Sequence[str]]) -> tuple[MailAddress, ...]:
    return tuple(MailAddress(_seen(name), _seen(address)) for name, address in found)


def _seen(text: str) -> str:
    """Return a text without invisible characters."""
    return without_unseen(str(storable(text)))
