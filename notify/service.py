"""Tell a person something: kept first, sent where and when they want it, elsewhere when that fails."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog

from core.clock import Clock
from core.ids import IdMaker
from core.notifications.delays import Delayed, DelayedAnswers
from core.notifications.store import (
    NotificationStore,
    NotificationTarget,
    NotifyResult,
    Recipient,
    RenderedNotification,
    StoredNotification,
    Timing,
)
from core.notifications.types import Notification, NotificationPolicy, NotificationStatus, Notified, Urgency
from core.queue.setbacks import Setbacks
from core.queue.wakeups import Wakeups
from notify.digest import compose
from notify.policy import CANNOT_ANSWER, Verdict, decide, order_places, quiet_until, zone_of

MAX_TEXT = 50_000
NAMES: Mapping[str, str] = {
    "sms": "a text message",
    "slack": "Slack",
    "telegram": "Telegram",
    "terminal": "the terminal",
}

PLACES: Mapping[str, str] = {"sms": "by text message", "slack": "on Slack", "telegram": "on Telegram"}
DELAYED_ANSWER = (
    "I have an answer for you that I cannot deliver {} at the moment. I keep trying there; to have it sooner, "
    "ask me here."
)

_STATES: Mapping[str, NotificationStatus] = {
    "held": NotificationStatus.HELD,
    "muted": NotificationStatus.MUTED,
    "nowhere": NotificationStatus.NOWHERE,
    "duplicate": NotificationStatus.DUPLICATE,
}
_log = structlog.get_logger()


class NotificationService:
    """Tell people things. Implements `core.notifications.types.Notifier`.

    `channels`: the names of those that are on.
    """

    def __init__(
        self,
        store: NotificationStore,
        channels: Collection[str],
        wakeups: Wakeups,
        clock: Clock,
        make_id: IdMaker,
        manners: NotificationPolicy | None = None,
    ) -> None:
        self._store = store
        self._channels = frozenset(channels)
        self._wakeups = wakeups
        self._clock = clock
        self._make_id = make_id
        self._manners = manners or NotificationPolicy()
        self._each = Setbacks("notification_failed")

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Keep the news and let it go out as the person wants it. Raises `StoreUnavailable` when not kept."""
        notification = _keyed(notification)
        now = self._clock.now()
        person = await self._store.recipient(tenant_id, notification.conversation_id, now)
        verdict = decide(person, notification, now, self._manners.daily_cap)
        told = await self._store.keep(
            tenant_id,
            self._make_id("ntf"),
            notification,
            verdict.fate.value,
            self._entries(person, notification),
            self._when(now),
            verdict.until,
        )
        return self._ring(told)

    async def send(self, tenant_id: str, message: str, metadata: Mapping[str, str] | None = None) -> bool:
        """Tell a person a text; True when it reaches them, now or with the next digest.

        `metadata` may hold `category`, `urgency`, `title`, `dedupe_key` and `conversation_id`.
        """
        about = metadata or {}
        notification = Notification(
            message,
            category=about.get("category", "general"),
            urgency=Urgency(about.get("urgency", Urgency.NORMAL)),
            dedupe_key=about.get("dedupe_key", ""),
            title=about.get("title", ""),
            conversation_id=about.get("conversation_id", ""),
        )
        return (await self.notify(tenant_id, notification)).reaches

    async def release_held(self) -> int:
        """Let out what was held and is due, each person's as one digest; return how many messages that made."""
        now, made = self._clock.now(), 0
        for tenant_id in await self._store.find_held(now, without=self._each.left_alone()):
            made += await self._each.does(tenant_id, partial(self._release, tenant_id, now))
        return made + await self._release_cards(now)

    async def fall_back(self) -> int:
        """Send elsewhere what failed, is stuck, or met no reaction in time; return how many went."""
        now, went = self._clock.now(), 0
        for tenant_id, id in await self._store.find_undelivered(now, without=self._each.left_alone()):
            went += await self._each.does(id, partial(self._go_elsewhere, tenant_id, id, now))
        return went

    async def tell_delays(self) -> int:
        """Tell people elsewhere of answers that their channel has not taken for long; returns how many were told.

        In quiet hours nothing is said, nor held: by their end the answer may have arrived.
        """
        told = 0
        for delayed in await DelayedAnswers(self._store.database).find():
            told += await self._tell_delay(delayed, self._clock.now())
        return told

    async def holds_cards(self, tenant_id: str, run_id: str) -> bool:
        """Return whether quiet hours hold the cards of a task's run now; its time begins when a card is sent."""
        return await self.quiet_until(tenant_id) is not None and not await self._store.is_urgent_run(tenant_id, run_id)

    async def quiet_until(self, tenant_id: str) -> datetime | None:
        """Return when a person's quiet hours end, None when it is not quiet now."""
        now = self._clock.now()
        return quiet_until(await self._store.recipient(tenant_id, "", now), now)

    async def _release(self, tenant_id: str, now: datetime) -> int:
        person = await self._store.recipient(tenant_id, "", now)
        ready: list[StoredNotification] = []
        longer: dict[datetime, list[str]] = {}
        for kept in await self._store.held(tenant_id, now):
            verdict = decide(person, kept.notification, now, self._manners.daily_cap)
            if verdict.fate is NotificationStatus.MUTED:
                await self._store.mute(tenant_id, [kept.id])
                continue
            if kept.aside:
                await self._tell_aside(tenant_id, person, kept, verdict, now)
                continue
            until = verdict.until if kept.anew else quiet_until(person, now)
            if until is not None and kept.notification.urgency is not Urgency.URGENT:
                longer.setdefault(until, []).append(kept.id)
            else:
                ready.append(kept)
        for until, ids in longer.items():
            await self._store.hold(tenant_id, ids, until)
        if not ready:
            return 0
        return await self._let_out(tenant_id, person, ready, now)

    async def _release_cards(self, now: datetime) -> int:
        released, quiet = 0, dict[str, bool]()
        for tenant_id, outbound_id, approval_id in await self._store.held_cards():
            if tenant_id not in quiet:
                quiet[tenant_id] = quiet_until(await self._store.recipient(tenant_id, "", now), now) is not None
            if quiet[tenant_id]:
                continue
            for place in await self._store.release_card(tenant_id, outbound_id, approval_id):
                self._wakeups.wake_delivery(place)
                released += 1
        return released

    async def _tell_aside(
        self, tenant_id: str, person: Recipient, kept: StoredNotification, verdict: Verdict, now: datetime
    ) -> None:
        """Say by push or email that something waits elsewhere; when that cannot be now, its own place says it."""
        entries = [one for one in self._entries(person, kept.notification) if one.place.channel in CANNOT_ANSWER]
        if verdict.fate is not NotificationStatus.OWED or not entries:
            await self._store.mute(tenant_id, [kept.id])
            return
        if told := await self._store.enqueue(tenant_id, kept.id, "held", entries, Timing(now)):
            self._ring(told)

    async def _let_out(
        self, tenant_id: str, person: Recipient, ready: Sequence[StoredNotification], now: datetime
    ) -> int:
        when = self._when(now)
        if len(ready) == 1:
            [kept] = ready
            if kept.notification.conversation_id:
                person = await self._store.recipient(tenant_id, kept.notification.conversation_id, now)
            entries = self._entries(person, kept.notification)
            told = await self._store.enqueue(tenant_id, kept.id, "held", entries, when)
        else:
            digest = compose(ready, zone_of(person))
            ids = [kept.id for kept in ready]
            told = await self._store.owe_digest(tenant_id, ids, digest, self._entries(person, digest), when)
        if told is None:
            return 0  # another worker was quicker
        self._ring(told)
        return 1

    async def _go_elsewhere(self, tenant_id: str, id: str, now: datetime) -> int:
        kept = await self._store.read(tenant_id, id)
        if kept is None:
            return 0
        if kept.state == "owed":
            # Tried in vain: once it is taken back, it has failed, and the next look sends it elsewhere.
            await self._store.withdraw(tenant_id, id)
            return 0
        person = await self._store.recipient(tenant_id, kept.notification.conversation_id, now)
        end = quiet_until(person, now)
        if end is not None and kept.notification.urgency is not Urgency.URGENT:
            await self._store.hold(tenant_id, [id], end)
            return 0
        entries = self._entries(person, kept.notification, kept.tried)
        if kept.aside:
            entries = [one for one in entries if one.place.channel in CANNOT_ANSWER]
        told = await self._store.enqueue(tenant_id, id, kept.state, entries, self._when(now))
        if told is None:
            return 0
        self._ring(told)
        return int(told.state == "owed")

    async def _tell_delay(self, delayed: Delayed, now: datetime) -> int:
        tenant_id = delayed.tenant_id
        text = DELAYED_ANSWER.format(PLACES.get(delayed.channel, f"by {delayed.channel}"))
        notification = Notification(text, category="delivery", dedupe_key=f"delayed:{delayed.outbound_id}")
        person = await self._store.recipient(tenant_id, "", now)
        verdict = decide(person, notification, now, self._manners.daily_cap)
        entries = self._entries(person, notification, (delayed.identity_id,))
        if verdict.fate is NotificationStatus.HELD or not entries:
            return 0
        told = await self._store.keep(
            tenant_id, self._make_id("ntf"), notification, verdict.fate.value, entries, self._when(now)
        )
        await DelayedAnswers(self._store.database).note_told(delayed)
        return int(self._ring(told).fate is NotificationStatus.OWED)

    def _entries(
        self, person: Recipient, notification: Notification, tried: Collection[str] = ()
    ) -> list[RenderedNotification]:
        places = order_places(person, self._channels, wanted=notification.conversation_id, tried=tried)
        chat = next((place.channel for place in places if place.channel not in CANNOT_ANSWER), "")
        return [_entry(place, notification, chat) for place in places]

    def _when(self, now: datetime) -> Timing:
        after = self._manners.fall_back_after
        return Timing(now, now + after if after is not None else None)

    def _ring(self, told: NotifyResult) -> Notified:
        if told.conversation_id:
            self._wakeups.wake_delivery(told.conversation_id)
        fate = _STATES.get(told.state, NotificationStatus.OWED)
        _log.info("person_told", notification=told.id, fate=fate.value, channel=told.channel)
        return Notified(told.id, fate, told.channel)


def _keyed(notification: Notification) -> Notification:
    """Return it the key that tells whether it is the same news, and leave out what is beyond reading."""
    text = notification.text if len(notification.text) <= MAX_TEXT else f"{notification.text[:MAX_TEXT]}…"
    key = notification.dedupe_key
    if not key:
        about = notification.run_id or notification.category
        key = f"{about}:{hashlib.sha256(text.strip().encode(errors='replace')).hexdigest()[:32]}"
    return replace(notification, text=text, dedupe_key=key)


def _entry(place: NotificationTarget, notification: Notification, chat: str) -> RenderedNotification:
    if place.channel not in CANNOT_ANSWER:
        return RenderedNotification(place, notification.text, notification.actions, notification.media)
    title = f"# {notification.title}\n\n" if notification.title else ""
    answer = f"\n\nTo answer, open {NAMES.get(chat, chat)}." if notification.actions and chat else ""
    return RenderedNotification(place, f"{title}{notification.text}{answer}", media=notification.media)
