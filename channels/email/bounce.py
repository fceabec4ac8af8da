"""What a server says became of a mail of ours: delivery status notifications; pure. Source: RFC 3464.

Anybody can send such a report. It counts by the id of the part that it brings back, which nobody learns but who got it.
"""

import re
from email.message import Message
from email.parser import BytesParser

from channels.email.body import payload
from channels.email.headers import value
from core.messaging.messages import DeliveryStatus, StatusUpdate
from providers.email.wire import CHANNEL, PART_HEADER, message_id, message_ids, our_thread

_REF = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_STATUS = re.compile(r"([245])\.(\d{1,3})\.(\d{1,3})")
_GONE = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
"""The address does not exist, or not any more (RFC 3463). Any other refusal is about the mail, or may pass."""
_MAX_PARTS = 50


def is_report(message: Message) -> bool:
    kind = str(message.get_param("report-type", "")).lower()
    return message.get_content_type() == "multipart/report" and kind == "delivery-status"


def read_bounce(message: Message, account: str, domain: str) -> StatusUpdate | None:
    """Return what became of a part of ours; None for a report of anything else, or of a delay."""
    status, ref, id = "", "", ""
    for number, part in enumerate(message.walk()):
        if number > _MAX_PARTS:
            break
        if "Action" in part and "Final-Recipient" in part and value(part, "Action").lower() == "failed":
            status = value(part, "Status") or "5.0.0"
        returned = _headers(part)
        if returned is not None and _REF.fullmatch(value(returned, PART_HEADER)):
            ids = message_ids(value(returned, "Message-ID"))
            named, thread = value(returned, PART_HEADER), our_thread(ids[0], domain) if ids else None
            # Who is in Cc knows the Message-ID, and not the id of the part that makes it.
            if thread is not None and message_id(named, thread, domain) == ids[0]:
                ref, id = named, ids[0]
    code = _STATUS.match(status)
    if not (code and code[1] == "5" and ref):
        return None
    return StatusUpdate(CHANNEL, account, id, ref, DeliveryStatus.UNDELIVERED, code[0], gone=code[0] in _GONE)


def _headers(part: Message) -> Message | None:
    """Return the headers of the mail that a report brings back, whole or alone."""
    if part.get_content_type() == "text/rfc822-headers":
        return BytesParser().parsebytes(payload(part), headersonly=True)
    return part if PART_HEADER in part else None
