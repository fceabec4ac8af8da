"""Arrivals in the form that the inbox's SQL functions take: the type `arrival` in core/db/sql/migrations."""

from dataclasses import asdict

from core import tracing
from core.errors import RequestRefused
from core.ids import IdMaker
from core.json_types import JsonObject, storable
from core.messaging.inbound import Amendment, PlaceMove
from core.messaging.messages import IgnoredMessage, InboundMessage, Press
from core.people.access_policy import Access, Policy


def from_address(
    came: InboundMessage | Amendment | Press | IgnoredMessage, sender: str, make_id: IdMaker
) -> JsonObject:
    """Return the origin of an arrival, with new ids for the rows that an answer may need."""
    address = came.address
    return {
        "channel": address.channel,
        "account": address.account,
        "peer": address.peer,
        "thread": address.thread,
        "user_key": sender,
        "keys": list(came.keys),
        "new_tenant": make_id("tn"),
        "new_identity": make_id("idn"),
        "new_conversation": make_id("cv"),
        "outbound": make_id("out"),
        **tracing.carried(),
    }


def of_press(press: Press, sender: str, access: Access, make_id: IdMaker) -> JsonObject:
    """Return the arrival of a press, which never admits a stranger."""
    listed_only = access.policy is Policy.ALLOWLIST and not access.admits(
        press.address.channel, press.address.account, sender
    )
    return {
        **from_address(press, sender, make_id),
        "id": make_id("msg"),
        "text": "",
        "media": [],
        "provider_id": press.provider_id or "",
        "admit": None,
        "listed_only": listed_only,
    }


def of_message(message: InboundMessage, sender: str, access: Access, make_id: IdMaker) -> JsonObject:
    """Return the arrival of a message, which may let its sender in."""
    return {
        **from_address(message, sender, make_id),
        "id": make_id("msg"),
        "text": message.text,
        "media": [asdict(media) for media in (*message.media, *message.pointed_media)],
        "command": asdict(message.command) if message.command else None,
        "provider_id": message.provider_id or "",
        "sent_at": message.sent_at.isoformat() if message.sent_at else None,
        "reply_to": message.reply_to,
        "origin": message.origin.value,
        "subject": message.subject,
        "goes_on": message.goes_on,
        "points": [point.to_json() for point in message.points],
        "name": message.sender_name,
        "timezone": message.sender_timezone or "",
        "language": message.sender_language or "",
        "admit": access.admits(message.address.channel, message.address.account, sender),
        "role": access.role.value,
        "listed_only": access.policy is Policy.ALLOWLIST,
        **({"brings": {"place": message.place.to_json()}} if message.place else {}),
        **({"pressed": [message.pressed.provider_id, message.pressed.token]} if message.pressed else {}),
    }


def of_move(moved: PlaceMove) -> JsonObject:
    """Return the arrival of another place of an earlier message."""
    address = moved.address
    return {
        "channel": address.channel,
        "account": address.account,
        "peer": address.peer,
        "user_key": named(moved.sender),
        "provider_id": moved.provider_id,
        "sent_at": moved.at.isoformat() if moved.at else None,
        "brings": {"place": moved.place.to_json()},
    }


def named(sender: str) -> str:
    """Return the sender in its stored form. Raises `RequestRefused` if it is empty."""
    stored = storable(sender)
    if not stored.strip():
        raise RequestRefused("no sender")
    return stored
