"""Whom, where and when to notify, decided from given facts, and the text of a digest; pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from core.clock import zone_or_utc
from core.language.catalogue import gettext, ngettext
from core.language.times import time_in_words
from core.notifications.types import Notification, NotificationStatus, Urgency
from core.people.tenant import next_time
from notify.addresses import is_one_way
from notify.types import NotificationTarget, Recipient, StoredNotification

EVERYTHING = "*"
"""As a muted category: all that is not urgent."""
DIGEST_AT = time(8, 0)
"""Time of day, for the person, at which held news is sent to people without quiet hours."""
DIGEST = "digest"
"""The category of a digest."""


@dataclass(frozen=True, slots=True)
class DeliveryDecision:
    """The decision about a notification; `until`: held until then."""

    status: NotificationStatus
    until: datetime | None = None


def decide(person: Recipient, notification: Notification, now: datetime, daily_cap: int) -> DeliveryDecision:
    """Decide whether news is sent now, waits for the next digest, or is not sent at all.

    Muted is muted. Urgent news passes quiet hours and the cap; low news always waits for the digest.
    """
    urgent = notification.urgency is Urgency.URGENT
    if notification.category in person.muted or (EVERYTHING in person.muted and not urgent):
        return DeliveryDecision(NotificationStatus.MUTED)
    if urgent:
        return DeliveryDecision(NotificationStatus.QUEUED)
    if (end := quiet_until(person, now)) is not None:
        return DeliveryDecision(NotificationStatus.HELD, end)
    if notification.urgency is Urgency.LOW or count_told_today(person, now) >= daily_cap:
        return DeliveryDecision(NotificationStatus.HELD, next_digest(person, now))
    return DeliveryDecision(NotificationStatus.QUEUED)


def quiet_until(person: Recipient, now: datetime) -> datetime | None:
    return person.quiet.ending(now, zone_of(person)) if person.quiet else None


def next_digest(person: Recipient, now: datetime) -> datetime:
    """Return the time of the next digest: the end of the quiet hours, or the morning."""
    return next_time(person.quiet.end if person.quiet else DIGEST_AT, now, zone_of(person))


def count_told_today(person: Recipient, now: datetime) -> int:
    """Count a person's notifications since their own midnight."""
    zone = zone_of(person)
    today = now.astimezone(zone).date()
    return sum(at.astimezone(zone).date() == today for at in person.recent)


def order_places(
    person: Recipient, reachable: Collection[str], *, wanted: str | None = None, tried: Collection[str] = ()
) -> tuple[NotificationTarget, ...]:
    """Return the places to try, in order: the requested conversation, the preferred channel, the last used, the others.

    `reachable`: the active channels. `tried`: identities that are not tried again.
    """

    def rank(place: NotificationTarget) -> tuple[bool, bool, bool, bool, float]:
        last = place.last_inbound_at
        return (
            wanted is None or place.conversation_id != wanted,
            place.channel != person.preferred_channel,
            is_one_way(place.channel, place.account),
            last is None,
            -last.timestamp() if last else 0.0,
        )

    def is_open(place: NotificationTarget) -> bool:
        # A thread is no place for news, unless it is the requested conversation.
        in_place = not place.thread or place.conversation_id == wanted
        return place.channel in reachable and place.identity_id not in tried and in_place

    return tuple(sorted(filter(is_open, person.places), key=rank))


def compose_digest(held: Sequence[StoredNotification], zone: ZoneInfo) -> Notification:
    """Return all held notifications as a digest, in order of arrival, with times of day in the person's zone."""
    items = "\n".join(_item(stored, zone) for stored in held)
    count = ngettext("{number} thing waited for you:", "{number} things waited for you:", len(held))
    media = tuple(media for stored in held for media in stored.notification.media)
    title = gettext("What waited for you")
    outside = any(stored.notification.outside for stored in held)
    actions = tuple(action for stored in held for action in stored.notification.actions)
    text, key = f"{count}\n\n{items}", f"digest:{held[0].id}"
    return Notification(text, DIGEST, dedupe_key=key, title=title, actions=actions, media=media, outside=outside)


def zone_of(person: Recipient) -> ZoneInfo:
    """Return a person's timezone, UTC if it is unknown."""
    return zone_or_utc(person.timezone)


def _item(stored: StoredNotification, zone: ZoneInfo) -> str:
    first, *rest = stored.notification.text.strip().split("\n")
    # Further lines stay inside the list's item.
    further = [f"  {line}" if line else "" for line in rest]
    return "\n".join([f"- {time_in_words(stored.at.astimezone(zone))}: {first}", *further])
