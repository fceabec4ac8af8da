"""A new message as an event: the fields that tasks filter by, and the data for the model. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from core.credentials.types import Account
from core.json_types import Json, JsonObject, canonical_hash
from providers.email.types import MailAddress, MailMessage, MailRef, StoredMail

MAX_TEXT = 2000
"""Characters of the text that an event carries; the rest is read by the email tools."""
MAX_LINE, MAX_ADDRESSES = 300, 20
_BULK = frozenset({"bulk", "list", "junk"})


def event_of(account: Account, mail: StoredMail, message: MailMessage) -> JsonObject:
    """Return the event of a message: its id, its data, and when it came in."""
    came = mail.received or message.date or datetime.now(UTC)
    return {
        "id": _name(account, mail, message),
        "data": data_of(account, mail, message),
        "occurred_at": came.isoformat(),
    }


def data_of(account: Account, mail: StoredMail, message: MailMessage) -> JsonObject:
    """Return the data of a message. `from` is as people read it; `id` is an id for the email tools."""
    sender = message.sender[0] if message.sender else MailAddress("", "")
    ref = MailRef(account.service, account.name, "INBOX", mail.validity, mail.uid)
    text = " ".join(message.text.split())
    return {
        "id": str(ref),
        "account": account.name,
        "address": account.address,
        "from": _line(str(sender)),
        "from_name": _line(sender.name),
        "from_address": _line(sender.address.lower()),
        "to": _listed(message.to),
        "cc": _listed(message.cc),
        "subject": _line(message.subject),
        "date": message.date.isoformat() if message.date else "",
        "text": text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…",
        "has_attachments": bool(message.attachments),
        "list": _line(_first(message, "list-id")),
        "bulk": is_bulk(message),
        "message_id": _line(message.message_id or ""),
    }


def is_bulk(message: MailMessage) -> bool:
    """Return whether a program sent it to many, or by itself (RFC 2369, RFC 3834)."""
    automatic = _first(message, "auto-submitted").lower()
    return bool(
        _first(message, "list-id")
        or _first(message, "list-unsubscribe")
        or _first(message, "precedence").strip().lower() in _BULK
        or (automatic and not automatic.startswith("no"))
    )


def _name(account: Account, mail: StoredMail, message: MailMessage) -> str:
    """Return the id of a message's event: it stays the same if the message is moved or renumbered.

    Not the Message-ID alone: some programs write the same id into each message.
    """
    sender = ", ".join(str(address) for address in message.sender)
    said: list[Json] = [message.message_id, _moment(message.date), sender, message.subject]
    if not message.message_id or message.date is None:
        said += [_moment(mail.received), mail.size]
    return canonical_hash([account.service, account.name, *said])[:40]


def _moment(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat() if moment else ""


def _first(message: MailMessage, header: str) -> str:
    return next(iter(message.header(header)), "")


def _listed(addresses: Sequence[MailAddress]) -> str:
    shown = ", ".join(_line(str(address)) for address in addresses[:MAX_ADDRESSES])
    return f"{shown}, …" if len(addresses) > MAX_ADDRESSES else shown


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…"
