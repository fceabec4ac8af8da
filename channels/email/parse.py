"""From a mail to our inbound types; pure.

An unproven mail is dropped before its text is read. Every other mail has a single recorded result. Its text and files
are read in a child process, by the reader of people's own accounts (`providers.email.messages`).
"""

from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser

from channels.email.bounce import is_report
from channels.email.headers import (
    has_one_reading,
    is_automatic,
    own_id,
    passes_on,
    plain_subject,
    read_from,
    read_thread,
    referred,
    sent_at,
    signs_a_part,
    values,
)
from channels.email.verify import is_authentic
from channels.email.written import Written, alone, split_text
from core.approvals.exact_replies import parse_exact_reply
from core.language.catalogue import gettext_noop
from core.language.written import language_written
from core.messaging.chat_reader import chat_words
from core.messaging.inbound import Inbound
from core.messaging.messages import Address, Command, IgnoredMessage, IgnoreReason, InboundMessage, Media, Origin
from core.messaging.talk_words import INTERRUPT
from providers.email.types import MailMessage
from providers.email.wire import CHANNEL, MAX_MAIL, domain_of, file_url, our_thread

MAX_FILES = 20
TOO_LARGE = gettext_noop("That mail is too large: I read mails of up to 30 MB.")
UNREADABLE = gettext_noop("That mail cannot be read: it is broken or too complex.")
ONLY_QUOTED = gettext_noop("I found no words of yours in that mail, only what it quotes. Please write them above that.")
REPORTS = "reports"
"""In place of the sender of reports about our mails."""
_MAX_SUBJECT, _MAX_NAME, _MAX_FILE_NAME = 300, 80, 120
_LOGO = 12_000
"""Bytes below which a picture that the text shows is a logo or a pixel, and no file."""


@dataclass(frozen=True, slots=True)
class Account:
    """Our side: the assistant's address, and the name by which the server that receives for it signs its results."""

    address: str
    authserv_id: str

    @property
    def domain(self) -> str:
        return domain_of(self.address)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as the mailbox stores it. `raw` may be only its beginning, if only its headers are needed."""

    uid_validity: int
    uid: int
    size: int
    raw: bytes = field(repr=False)

    @property
    def key(self) -> str:
        return f"uid:{self.uid_validity}.{self.uid}"


def parse_headers(mail: Mail, account: Account) -> IgnoredMessage | None:
    """Return the reason not to read a mail, from its headers alone; None if it is to be read whole."""
    message = headers_of(mail)
    if is_report(message) and mail.size <= MAX_MAIL:
        return None
    sender = read_from(message)
    whole = len(mail.raw) >= mail.size
    if not sender or signs_a_part(message) or not has_one_reading(mail.raw, message, whole=whole):
        return ignore_mail(mail, account, IgnoreReason.UNPROVEN)
    if sender == account.address:
        return ignore_mail(mail, account, IgnoreReason.OWN)
    if not is_authentic(values(message, "Authentication-Results"), account.authserv_id, domain_of(sender)):
        return ignore_mail(mail, account, IgnoreReason.UNPROVEN)
    if is_automatic(message, sender):
        return ignore_mail(mail, account, IgnoreReason.BOT)
    if mail.size > MAX_MAIL:
        return _refuse(mail, message, account, IgnoreReason.UNSUPPORTED, TOO_LARGE, "large")
    return None


def parse_mail(mail: Mail, account: Account, content: MailMessage) -> tuple[Inbound, ...]:
    """Return the meaning of a mail with accepted headers: two items if the person wrote something above a forwarded
    text.

    `content`: the text and files that its reader found.
    """
    message = headers_of(mail)
    if not content.readable:
        return (_refuse(mail, message, account, IgnoreReason.UNSUPPORTED, UNREADABLE, "broken"),)
    forwards = passes_on(content.subject)
    media = _media_of(content, mail)
    sender, name = read_from(message), _name_of(content)
    answers = _answers(message, content.subject)
    written = _written(content, account, forwards=forwards, answers=answers)
    begins = not (forwards or answers)
    own, command = _own_text(written.own, content.subject, f"{name} {sender.partition('@')[0]}", begins=begins)
    if not (own or written.forwarded or media):
        only_quoted = ONLY_QUOTED if content.text.strip() else ""
        return (_refuse(mail, message, account, IgnoreReason.EMPTY, only_quoted, "quoted"),)
    made: list[InboundMessage] = []
    if written.forwarded:
        text = f"{plain_subject(content.subject)}\n\n{written.forwarded}".strip()
        made.append(_message(mail, message, content, account, text, Origin.FORWARDED, media))
        media = ()
    if own or media:
        made.append(_message(mail, message, content, account, own, Origin.OWN, media, command))
    return tuple(made)


def sender_of(mail: Mail) -> str:
    """Return the address in whose order a mail is taken; `REPORTS` for a report, whose sender proves nothing."""
    try:
        message = headers_of(mail)
        return REPORTS if is_report(message) else read_from(message)
    except Exception:  # the error arises again where it counts, when the mail is taken
        return ""


def headers_of(mail: Mail) -> Message:
    """Return a mail's headers, without reading its body."""
    return BytesParser().parsebytes(mail.raw, headersonly=True)


