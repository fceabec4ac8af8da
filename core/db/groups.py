"""Group commit: items that come in during a write are written together, and answered after their own commit."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Hashable
from dataclasses import dataclass, field

import asyncpg
import structlog

from core.db.database import Database
from core.errors import StoreUnavailable
from core.json_types import JsonObject

GROUP = 64
"""The most items of a statement."""
SHARE = 16
"""The most items of a sender in a statement."""
AT_ONCE = 2
"""The groups that are written at a time: while a group is committed, the next is on its way."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Item:
    sender: Hashable
    order: tuple[str, ...]
    value: JsonObject
    done: "asyncio.Future[asyncpg.Record]"

    def end(self, row: asyncpg.Record) -> None:
        if not self.done.done():  # the waiting task may be gone
            self.done.set_result(row)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


@dataclass(slots=True)
class GroupedStatement:
    """Run a repeatable statement that takes an array of jsonb as `$1` and returns a row for each item, in order.

    `arguments` are its further arguments; the last argument says whether to wait for rows that another transaction
    holds. At first it does not: an item whose row is `busy` was not written, and is tried alone, as is every item of a
    group that an error undid. The items of one sender are written in their order, one group at a time. Senders take
    turns, so that a busy sender keeps nobody waiting.
    """

    database: Database
    statement: str
    arguments: tuple[object, ...] = ()
    _waiting: dict[Hashable, deque[_Item]] = field(default_factory=dict)
    _writing: set[Hashable] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _groups: int = 0

    async def write(self, sender: Hashable, order: tuple[str, ...], value: JsonObject) -> asyncpg.Record:
        """Write an item; return its row once it is committed. The items of a group are sorted by `order`.

        Raises `StoreUnavailable`, and the database's error about this item.
        """
        if self._waiting or self._groups >= AT_ONCE or sender in self._writing:
            item = _Item(sender, order, value, asyncio.get_running_loop().create_future())
            self._waiting.setdefault(sender, deque()).append(item)
            # No group may be running: start a group, or the waiting items would wait forever.
            self._go_on()
            return await item.done
        self._writing.add(sender)
        self._groups += 1
        try:
            try:
                (row,) = await self._rows([value])
            finally:
                self._groups -= 1
                self._go_on()
            return await self._alone(value) if row["busy"] else row
        finally:
            self._writing.discard(sender)
            self._go_on()

    def _go_on(self) -> None:
        """Start groups of waiting items, up to `AT_ONCE`."""
        while self._groups < AT_ONCE and (group := self._take()):
            self._groups += 1
            self._writing.update(item.sender for item in group)
            self._start(self._write_group(group))

    def _take(self) -> list[_Item]:
        """Take the next group: an item of each waiting sender, then another of each, until the group is full."""
        free = [sender for sender in self._waiting if sender not in self._writing]
        group: list[_Item] = []
        for _ in range(SHARE):
            left = [sender for sender in free if self._waiting[sender]][: GROUP - len(group)]
            if not left:
                break
            group += [self._waiting[sender].popleft() for sender in left]
        for sender in {item.sender for item in group}:
            # A sender with further items goes to the end of the line.
            if more := self._waiting.pop(sender):
                self._waiting[sender] = more
        return sorted(group, key=lambda item: item.order)

    async def _write_group(self, group: list[_Item]) -> None:
        again = group
        try:
            rows = await self._rows([item.value for item in group])
        except StoreUnavailable as error:
            again = []
            for item in group:
                item.fail(StoreUnavailable(*error.args))
        except Exception as error:
            # A single item failed the group: each is tried alone.
            _log.info("group_undone", count=len(group), cause=type(error).__name__)
        else:
            again = [item for item, row in zip(group, rows, strict=True) if row["busy"]]
            for item, row in zip(group, rows, strict=True):
                if not row["busy"]:
                    item.end(row)
        self._groups -= 1
        left: dict[Hashable, list[_Item]] = {}
        for item in again:
            left.setdefault(item.sender, []).append(item)
        self._writing.difference_update({item.sender for item in group} - left.keys())
        for items in left.values():
            self._start(self._write_singly(items))
        self._go_on()

    async def _write_singly(self, items: list[_Item]) -> None:
        for item in items:
            try:
                item.end(await self._alone(item.value))
            except Exception as error:
                item.fail(error)
        self._writing.discard(items[0].sender)
        self._go_on()

    async def _alone(self, value: JsonObject) -> asyncpg.Record:
        (row,) = await self._rows([value], wait=True)
        return row

    async def _rows(self, values: list[JsonObject], *, wait: bool = False) -> list[asyncpg.Record]:
        return await self.database.rows(self.statement, values, *self.arguments, wait)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="grouped statement")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
