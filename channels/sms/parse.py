"""From Twilio's form fields to our inbound types; pure.

Source of names and shapes: twilio.com/docs/messaging/guides/webhook-request. New parameters appear without notice, so
unknown parameters are accepted, but only if they look like Twilio's and occur once.
"""

import re
from urllib.parse import parse_qsl

from channels.sms.texts import CHANNEL, SENDER, Account, Text, read_text
from channels.sms.verify import FormPairs
from core.errors import RequestRefused
from core.messaging.inbound import Inbound
from core.messaging.messages import DeliveryStatus, Media, StatusUpdate
from providers.sms.wire import FILES_LOST, MAX_MEDIA, is_sound, refs_of

MAX_FIELDS = 200

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
_REF = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_ERROR_CODE = re.compile(r"[0-9]{1,6}")


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
    if not SENDER.fullmatch(to):
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


def parse_status(pairs: FormPairs, query: FormPairs, account: Account) -> StatusUpdate | None:
    """Parse a status callback; return None for a status of a part that is not ours.

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