def ignore_mail(mail: Mail, account: Account, reason: IgnoreReason) -> IgnoredMessage:
    """Return a mail as ignored, without its sender."""
    return IgnoredMessage(Address(CHANNEL, account.address, ""), "", (mail.key,), reason)


def _refuse(
    mail: Mail, message: Message, account: Account, reason: IgnoreReason, reply: str, kind: str
) -> IgnoredMessage:
    """Return a person's mail as ignored, with the reply to them."""
    if not reply:
        return ignore_mail(mail, account, reason)
    sender = read_from(message)
    address = Address(CHANNEL, account.address, sender, read_thread(message, account.domain))
    return IgnoredMessage(address, sender, (mail.key,), reason, reply, kind)


def _message(
    mail: Mail,
    message: Message,
    content: MailMessage,
    account: Account,
    text: str,
    origin: Origin,
    media: tuple[Media, ...],
    command: Command | None = None,
) -> InboundMessage:
    id, sender = own_id(message), read_from(message)
    # The sender is part of the key, so a stranger cannot use up another person's Message-ID before their mail
    # arrives.
    keys = (mail.key, f"message:{sender}:{id}") if id else (mail.key,)
    answered = [one for one in referred(message)[-1:] if our_thread(one, account.domain) is not None]
    return InboundMessage(
        address=Address(CHANNEL, account.address, sender, read_thread(message, account.domain)),
        sender=sender,
        keys=keys if origin is Origin.OWN else tuple(f"{key}:forwarded" for key in keys),
        text=text,
        media=media,
        command=command,
        sent_at=sent_at(message),
        sender_name=_name_of(content),
        sender_language=language_written(text) or None,
        provider_id=id or None,
        reply_to=answered[0] if answered else "",
        origin=origin,
        subject=plain_subject(content.subject[:_MAX_SUBJECT]),
    )


def _answers(message: Message, subject: str) -> bool:
    return bool(referred(message)) or plain_subject(subject) != subject.strip()


def _name_of(content: MailMessage) -> str:
    """Return the name beside the sender's address, which proves nothing."""
    return next((sender.name for sender in content.sender), "")[:_MAX_NAME]


def _media_of(content: MailMessage, mail: Mail) -> tuple[Media, ...]:
    """Return the files of a mail as references, without those that its text shows or contains."""
    files = [
        file
        for file in content.attachments
        if file.content_type != "message/rfc822" and not (file.shown and file.size < _LOGO)
    ]
    return tuple(
        Media(file_url(mail.uid_validity, mail.uid, file.number), file.content_type, _file_name(file.name), file.size)
        for file in files[:MAX_FILES]
    )


def _file_name(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2][:_MAX_FILE_NAME]


def _written(content: MailMessage, account: Account, *, forwards: bool, answers: bool) -> Written:
    """Return the person's own text and the forwarded text, whether inline or attached."""
    passes_on = forwards and not content.attached
    written = split_text(content.text, passes_on=passes_on, answers=answers, ours=account.address)
    return Written(written.own, "\n\n".join(filter(None, (written.forwarded, content.attached))))


def _own_text(text: str, subject: str, names: str, *, begins: bool) -> tuple[str, Command | None]:
    """Return a person's own words, and their command, if any.

    A chat word or a code counts if it is the whole text, apart from a greeting and a name. In a new thread, the subject
    is part of the text.
    """
    subject = subject[:_MAX_SUBJECT]
    first = alone(text, names) if text else ""
    said = first or (subject if begins else "")
    command = chat_words().read(said, CHANNEL)
    if command is not None or parse_exact_reply(said) is not None:
        return said, command
    word, _, rest = text.partition("\n")
    if (read := chat_words().read(word, CHANNEL)) is not None and read.name == INTERRUPT.name:
        # The rest of the text is the reason.
        return text, Command(INTERRUPT.name, rest.strip())
    return "\n\n".join(filter(None, (subject if begins else "", text))), None
