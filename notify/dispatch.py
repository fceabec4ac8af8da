"""The shared steps of all notifications: the targets in order, their texts, the time of the fallback, the wakeup."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import structlog

from core.clock import Clock
from core.language.catalogue import gettext
from core.notifications.types import Notification, NotificationPolicy, Notified
from core.notifications.ways import chat_in_words
from core.queue.wakeups import Wakeups
from notify.addresses import is_one_way
from notify.policy import DeliveryDecision, decide, order_places
from notify.store import NotificationStore
from notify.types import NotificationTarget, NotifyResult, Recipient, RenderedNotification, Timing

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Turn decisions about notifications into rows of the outbox. `channels`: the names of those that are on."""

    store: NotificationStore
    channels: frozenset[str]
    wakeups: Wakeups
    clock: Clock
    policy: NotificationPolicy

    def decide(self, person: Recipient, notification: Notification, now: datetime) -> DeliveryDecision:
        return decide(person, notification, now, self.policy.daily_cap)

    def render(
        self, person: Recipient, notification: Notification, tried: Collection[str] = ()
    ) -> list[RenderedNotification]:
        """Return the rendered notification for each place, the best first; `tried` identities are left out."""
        wanted = notification.conversation_id
        places = order_places(person, self.channels, wanted=wanted, tried=tried)
        chat = next((place.channel for place in places if not is_one_way(place.channel, place.account)), None)
        with person.speaking():
            return [_rendered(place, notification, chat) for place in places]

    def chat_of(self, person: Recipient) -> str | None:
        """Return the conversation in which news reaches a person first."""
        places = order_places(person, self.channels)
        return next((place.conversation_id for place in places if place.conversation_id), None)

    def timing(self, now: datetime) -> Timing:
        """Return the moments of a notification that is sent now."""
        after = self.policy.fall_back_after
        return Timing(now, now + after if after is not None else None)

    def announce(self, result: NotifyResult) -> Notified:
        """Wake the delivery of the enqueued message, and return the notification's outcome."""
        if result.conversation_id:
            self.wakeups.wake_delivery(result.conversation_id)
        status = result.state
        _log.info("person_told", notification=result.id, fate=status.value, channel=result.channel)
        return Notified(result.id, status, result.channel)


def one_way(entries: Collection[RenderedNotification]) -> list[RenderedNotification]:
    """Return the places at which a notification can be read but not answered."""
    return [entry for entry in entries if is_one_way(entry.place.channel, entry.place.account)]


def _rendered(place: NotificationTarget, notification: Notification, chat: str | None) -> RenderedNotification:
    if not is_one_way(place.channel, place.account):
        return RenderedNotification(place, notification.text, notification.actions, notification.media)
    title = f"# {notification.title}\n\n" if notification.title else ""
    text = f"{title}{notification.text}"
    if notification.actions and chat:
        text += "\n\n" + gettext("To answer, open {place}.", place=chat_in_words(chat))
    return RenderedNotification(place, text, media=notification.media)
