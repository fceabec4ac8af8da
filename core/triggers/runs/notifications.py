"""Hand what runs have to say to the notifier, each once, however often a worker dies over it."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta

import structlog

from core.db.database import Database
from core.errors import StoreUnavailable
from core.json_types import canonical_hash
from core.llm.types import ChatMessage, Role
from core.messaging.messages import OutboundKind, OutboundMessage
from core.notifications.types import Notification, NotificationStatus, Notified, Notifier, Urgency
from core.queue.wakeups import Wakeups
from core.triggers.codec import Kind
from core.triggers.store import TaskStore
from core.triggers.types import Task, TaskRun

LEASE = timedelta(seconds=10)
"""How long what a dead worker was telling waits to be told by another."""
AT_ONCE = 16
MAX_TRIES = 12
"""Attempts, over some two hours, before what raises what nobody foresaw is set aside."""
_CATEGORIES = {Kind.SCHEDULE: "task", Kind.EVENT: "event", Kind.CONDITION: "watch"}

_log = structlog.get_logger()


class Notices:
    """What is to be told of runs, of all people."""

    def __init__(self, store: TaskStore, notifier: Notifier, lease: timedelta = LEASE) -> None:
        self._store = store
        self._lease = lease
        self._notifier = notifier
        self._open = asyncio.Event()

    def wake(self) -> None:
        """Say that there may be something to tell."""
        self._open.set()

    async def wait(self, seconds: float) -> None:
        """Wait until there may be something to tell, so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._open.wait()
        self._open.clear()

    async def hand_over(self) -> int:
        """Hand over what is open now; return how much there was. Raises `StoreUnavailable`."""
        claimed = await self._store.claim_notices(AT_ONCE, self._lease)
        people: dict[str, list[tuple[str, str]]] = {}
        for tenant_id, run_id, key in sorted(claimed):
            people.setdefault(tenant_id, []).append((run_id, key))
        await asyncio.gather(*(self._tell(tenant_id, notices) for tenant_id, notices in people.items()))
        return len(claimed)

    async def _tell(self, tenant_id: str, notices: Sequence[tuple[str, str]]) -> None:
        """Tell one person, in the order of the runs."""
        for run_id, key in notices:
            await self._hand_over(tenant_id, run_id, key)

    async def _hand_over(self, tenant_id: str, run_id: str, key: str) -> None:
        try:
            await self._told(tenant_id, run_id, key)
        except StoreUnavailable:
            raise
        except Exception:
            # One that cannot be told must not keep the others: it comes again later and later, then is set aside.
            _log.exception("notice_failed", run=run_id)
            if await self._store.leave_notice(tenant_id, run_id, key, MAX_TRIES):
                _log.error("notice_set_aside", run=run_id)

    async def _told(self, tenant_id: str, run_id: str, key: str) -> None:
        found = await self._store.run(tenant_id, run_id)
        text = next((str(one["text"]) for one in found[1].told if one["key"] == key), "") if found else ""
        if found is None or not text:
            return
        task, run = found
        told = await self._notifier.notify(tenant_id, notification(task, run, text, key))
        end = {"state": "handed_over", "id": told.id, "fate": told.fate.value, "place": told.where}
        await self._store.end_notice(tenant_id, run_id, key, dict(end))
        _log.info("run_told", run=run_id, task=task.id, fate=told.fate.value)


def notification(task: Task, run: TaskRun, text: str, key: str = "end") -> Notification:
    """Make what the person is told of a run; a question goes where its answer is waited for."""
    wanted = task.output.urgency
    asks = key != "end"
    # Who only looks whether there is news may find the same twice: that is one message.
    same_news = f"{task.id}:{canonical_hash(text)[:32]}"
    return Notification(
        text=text,
        category=task.output.category or _CATEGORIES[task.kind],
        urgency=Urgency(wanted) if wanted in tuple(Urgency) else Urgency.NORMAL,
        dedupe_key=f"{run.id}:{key}" if asks or not task.output.silent else same_news,
        title=task.title,
        task_id=task.id,
        run_id=run.id,
        conversation_id=run.conversation_id if key.startswith("waits") or task.output.channel else "",
    )


class ConversationNotifier:
    """Tell a person where they wrote last, at once: the notifier without quiet hours, digests and other manners."""

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        self._database = database
        self._wakeups = wakeups

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Owe it to the person's conversation, with its history. The same key twice is one message."""
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
            "select owe_unasked($1,$2,$3,$4) as new", tenant_id, place["id"], asdict(message), history_of(notification)
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
