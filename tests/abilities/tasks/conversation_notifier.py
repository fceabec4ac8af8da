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
        new = await self._enqueue(tenant_id, place["id"], message, history_of(notification))
        self._wakeups.wake_delivery(place["id"])
        return Notified(
            message.id, NotificationStatus.QUEUED if new else NotificationStatus.DUPLICATE, place["channel"]
        )

    async def _enqueue(
        self, tenant_id: str, conversation_id: str, message: OutboundMessage, history: list[Mapping[str, object]]
    ) -> bool:
        """Enqueue a message and write it into the conversation's history; return False where that was done."""
        conversation = (tenant_id, conversation_id)
        async with self._database.tenant(tenant_id) as connection:
            await connection.execute(
                "select from conversations where tenant_id = $1 and id = $2 for update", *conversation
            )
            if await connection.fetchval(
                "select 1 from outbound where tenant_id = $1 and id = $2", tenant_id, message.id
            ):
                return False
            await connection.execute("select enqueue($1,$2,null,$3)", *conversation, [asdict(message)])
            await connection.execute(
                "insert into history (tenant_id, conversation_id, position, session, message)"
                " select $1, c.id, c.history_seq + h.position, c.session, h.value"
                " from conversations c, jsonb_array_elements($3) with ordinality as h (value, position)"
                " where c.tenant_id = $1 and c.id = $2",
                *conversation,
                history,
            )
            await connection.execute(
                "update conversations set history_seq = history_seq + $3 where tenant_id = $1 and id = $2",
                *conversation,
                len(history),
            )
        return True


def history_of(notification: Notification) -> list[Mapping[str, object]]:
    """Return what a conversation remembers of a notification: where it came from, and what was said."""
    about = f"[Not from the person: their task {notification.title!r} has just brought the following.]"
    messages = [ChatMessage(Role.USER, about, internal=True), ChatMessage(Role.ASSISTANT, notification.text)]
    return [message.to_json() for message in messages]
