"""From a mail to our inbound types; pure.

A mail that nobody vouches for ends before its text is read. Everything else has one fate that is recorded.
"""

import re
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser

from channels.email.body import Content, media_of, read_content
from channels.email.bounce import is_report, read_bounce
from channels.email.headers import (
    Sender,
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
    subject_of,
    values,
)
from channels.email.verify import is_authentic
from channels.email.written import Written, alone, split_text
from core.approvals.exact_replies import parse_exact_reply
from core.language.written import language_written
from core.messaging.commands import own_words
from core.messaging.messages import (
    Address,
    Command,
    IgnoredMessage,
    IgnoreReason,
    Inbound,
    InboundMessage,
    Media,
    Origin,
)
from providers.email.wire import CHANNEL, MAX_MAIL, domain_of, our_thread

COMMANDS = {"HELP": "help", "NEW": "new", "HALT": "stop", "STOP": "stop", "START": "start"}
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


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
    """A mail as the mailbox keeps it. `raw` may be its beginning only, where its headers are all there is need of."""

    uid_validity: int
    uid: int
    size: int
    raw: bytes = field(repr=False)

    @property
    def key(self) -> str:
        return f"uid:{self.uid_validity}.{self.uid}"


def parse_headers(mail: Mail, account: Account) -> IgnoredMessage | None:
    """Return why a mail is not read, by its headers alone; None for one that is read whole."""
    message = BytesParser().parsebytes(mail.raw, headersonly=True)
    if is_report(message) and mail.size <= MAX_MAIL:
        return None
    sender = read_from(message)
    whole = len(mail.raw) >= mail.size
    if sender is None or signs_a_part(message) or not has_one_reading(mail.raw, message, whole=whole):
        return ignore_mail(mail, account, IgnoreReason.UNPROVEN)
    if sender.address == account.address:
        return ignore_mail(mail, account, IgnoreReason.OWN)
    if not is_authentic(values(message, "Authentication-Results"), account.authserv_id, domain_of(sender.address)):
        return ignore_mail(mail, account, IgnoreReason.UNPROVEN)
    if is_automatic(message, sender.address):
        return ignore_mail(mail, account, IgnoreReason.BOT)
    if mail.size > MAX_MAIL:
        return ignore_mail(mail, account, IgnoreReason.UNSUPPORTED)
    return None


def parse_mail(mail: Mail, account: Account) -> tuple[Inbound, ...]:
    """Decide what a mail means: mostly one item; two where a person wrote something above what they pass on."""
    ignored = parse_headers(mail, account)
    if ignored is not None:
        return (ignored,)
    message = BytesParser().parsebytes(mail.raw)
    if is_report(message):
        update = read_bounce(message, account.address, account.domain)
        return (update or ignore_mail(mail, account, IgnoreReason.BOT),)
    sender = read_from(message)
    if sender is None:
        return (ignore_mail(mail, account, IgnoreReason.UNPROVEN),)
    return _read(mail, message, sender, account)


def ignore_mail(mail: Mail, account: Account, reason: IgnoreReason) -> IgnoredMessage:
    return IgnoredMessage(Address(CHANNEL, account.address, ""), "", (mail.key,), reason)


def _read(mail: Mail, message: Message, sender: Sender, account: Account) -> tuple[Inbound, ...]:
    subject = subject_of(message)
    forwards = passes_on(subject)
    content = read_content(message, history=forwards)
    media = media_of(content, mail.uid_validity, mail.uid)
    written = _written(content, forwards)
    own, command = _own_text(written.own, subject, sender, begins=not (forwards or _answers(message, subject)))
    if not (own or written.forwarded or media):
        return (ignore_mail(mail, account, IgnoreReason.EMPTY),)
    made: list[InboundMessage] = []
    if written.forwarded:
        text = f"{plain_subject(subject)}\n\n{written.forwarded}".strip()
        made.append(_message(mail, message, sender, account, text, Origin.FORWARDED, media))
        media = ()
    if own or media:
        made.append(_message(mail, message, sender, account, own, Origin.OWN, media, command))
    return tuple(made)


def _message(
    mail: Mail,
    message: Message,
    sender: Sender,
    account: Account,
    text: str,
    origin: Origin,
    media: tuple[Media, ...],
    command: Command | None = None,
) -> InboundMessage:
    id = own_id(message)
    # The sender stands in the key: nobody may take another's Message-ID before their mail has come.
    keys = (mail.key, f"message:{sender.address}:{id}") if id else (mail.key,)
    answered = [one for one in referred(message)[-1:] if our_thread(one, account.domain) is not None]
    return InboundMessage(
        address=Address(CHANNEL, account.address, sender.address, read_thread(message, account.domain)),
        sender=sender.address,
        keys=keys if origin is Origin.OWN else tuple(f"{key}:forwarded" for key in keys),
        text=text,
        media=media,
        command=command,
        sent_at=sent_at(message),
        sender_name=sender.name,
        sender_language=language_written(text) or None,
        provider_id=id or None,
        reply_to=answered[0] if answered else "",
        origin=origin,
        subject=plain_subject(subject_of(message)),
    )


def _answers(message: Message, subject: str) -> bool:
    return bool(referred(message)) or plain_subject(subject) != subject.strip()


def _written(content: Content, forwards: bool) -> Written:
    """Return what the person wrote and what they passed on, in the text or attached."""
    attached = "\n\n".join(filter(None, content.attached))
    written = split_text(content.text, passes_on=forwards and not attached)
    return Written(written.own, "\n\n".join(filter(None, (written.forwarded, attached))))


def _own_text(text: str, subject: str, sender: Sender, *, begins: bool) -> tuple[str, Command | None]:
    """Return a person's own words, and the command that they are.

    A word or a code counts where it is all that they wrote, a greeting with their name aside. A subject is part of what
    they say where they begin with it.
    """
    first = alone(text, f"{sender.name} {sender.address.partition('@')[0]}") if text else ""
    said = first or (subject if begins else "")
    command = _command(said)
    if command is not None or own_words(said, CHANNEL) is not None or parse_exact_reply(said) is not None:
        return said, command
    word, _, rest = text.partition("\n")
    if (halt := _command(word)) is not None and halt.name == "stop":  # what else it says is why
        return text, Command("stop", rest.strip())
    return "\n\n".join(filter(None, (subject if begins else "", text))), None


def _command(text: str) -> Command | None:
    name = COMMANDS.get(_AROUND.sub("", text).upper())
    return Command(name) if name else None
