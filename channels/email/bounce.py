"""A server's report about our mail: delivery status notifications; pure. Source: RFC 3464.

Anyone can send such a report, so it counts only with our mail's Message-ID, which only the recipient knows.
"""

import re
from collections.abc import Mapping, Sequence
from email.message import Message

from core.messaging.messages import DeliveryStatus, StatusUpdate
from providers.email.wire import CHANNEL, PART_HEADER, message_id, message_ids, our_thread

_REF = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_STATUS = re.compile(r"([245])\.(\d{1,3})\.(\d{1,3})")
_GONE = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
"""The address does not exist, or not any more (RFC 3463). Any other refusal is about the mail, or may pass."""
HEADERS = ("action", "final-recipient", "status", "message-id", PART_HEADER.lower())


def is_report(message: Message) -> bool:
    kind = str(message.get_param("report-type", "")).lower()
    return message.get_content_type() == "multipart/report" and kind == "delivery-status"


def read_bounce(parts: Sequence[Mapping[str, Sequence[str]]], account: str, domain: str) -> StatusUpdate | None:
    """Return the outcome of our part; None for a report of anything else, or of a delay.

    `parts`: for each part of the report, the headers in `HEADERS`.
    """
    status, ref, id = "", "", ""
    for part in parts:
        if "final-recipient" in part and _one(part, "action").lower() == "failed":
            status = _one(part, "status") or "5.0.0"
        named, ids = _one(part, PART_HEADER.lower()), message_ids(_one(part, "message-id"))
        thread = our_thread(ids[0], domain) if ids else None
        # Who is in Cc knows the Message-ID, and not the id of the part that makes it.
        if _REF.fullmatch(named) and thread is not None and message_id(named, thread, domain) == ids[0]:
            ref, id = named, ids[0]
    code = _STATUS.match(status)
    if not (code and code[1] == "5" and ref):
        return None
    return StatusUpdate(CHANNEL, account, id, ref, DeliveryStatus.UNDELIVERED, code[0], gone=code[0] in _GONE)


def _one(part: Mapping[str, Sequence[str]], name: str) -> str:
    """Return a header that occurs once; empty if it is missing or repeated."""
    found = part.get(name, ())
    return found[0] if len(found) == 1 else ""
