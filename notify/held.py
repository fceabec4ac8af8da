"""Notifications held by quiet hours, the cap or low urgency, released when due: in a digest, or as separate cards."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from core.notifications.types import NotificationStatus, Urgency
from notify.dispatch import Dispatcher, one_way
from notify.policy import DeliveryDecision, compose_digest, quiet_until, zone_of
from notify.setbacks import Setbacks
from notify.types import Recipient, StoredNotification, Timing


class HeldNotifications:
    """Release due notifications. Any number of workers may do so at once."""

    def __init__(self, dispatcher: Dispatcher, setbacks: Setbacks) -> None:
        self._dispatcher = dispatcher
        self._store = dispatcher.store
        self._setbacks = setbacks

    async def release(self) -> int:
        """Release due notifications, each person's as a single digest; return the number of messages."""
        now, made = self._dispatcher.clock.now(), 0
        for tenant_id in await self._store.find_held(now, without=self._setbacks.left_alone()):
            made += await self._setbacks.does(tenant_id, partial(self._release, tenant_id, now))
        return made + await self._release_cards(now)

    async def _release(self, tenant_id: str, now: datetime) -> int:
        person = await self._store.recipient(tenant_id, "", now)
        ready: list[StoredNotification] = []
        apart: list[StoredNotification] = []
        longer: dict[datetime, list[str]] = {}
        for stored in await self._store.held(tenant_id, now):
            decision = self._dispatcher.decide(person, stored.notification, now)
            if decision.status is NotificationStatus.MUTED:
                await self._store.mute(tenant_id, [stored.id])
                continue
            if stored.aside:
                await self._send_one_way(tenant_id, person, stored, decision, now)
                continue
            until = decision.until if stored.unscheduled else quiet_until(person, now)
            if until is not None and stored.notification.urgency is not Urgency.URGENT:
                longer.setdefault(until, []).append(stored.id)
            elif stored.tried:  # not in every place, so in no digest
                apart.append(stored)
            else:
                ready.append(stored)
        for until, ids in longer.items():
            await self._store.hold(tenant_id, ids, until)
        return sum(
            [await self._send(tenant_id, person, batch, now) for batch in (*([one] for one in apart), ready) if batch]
        )

    async def _release_cards(self, now: datetime) -> int:
        released, people = 0, dict[str, list[tuple[str, str]]]()
        for tenant_id, outbound_id, approval_id in await self._store.held_cards():
            people.setdefault(tenant_id, []).append((outbound_id, approval_id))
        for tenant_id, cards in people.items():
            released += await self._setbacks.does(
                f"cards of {tenant_id}", partial(self._release_cards_of, tenant_id, cards, now)
            )
        return released

    async def _release_cards_of(self, tenant_id: str, cards: Sequence[tuple[str, str]], now: datetime) -> int:
        released = 0
        if quiet_until(await self._store.recipient(tenant_id, "", now), now) is not None:
            return 0
        for outbound_id, approval_id in cards:
            for conversation_id in await self._store.release_card(tenant_id, outbound_id, approval_id):
                self._dispatcher.wakeups.wake_delivery(conversation_id)
                released += 1
        return released

    async def _send_one_way(
        self, tenant_id: str, person: Recipient, stored: StoredNotification, decision: DeliveryDecision, now: datetime
    ) -> None:
        """Send by push or email that something waits elsewhere; if that cannot be now, the place itself shows it."""
        entries = one_way(self._dispatcher.render(person, stored.notification))
        if decision.status is not NotificationStatus.QUEUED or not entries:
            await self._store.mute(tenant_id, [stored.id])
            return
        result = await self._store.enqueue(tenant_id, stored.id, NotificationStatus.HELD, entries, Timing(now))
        if result is not None:
            self._dispatcher.announce(result)

    async def _send(self, tenant_id: str, person: Recipient, ready: Sequence[StoredNotification], now: datetime) -> int:
        timing = self._dispatcher.timing(now)
        if len(ready) == 1:
            [stored] = ready
            if stored.notification.conversation_id:
                person = await self._store.recipient(tenant_id, stored.notification.conversation_id, now)
            entries = self._dispatcher.render(person, stored.notification, stored.tried)
            result = await self._store.enqueue(tenant_id, stored.id, NotificationStatus.HELD, entries, timing)
        else:
            with person.speaking():
                digest = compose_digest(ready, zone_of(person))
            entries = self._dispatcher.render(person, digest)
            result = await self._store.enqueue_digest(
                tenant_id, [stored.id for stored in ready], digest, entries, timing
            )
        if result is None:
            return 0  # another worker was quicker
        self._dispatcher.announce(result)
        return 1
