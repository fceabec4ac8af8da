"""Whom, where and when: what becomes of a notification, decided from what is known; pure."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.clock import zone_or_utc
from core.notifications.store import NotificationTarget, Recipient
from core.notifications.types import Notification, NotificationStatus, Urgency

EVERYTHING = "*"
"""Muted: all that is not urgent."""
DIGEST_AT = time(8, 0)
"""When held news comes out for who has no quiet hours, in their own time."""
CANNOT_ANSWER = ("push", "email")
"""Where news can be read but not answered: after all others, and never for a decision."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of it; `until`: held until then."""

    fate: NotificationStatus
    until: datetime | None = None


def decide(person: Recipient, notification: Notification, now: datetime, daily_cap: int) -> Verdict:
    """Decide whether news goes out now, waits for the next digest, or goes unsaid.

    Muted is muted. Urgent news passes quiet hours and the cap; low news always waits for the digest.
    """
    urgent = notification.urgency is Urgency.URGENT
    if notification.category in person.muted or (EVERYTHING in person.muted and not urgent):
        return Verdict(NotificationStatus.MUTED)
    if urgent:
        return Verdict(NotificationStatus.OWED)
    if (end := quiet_until(person, now)) is not None:
        return Verdict(NotificationStatus.HELD, end)
    if notification.urgency is Urgency.LOW or told_today(person, now) >= daily_cap:
        return Verdict(NotificationStatus.HELD, next_digest(person, now))
    return Verdict(NotificationStatus.OWED)


def quiet_until(person: Recipient, now: datetime) -> datetime | None:
    """Return when the quiet hours end that it is now, None outside of them."""
    if person.quiet is None or not person.quiet.covers(now.astimezone(zone_of(person)).time()):
        return None
    return _next(person.quiet.end, person, now)


def next_digest(person: Recipient, now: datetime) -> datetime:
    """Return when what is held comes out next: at the end of the quiet hours, or in the morning."""
    return _next(person.quiet.end if person.quiet else DIGEST_AT, person, now)


def told_today(person: Recipient, now: datetime) -> int:
    """Count what a person was told since their own midnight."""
    zone = zone_of(person)
    today = now.astimezone(zone).date()
    return sum(at.astimezone(zone).date() == today for at in person.recent)


def order_places(
    person: Recipient, reachable: Collection[str], *, wanted: str = "", tried: Collection[str] = ()
) -> tuple[NotificationTarget, ...]:
    """Order the places to try: the wanted conversation, the preferred channel, where they wrote last, the others.

    `reachable`: the channels that are on. `tried`: identities that are not asked again.
    """

    def rank(place: NotificationTarget) -> tuple[bool, bool, bool, bool, float]:
        last = place.last_inbound_at
        return (
            not (wanted and place.conversation_id == wanted),
            place.channel != person.preferred_channel,
            place.channel in CANNOT_ANSWER,
            last is None,
            -last.timestamp() if last else 0.0,
        )

    open_to_us = [
        place for place in person.places if place.channel in reachable and place.identity_id not in tried
        and (not place.thread or place.conversation_id == wanted)
    ]  # fmt: skip
    return tuple(sorted(open_to_us, key=rank))


def zone_of(person: Recipient) -> ZoneInfo:
    """Return a person's timezone, UTC where it is not known."""
    return zone_or_utc(person.timezone)


def _next(at: time, person: Recipient, now: datetime) -> datetime:
    """Return the next moment, in UTC, when it is this time of day for the person."""
    zone = zone_of(person)
    day = now.astimezone(zone).date()
    for ahead in range(3):
        moment = datetime.combine(day + timedelta(days=ahead), at, zone).astimezone(UTC)
        if moment > now:
            return moment
    raise AssertionError("within three days it is every time of day")
