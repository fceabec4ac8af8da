"""Handing the notices of runs to the notifier, each once, however often a worker dies over it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import structlog

from abilities.tasks.codec import Kind
from abilities.tasks.runs.notice_store import ClaimedNotice, NoticeStore
from abilities.tasks.store import TaskStore
from abilities.tasks.types import Task, TaskRun
from core import tracing
from core.errors import StoreUnavailable
from core.json_types import canonical_hash
from core.notifications.types import Notification, Notifier
from core.queue.wakeups import NOBODY, Later
from core.turns.runs import NoticeKind

LEASE = timedelta(seconds=10)
"""How long a notice of a dead worker waits for another worker."""
DUE = "notices"
"""The kind of work that `sql/due.sql` names if a notice is open."""
AT_ONCE = 16
MAX_TRIES = 12
"""Attempts, over some two hours, before a notice with an unforeseen error is set aside."""
_CATEGORIES = {Kind.SCHEDULE: "task", Kind.EVENT: "event", Kind.CONDITION: "watch"}

_log = structlog.get_logger()


class Notices:
    """The notices of all people's runs."""

    def __init__(self, store: TaskStore, notifier: Notifier, lease: timedelta = LEASE, later: Later = NOBODY) -> None:
        self._runs = store
        self._store = NoticeStore(store.database)
        self._lease = lease
        self._later = later
        self._notifier = notifier
        self._open = asyncio.Event()

    def wake(self) -> None:
        self._open.set()

    async def wait(self, seconds: float) -> None:
        """Wait until there may be an open notice; `seconds` at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._open.wait()
        self._open.clear()

    async def hand_over(self) -> int:
        """Hand over the open notices; return their number. Raises `StoreUnavailable`."""
        claimed = await self._store.claim(AT_ONCE, self._lease)
        people: dict[str, list[ClaimedNotice]] = {}
        for notice in sorted(claimed, key=lambda notice: (notice.tenant_id, notice.run_id, notice.key)):
            people.setdefault(notice.tenant_id, []).append(notice)
        await asyncio.gather(*(self._hand_over_all(notices) for notices in people.values()))
        return len(claimed)

    async def _hand_over_all(self, notices: Sequence[ClaimedNotice]) -> None:
        """Hand over a person's notices, in the order of the runs."""
        for notice in notices:
            tenant_id, run_id = notice.tenant_id, notice.run_id
            try:
                with tracing.span("notify", parent=notice.traceparent, root=run_id):
                    await self._hand_over(tenant_id, run_id, notice.key)
            except StoreUnavailable:
                raise
            except Exception:
                # A bad notice must not block the others: it is retried later and later, then set aside.
                _log.exception("notice_failed", run=run_id)
                put_off = await self._store.put_off(tenant_id, run_id, notice.key, MAX_TRIES)
                if put_off.pause is not None:
                    self._later.come_due(DUE, "", put_off.pause)
                if put_off.set_aside:
                    _log.error("notice_set_aside", run=run_id)

    async def _hand_over(self, tenant_id: str, run_id: str, key: str) -> None:
        task_and_run = await self._runs.run(tenant_id, run_id)
        if task_and_run is None:
            return
        task, run = task_and_run
        notice = next((notice for notice in run.notices if notice.key == key), None)
        if notice is None:
            return
        told = replace(
            notification(task, run, notice.text, notice.kind, key), media=notice.media, outside=notice.outside
        )
        notified = await self._notifier.notify(tenant_id, told)
        await self._store.handed_over(tenant_id, run_id, key, notified)
        _log.info("run_told", run=run_id, task=task.id, fate=notified.fate.value)


def notification(
    task: Task, run: TaskRun, text: str, kind: NoticeKind = NoticeKind.END, key: str = NoticeKind.END.value
) -> Notification:
    """Return the notification about a run; a question goes to the conversation that waits for its answer."""
    # A silent task may find the same news twice: that is a single message.
    same_news = f"{task.id}:{canonical_hash(text)[:32]}"
    return Notification(
        text=text,
        category=task.output.category or _CATEGORIES[task.kind],
        urgency=task.output.urgency,
        dedupe_key=f"{run.id}:{key}" if kind is not NoticeKind.END or not task.output.silent else same_news,
        title=task.title,
        task_id=task.id,
        run_id=run.id,
        conversation_id=run.conversation_id if kind is NoticeKind.QUESTION or task.output.channel else None,
    )
