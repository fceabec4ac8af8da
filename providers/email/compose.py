"""Messages written so that every header is a single line of ours, and every reader reads the same values. Pure."""

import hashlib
import re
from collections.abc import Sequence
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime

import idna

from providers.email.types import MailAddress, MailFile, MailMessage, OutgoingMail

MAX_REFERENCES = 20
MAX_QUOTED = 20_000
# RFC 5321 4.1.2 without quoted local parts, and RFC 1035 names: the addresses that people use.
_ADDRESS = re.compile(
    r"(?=.{6,254}\Z)(?!.*=\?)[\w!#$%&'*+/=?^`{|}~-]{1,64}(?:\.[\w!#$%&'*+/=?^`{|}~-]{1,64}){0,9}"
    r"@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]",
    re.ASCII | re.IGNORECASE,
)
_PLAIN_SUBJECT = re.compile(r"(?=.{0,66}\Z)(?!.*=\?)(?:[!-~]+(?: [!-~]+)*)?")
_ID = re.compile(r"[!-;=?-~]{1,250}")
_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,62}/[a-z0-9][a-z0-9.+-]{0,62}")
# Seven bits, which every server on the way can carry.
_POLICY = SMTP_POLICY.clone(cte_type="7bit")


def is_address(address: str) -> bool:
    """Return whether mail can be sent to an address: without a name, its domain in any script."""
    return _ADDRESS.fullmatch(as_mailed(address)) is not None


def as_mailed(address: str) -> str:
    """Return an address with its domain as DNS writes it (RFC 5891); unchanged if that is impossible."""
    local, at, domain = address.rpartition("@")
    if domain.isascii():
        return address
    try:
        return f"{local}{at}{idna.encode(domain, uts46=True, std3_rules=True).decode()}"
    except idna.IDNAError:
        return address


def message_id_of(key: str, sender: str) -> str:
    """Return the Message-ID of a call's mail: it is the same for the same call, so that copies count as one message."""
    return f"{hashlib.sha256(key.encode()).hexdigest()[:40]}@{as_mailed(sender).rpartition('@')[2]}"


def compose(mail: OutgoingMail) -> bytes:
    """Return the bytes of a message; raises `ValueError` for a value that no header can hold."""
    message = EmailMessage(policy=_POLICY)
    # The policy rejects line breaks in headers and encodes everything else.
    message["From"] = Address(undecoded(mail.sender.name), addr_spec=as_mailed(mail.sender.address))
    message["To"] = [Address(addr_spec=as_mailed(address)) for address in mail.to]
    if mail.cc:
        message["Cc"] = [Address(addr_spec=as_mailed(address)) for address in mail.cc]
    message["Date"] = format_datetime(mail.date)
    message["Message-ID"] = f"<{mail.message_id}>"
    message.set_content(mail.body)
    if mail.calendar is not None:
        # Beside the text, as calendar programs expect it; as an attachment it would be a file (RFC 6047 2.4).
        params = {"method": mail.calendar.method, "component": "VEVENT"}
        message.add_alternative(mail.calendar.text, subtype="calendar", params=params)
    for file in mail.files:
        _attach(message, file)
    return subject_header(mail.subject) + thread_headers(mail.in_reply_to, mail.references) + message.as_bytes()


def subject_header(subject: str) -> bytes:
    """Return the header that every mail program reads as this very text."""
    # Folded by EmailMessage, a text in several encoded words loses spaces (CPython 3.12), and a text that looks like
    # an
    # encoded word would be decoded.
    plain = _PLAIN_SUBJECT.fullmatch(subject)
    written = subject if plain else Header(subject, "utf-8", header_name="Subject").encode(linesep="\r\n")
    return f"Subject: {written}\r\n".encode("ascii")


def thread_headers(in_reply_to: str | None, references: Sequence[str]) -> bytes:
    """Return the headers that tie an answer to its thread; ids are without brackets, and invalid ids are left out."""
    # EmailMessage would decode text that looks like an encoded word, and write its line breaks (CPython 3.12).
    lines: list[str] = []
    if in_reply_to and _ID.fullmatch(in_reply_to):
        lines.append(f"In-Reply-To: <{in_reply_to}>")
    if known := [f"<{reference}>" for reference in references if _ID.fullmatch(reference)]:
        # Folded between any two: a line has at most 998 characters.
        lines.append("References: " + "\r\n ".join(known))
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def undecoded(name: str) -> str:
    """Return a file's or person's name that no reader decodes: on a single line, and without encoded words."""
    return "".join(char for char in name if char.isprintable()).replace("=?", "=_").strip()


def reply_subject(subject: str) -> str:
    """Return the subject of an answer."""
    return subject if re.match(r"(re|aw|sv|antw|rif|r|回复|答复)\s?[:：]", subject, re.I) else f"Re: {subject}".strip()


def forward_subject(subject: str) -> str:
    """Return the subject of a message that is passed on."""
    return subject if re.match(r"(fwd?|wg|tr|rv|enc|转发)\s?[:：]", subject, re.I) else f"Fwd: {subject}".strip()


def answered(message: MailMessage, own: str, *, everybody: bool = False) -> tuple[list[str], list[str]]:
    """Return the recipients of the answer to a message, and of copies, without ourselves.

    The answer to one of our messages goes to its recipients.
    """
    sent = [address.address.casefold() for address in message.sender] == [own.casefold()]
    first = message.to if sent else message.reply_to or message.sender
    others = [*message.to, *message.cc] if everybody else []
    to = _addresses(first, [] if sent else [own])
    return to, _addresses(others, [own, *to])


def thread_of(message: MailMessage) -> tuple[str | None, tuple[str, ...]]:
    """Return In-Reply-To and References of an answer (RFC 5322 3.6.4)."""
    known = [reference for reference in message.references if _ID.fullmatch(reference)]
    own = message.message_id if message.message_id and _ID.fullmatch(message.message_id) else None
    if own is None:
        return None, ()
    # The first names the thread and the last the answered mail; those between may go.
    known = [*known[:1], *known[1:][-(MAX_REFERENCES - 2) :]]
    return own, tuple(dict.fromkeys([*(reference for reference in known if reference != own), own]))


def quoted(message: MailMessage) -> str:
    """Return a message's text as an answer quotes it."""
    return "\n".join(f"> {line}".rstrip() for line in message.text[:MAX_QUOTED].splitlines())


def _addresses(found: tuple[MailAddress, ...] | list[MailAddress], without: list[str]) -> list[str]:
    left = {address.casefold() for address in without}
    chosen: dict[str, str] = {}
    for address in found:
        key = address.address.casefold()
        if address.address and key not in left:
            chosen.setdefault(key, address.address)
    return list(chosen.values())


def _attach(message: EmailMessage, file: MailFile) -> None:
    main, _, sub = file.content_type.partition("/")
    if main in ("multipart", "message") or not _TYPE.fullmatch(file.content_type):
        main, sub = "application", "octet-stream"
    message.add_attachment(file.data, maintype=main, subtype=sub, filename=undecoded(file.name) or "file")
