"""Notify a person: stored first, sent by their preferences, elsewhere if that fails."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from core.clock import Clock
from core.ids import IdMaker
from core.language.catalogue import gettext
from core.notifications.types import Notification, NotificationPolicy, NotificationStatus, Notified, Urgency
from core.notifications.ways import way_in_words
from core.queue.wakeups import Wakeups
from notify.delays import Delayed, DelayedAnswers
from notify.dispatch import Dispatcher, one_way
from notify.held import HeldNotifications
from notify.policy import next_digest, quiet_until
from notify.setbacks import Setbacks
from notify.store import NotificationStore

MAX_TEXT = 50_000


class NotificationService:
    """Notify people. Implements `core.notifications.types.Notifier`.

    `channels`: the names of those that are on.
    """

    def __init__(
        self,
        store: NotificationStore,
        channels: Collection[str],
        wakeups: Wakeups,
        clock: Clock,
        make_id: IdMaker,
        policy: NotificationPolicy | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._make_id = make_id
        self._dispatcher = Dispatcher(store, frozenset(channels), wakeups, clock, policy or NotificationPolicy())
        self._setbacks = Setbacks("notification_failed")
        self._held = HeldNotifications(self._dispatcher, self._setbacks)

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        notification = _keyed(notification)
        now = self._clock.now()
        person = await self._store.recipient(tenant_id, notification.conversation_id, now)
        decision = self._dispatcher.decide(person, notification, now)
        result = await self._store.keep(
            tenant_id,
            self._make_id("ntf"),
            notification,
            decision.status,
            self._dispatcher.render(person, notification),
            self._dispatcher.timing(now),
            decision.until,
        )
        return self._dispatcher.announce(result)

    async def send(self, tenant_id: str, message: str, metadata: Mapping[str, str] | None = None) -> bool:
        """Notify a person of a text; return True when it reaches them, now or with the next digest.

        `metadata` may hold `category`, `urgency`, `title`, `dedupe_key` and `conversation_id`.
        """
        about = metadata or {}
        notification = Notification(
            message,
            category=about.get("category", "general"),
            urgency=Urgency(about.get("urgency", Urgency.NORMAL)),
            dedupe_key=about.get("dedupe_key") or None,
            title=about.get("title", ""),
            conversation_id=about.get("conversation_id") or None,
        )
        return (await self.notify(tenant_id, notification)).reaches

    async def release_held(self) -> int:
        """Send held notifications that are due, each person's as a single digest; return the number of messages."""
        return await self._held.release()

    async def fall_back(self) -> int:
        """Send notifications elsewhere that failed, are stuck, or met no reaction in time; return their number."""
        now, sent = self._clock.now(), 0
        for tenant_id, id in await self._store.find_undelivered(now, without=self._setbacks.left_alone()):
            sent += await self._setbacks.does(id, partial(self._send_elsewhere, tenant_id, id, now))
        return sent

    async def tell_delays(self) -> int:
        """Notify people elsewhere of long undelivered answers; return the number of people.

        In quiet hours nothing is sent or held: by their end the answer may have arrived.
        """
        notified = 0
        for delayed in await DelayedAnswers(self._store.database).find():
            notified += await self._setbacks.does(
                delayed.outbound_id, partial(self._tell_delay, delayed, self._clock.now())
            )
        return notified

    async def holds_cards(self, tenant_id: str, run_id: str) -> bool:
        """Return whether quiet hours hold the cards of a task's run now; its time begins when a card is sent."""
        return await self.quiet_until(tenant_id) is not None and not await self._store.is_urgent_run(tenant_id, run_id)

    async def quiet_until(self, tenant_id: str) -> datetime | None:
        now = self._clock.now()
        return quiet_until(await self._store.recipient(tenant_id, "", now), now)

    async def next_digest(self, tenant_id: str) -> datetime:
        now = self._clock.now()
        return next_digest(await self._store.recipient(tenant_id, "", now), now)

    async def chat_of(self, tenant_id: str) -> str | None:
        """Return the conversation in which news reaches a person first; None if they have none."""
        person = await self._store.recipient(tenant_id, "", self._clock.now())
        return self._dispatcher.chat_of(person)

    async def _send_elsewhere(self, tenant_id: str, id: str, now: datetime) -> int:
        stored = await self._store.read(tenant_id, id)
        if stored is None:
            return 0
        if stored.state == NotificationStatus.QUEUED:
            # Tried in vain: once it is taken back, it has failed, and the next look sends it elsewhere.
            await self._store.withdraw(tenant_id, id)
            return 0
        person = await self._store.recipient(tenant_id, stored.notification.conversation_id, now)
        end = quiet_until(person, now)
        if end is not None and stored.notification.urgency is not Urgency.URGENT:
            await self._store.hold(tenant_id, [id], end)
            return 0
        entries = self._dispatcher.render(person, stored.notification, stored.tried)
        if stored.aside:
            entries = one_way(entries)
        result = await self._store.enqueue(tenant_id, id, stored.state, entries, self._dispatcher.timing(now))
        if result is None:
            return 0
        return int(self._dispatcher.announce(result).fate is NotificationStatus.QUEUED)

    async def _tell_delay(self, delayed: Delayed, now: datetime) -> int:
        tenant_id = delayed.tenant_id
        person = await self._store.recipient(tenant_id, "", now)
        with person.speaking():
            text = delayed_answer_text(delayed.channel)
        notification = Notification(text, category="delivery", dedupe_key=f"delayed:{delayed.outbound_id}")
        decision = self._dispatcher.decide(person, notification, now)
        entries = self._dispatcher.render(person, notification, (delayed.identity_id,))
        if decision.status is NotificationStatus.HELD or not entries:
            return 0
        result = await self._store.keep(
            tenant_id, self._make_id("ntf"), notification, decision.status, entries, self._dispatcher.timing(now)
        )
        await DelayedAnswers(self._store.database).note_told(delayed)
        return int(self._dispatcher.announce(result).fate is NotificationStatus.QUEUED)


def delayed_answer_text(channel: str) -> str:
    """Return the sentence sent elsewhere about an answer that a channel does not take."""
    return gettext(
        "I have an answer for you that I cannot deliver {way} at the moment. I keep trying there; to have it sooner, "
        "ask me here.",
        way=way_in_words(channel),
    )


def _keyed(notification: Notification) -> Notification:
    """Return the notification with the key by which a repeat is recognized, and a text of readable length."""
    text = notification.text if len(notification.text) <= MAX_TEXT else f"{notification.text[:MAX_TEXT]}…"
    key = notification.dedupe_key
    if not key:
        about = notification.run_id or notification.category
        key = f"{about}:{hashlib.sha256(text.strip().encode(errors='replace')).hexdigest()[:32]}"
    return replace(notification, text=text, dedupe_key=key)
