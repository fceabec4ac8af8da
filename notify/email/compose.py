"""A part written as a mail: headers, both texts, files; pure.

To a person who writes to the assistant's mailbox it is an answer in their thread; elsewhere it is news, which cannot be
answered. Either is marked as automatic (RFC 3834), so that no out-of-office notice and no other assistant answers it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr
from urllib.parse import quote

from core.errors import Rejected
from core.messaging.channels import Part, Target
from core.messaging.files import OutgoingFile
from notify.addresses import is_one_way
from providers.email.compose import subject_header, thread_headers, undecoded
from providers.email.wire import PART_HEADER, domain_of, message_id

_POLICY = SMTP_POLICY.clone(cte_type="7bit")


@dataclass(frozen=True, slots=True)
class WrittenMail:
    """A mail in the form for the server. `sender` and `recipient` go on the envelope."""

    id: str
    sender: str
    recipient: str
    data: bytes


def compose(
    part: Part, to: Target, sender: str, now: datetime, files: Sequence[tuple[OutgoingFile, bytes]] = ()
) -> WrittenMail:
    """Write a part as a mail from `sender`, an address or `Name <address>`. Raises `Rejected`."""
    message = EmailMessage(policy=_POLICY)
    address = parseaddr(sender)[1]
    try:
        message["From"] = sender
        message["To"] = to.address.peer
    except ValueError as error:
        raise Rejected("an address cannot be written into an email") from error
    message["Date"] = format_datetime(now)
    thread = b""
    if is_one_way(to.address.channel, to.address.account):
        id, subject = _head_of_news(message, part, to, address)
    else:
        id, subject = _head_of_answer(message, part, to, address)
        if _answers(part, to):
            answered = to.reply_to.strip("<>")
            thread = thread_headers(answered, [answered])
    message.set_content(part.text)
    if html := str(part.data.get("html", "")):
        message.add_alternative(html, subtype="html")
    for file, content in files:
        kind, _, subtype = file.content_type.partition("/")
        if not subtype or kind in ("message", "multipart"):
            kind, subtype = "application", "octet-stream"
        message.add_attachment(content, maintype=kind, subtype=subtype, filename=undecoded(file.name))
    data = subject_header(_in_one_line(subject)) + thread + message.as_bytes()
    return WrittenMail(id, address, to.address.peer, data)


def _head_of_news(message: EmailMessage, part: Part, to: Target, address: str) -> tuple[str, str]:
    """Write the headers of news, which cannot be answered; return its Message-ID and its subject."""
    id = f"<{to.ref}@{domain_of(address) or 'onevalet'}>"
    message["Message-ID"] = id
    message["Auto-Submitted"] = "auto-generated"
    # RFC 2369: to the From, whose reader removes the address by `notify delete`. A link for a single press (RFC
    # 8058)
    # would need a page.
    message["List-Unsubscribe"] = f"<mailto:{quote(address, safe='@')}?subject=unsubscribe>"
    return id, str(part.data.get("subject", ""))


def _head_of_answer(message: EmailMessage, part: Part, to: Target, address: str) -> tuple[str, str]:
    """Write the headers of a mail in a person's thread; return its Message-ID and its subject."""
    id = message_id(to.ref, to.address.thread, domain_of(address))
    message["Message-ID"] = id
    message[PART_HEADER] = to.ref
    message["X-Auto-Response-Suppress"] = "All"
    if not _answers(part, to):
        message["Auto-Submitted"] = "auto-generated"
        return id, str(part.data.get("subject", ""))
    message["Auto-Submitted"] = "auto-replied"
    return id, f"Re: {to.subject}" if to.subject else str(part.data.get("subject", ""))


def _answers(part: Part, to: Target) -> bool:
    return bool(part.data.get("answers") and to.reply_to)


def _in_one_line(subject: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in subject).split())
