"""A notifier for tests: it sends at once, without quiet hours, digests and other policies."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict

from core.db.database import Database
from core.llm.types import ChatMessage, Role
from core.messaging.messages import OutboundKind, OutboundMessage
from core.notifications.types import Notification, NotificationStatus, Notified
from core.queue.wakeups import Wakeups


class ConversationNotifier:
    """Notify a person in the conversation where they wrote last."""

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        self._database = database
        self._wakeups = wakeups

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Queue it in the person's conversation, with its history. The same key twice is one message."""
        async with self._database.tenant(tenant_id) as connection:
            place = await connection.fetchrow(
                "select id, channel from conversations where tenant_id = $1"
                " and id in ($2, home_conversation($1, '')) order by id = $2 desc limit 1",
                tenant_id,
                notification.conversation_id,
            )
        key = notification.dedupe_key or f"{notification.category}:{notification.text}"
        message = OutboundMessage(
            id=f"out_{hashlib.sha256(f'{tenant_id} {key}'.encode()).hexdigest()[:26]}",
            kind=OutboundKind.NOTIFICATION,
            text=notification.text,
            actions=notification.actions,
            media=notification.media,
        )
        if place is None:
            return Notified(message.id, NotificationStatus.NOWHERE)
        row = await self._database.call(
            "select enqueue_unprompted($1,$2,$3,$4) as new",
            tenant_id,
            place["id"],
            asdict(message),
            history_of(notification),
        )
        self._wakeups.wake_delivery(place["id"])
        return Notified(
            message.id,
            NotificationStatus.OWED if row and row["new"] else NotificationStatus.DUPLICATE,
            place["channel"],
        )


def history_of(notification: Notification) -> list[Mapping[str, object]]:
    """Return what a conversation remembers of a notification: where it came from, and what was said."""
    about = f"[Not from the person: their task {notification.title!r} has just brought the following.]"
    said = [ChatMessage(Role.USER, about, internal=True), ChatMessage(Role.ASSISTANT, notification.text)]
    return [one.to_json() for one in said]
