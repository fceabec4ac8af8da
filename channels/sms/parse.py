"""From Twilio's form fields to our inbound types; pure.

Source of names and shapes: twilio.com/docs/messaging/guides/webhook-request. New parameters appear without notice, so
unknown parameters are accepted, but only if they look like Twilio's and occur once.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from channels.sms.reactions import is_tapback
from channels.sms.verify import FormPairs
from core.errors import RequestRefused
from core.language.catalogue import gettext_noop
from core.language.written import language_written
from core.messaging.help_words import HELP
from core.messaging.messages import (
    Address,
    Command,
    DeliveryStatus,
    IgnoredMessage,
    IgnoreReason,
    Inbound,
    InboundMessage,
    Media,
    ReachabilityChange,
    ReachabilityReason,
    StatusUpdate,
)
from providers.sms.wire import FILES_LOST, MAX_MEDIA, is_service, is_sound, refs_of

CHANNEL = "sms"
MAX_FIELDS = 200

OPT_OUT_WORDS = frozenset({"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"})
OPT_IN_WORDS = frozenset({"START", "UNSTOP"})
HELP_WORDS = frozenset({"HELP", "INFO"})
"""Twilio acts on these (help.twilio.com 223134027): alone in a text, in any case and with any spaces around."""
SPELLINGS = {"STOP ALL": "STOPALL", "STOP-ALL": "STOPALL", "OPT OUT": "OPTOUT", "OPT-OUT": "OPTOUT"}
"""Spellings that Twilio passes on, with the same meaning; likewise its own words with punctuation around them."""

OPTED_OUT_REPLY = gettext_noop("You will get no more messages from this assistant. Send START to get them again.")
OPTED_IN_REPLY = gettext_noop("You get messages from this assistant again. Send STOP to end them, HELP for help.")

_STATUSES = {
    "accepted": DeliveryStatus.ACCEPTED,
    "scheduled": DeliveryStatus.ACCEPTED,
    "queued": DeliveryStatus.ACCEPTED,
    "sending": DeliveryStatus.ACCEPTED,
    "sent": DeliveryStatus.SENT,
    "partially_delivered": DeliveryStatus.SENT,
    "delivered": DeliveryStatus.DELIVERED,
    "read": DeliveryStatus.READ,
    "undelivered": DeliveryStatus.UNDELIVERED,
    "failed": DeliveryStatus.FAILED,
    "canceled": DeliveryStatus.FAILED,
}
# Parameters that Twilio is known to send between Body and From, in its order of signing.
_AFTER_BODY = frozenset(
    {
        "ButtonPayload",
        "ButtonText",
        "ChannelInstallSid",
        "ChannelMetadata",
        "ChannelPrefix",
        "ChannelToAddress",
        "ErrorCode",
        "EventType",
        "Forwarded",
        "From",
    }
)
_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
_MESSAGE_SID = re.compile(r"(SM|MM)[0-9a-fA-F]{32}")
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_SENDER = re.compile(r"[!-~]([ -~]{0,62}[!-~])?")
_REF = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_ERROR_CODE = re.compile(r"[0-9]{1,6}")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Account:
    """Our side: the account's SID, and the sender as configured (an E.164 number or a Messaging Service).

    `carrier_answers`: Twilio answers STOP, START and HELP itself; otherwise we do.
    """

    sid: str
    sender: str
    carrier_answers: bool = True

    @property
    def is_service(self) -> bool:
        return is_service(self.sender)


@dataclass(frozen=True, slots=True)
class Text:
    """A text or picture message as Twilio describes it, by webhook or in its message list."""

    sid: str
    sender: str
    to: str
    body: str
    service: str = ""
    opt_out: str = ""
    media: tuple[Media, ...] = ()
    sent_at: datetime | None = None


def decode_form(raw: bytes) -> FormPairs:
    """Decode a form body or a raw query, strictly as UTF-8. Raises `RequestRefused`."""
    try:
        return tuple(parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS))
    except ValueError:  # too many fields, or not UTF-8; the error would quote the text
        raise RequestRefused("form cannot be decoded") from None


def parse_message(pairs: FormPairs, account: Account) -> tuple[Inbound, ...]:
    """Read an incoming message webhook. Raises `RequestRefused` if it is malformed.

    Usually a single item; two for YES, which is Twilio's word for opting in and also a person's plain answer.
    """
    fields = _exact_fields(pairs)
    _check_account(fields, account)
    to, media = _required(fields, "To"), _media(fields)
    # A picture needs no words. Otherwise Body is required: the end of the value before it could pose as the whole
    # text.
    body = fields.get("Body", "") if media else _required(fields, "Body")
    _check_border(fields)
    if not _SENDER.fullmatch(to):
        raise RequestRefused("To is not well-formed")
    text = Text(
        sid=_message_sid(fields),
        sender=_required(fields, "From"),
        to=to,
        body=body,
        service=fields.get("MessagingServiceSid", ""),
        opt_out=fields.get("OptOutType", ""),
        media=media,
    )
    return read_text(text, account)


def read_text(text: Text, account: Account) -> tuple[Inbound, ...]:
    """Return the meaning of a text: a message, a word about opting in or out, or nothing to answer."""
    if not _SENDER.fullmatch(text.sender):
        raise RequestRefused("From is not well-formed")
    address = Address(channel=CHANNEL, account=account.sender, peer=text.sender)
    ours = text.service == account.sender if account.is_service else text.to == account.sender
    if not ours:
        return (_ignored(text, address, IgnoreReason.OTHER_ACCOUNT),)
    if not _E164.fullmatch(text.sender):  # a short code or a name: no answer is read
        return (_ignored(text, address, IgnoreReason.UNSUPPORTED),)
    body = text.body.replace("\x00", "")
    word = _word(body)
    opt_out = text.opt_out.upper()
    answered = _carrier_answered(text, account)
    if opt_out == "STOP" or word in OPT_OUT_WORDS:
        return (_reachability(text, address, reachable=False, answered=answered, keys=(text.sid,)),)
    if word != "YES" and (opt_out == "START" or word in OPT_IN_WORDS):
        return (_reachability(text, address, reachable=True, answered=answered, keys=(text.sid,)),)
    if not body.strip() and not text.media:
        return (_ignored(text, address, IgnoreReason.EMPTY),)
    asks_help = opt_out == "HELP" or word in HELP_WORDS
    if asks_help and answered:
        return (_ignored(text, address, IgnoreReason.CARRIER),)
    if not text.media and is_tapback(body):
        return (_ignored(text, address, IgnoreReason.REACTION),)
    message = InboundMessage(
        address=address,
        sender=text.sender,
        keys=(text.sid,),
        text=body,
        media=text.media,
        command=Command(HELP.name) if asks_help else None,
        sent_at=text.sent_at,
        sender_language=language_written(body) or None,
        provider_id=text.sid,
    )
    if word == "YES":
        keys = (f"{text.sid}:started",)
        return (_reachability(text, address, reachable=True, answered=answered, keys=keys), message)
    return (message,)


def parse_status(pairs: FormPairs, query: FormPairs, account: Account) -> StatusUpdate | None:
    """Parse a status callback; return None for a status that is not about a part of ours.

    `query` holds our `ref`, as `notify` put it into the URL. Raises `RequestRefused`.
    """
    fields = _exact_fields(pairs)
    _check_account(fields, account)
    sid = _message_sid(fields)
    word = _required(fields, "MessageStatus").lower()
    refs = refs_of(query)
    if len(refs) > 1 or not all(_REF.fullmatch(ref) for ref in refs):
        raise RequestRefused("ref is not well-formed")
    status = _STATUSES.get(word)
    if status is None:
        return None
    code = fields.get("ErrorCode", "")
    if code and not _ERROR_CODE.fullmatch(code):
        raise RequestRefused("ErrorCode is not well-formed")
    return StatusUpdate(
        channel=CHANNEL,
        account=account.sender,
        provider_id=sid,
        ref=refs[0] if refs else "",
        status=status,
        error_code="" if code == "0" else code,
        files_lost=status in (DeliveryStatus.FAILED, DeliveryStatus.UNDELIVERED) and code in FILES_LOST,
    )


def _exact_fields(pairs: FormPairs) -> dict[str, str]:
    """Return every parameter, each once: the signature has no separators, so text could move between them."""
    fields: dict[str, str] = {}
    seen: set[str] = set()
    for name, value in pairs:
        if not _NAME.fullmatch(name):
            raise RequestRefused("parameter name is not Twilio's")
        if name.casefold() in seen:
            raise RequestRefused("parameter sent twice")
        seen.add(name.casefold())
        fields[name] = value
    return fields


def _check_border(fields: dict[str, str]) -> None:
    """Refuse an unknown parameter right after Body: the end of a text can pose as a parameter, with a valid signature.

    Should Twilio add such a parameter, the catch-up sweep still brings the texts in.
    """
    names = sorted(fields)
    follower = names[names.index("Body") + 1 :][:1] if "Body" in fields else []
    if follower and follower[0] not in _AFTER_BODY:
        raise RequestRefused("unknown parameter next to Body")


def _required(fields: dict[str, str], name: str) -> str:
    value = fields.get(name)
    if value is None:
        raise RequestRefused(f"{name} is missing")
    return value


def _check_account(fields: dict[str, str], account: Account) -> None:
    if _required(fields, "AccountSid") != account.sid:
        raise RequestRefused("AccountSid is not ours", status=403)


def _message_sid(fields: dict[str, str]) -> str:
    sid = _required(fields, "MessageSid")
    if not _MESSAGE_SID.fullmatch(sid):
        raise RequestRefused("MessageSid is not well-formed")
    if (fields.get("SmsMessageSid") or sid) != sid:
        raise RequestRefused("SmsMessageSid differs from MessageSid")
    return sid


def _media(fields: dict[str, str]) -> tuple[Media, ...]:
    count = fields.get("NumMedia", "0") or "0"
    if not re.fullmatch(r"[0-9]{1,4}", count):
        raise RequestRefused("NumMedia is not a number")
    media = []
    for index in range(min(int(count), MAX_MEDIA)):
        url = fields.get(f"MediaUrl{index}", "")
        kind = fields.get(f"MediaContentType{index}", "")
        if not re.fullmatch(r"https?://[!-~]{1,2000}", url) or not re.fullmatch(r"[ -~]{0,255}", kind):
            raise RequestRefused("media is not well-formed")
        media.append(Media(url=url, content_type=kind, voice=is_sound(kind)))
    return tuple(media)


def _ignored(text: Text, address: Address, reason: IgnoreReason) -> IgnoredMessage:
    return IgnoredMessage(address=address, sender=text.sender, keys=(text.sid,), reason=reason)


def _word(body: str) -> str:
    word = _AROUND.sub("", body).upper()
    word = re.sub(r"\s+", " ", word)
    return SPELLINGS.get(word, word)


def _carrier_answered(text: Text, account: Account) -> bool:
    """Return whether the person already has an answer to this word; OptOutType means that Twilio acted on it."""
    if text.opt_out:
        return True
    word = text.body.strip().upper()
    return account.carrier_answers and word in OPT_OUT_WORDS | OPT_IN_WORDS | HELP_WORDS | {"YES"}


def _reachability(
    text: Text, address: Address, *, reachable: bool, answered: bool, keys: tuple[str, ...]
) -> ReachabilityChange:
    reply = OPTED_IN_REPLY if reachable else OPTED_OUT_REPLY
    return ReachabilityChange(
        channel=CHANNEL,
        account=address.account,
        sender=text.sender,
        reachable=reachable,
        reason=ReachabilityReason.OPTED_IN if reachable else ReachabilityReason.OPTED_OUT,
        keys=keys,
        reply="" if answered else reply,
        said_at=text.sent_at,
    )
