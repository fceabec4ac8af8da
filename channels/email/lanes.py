"""Mails taken side by side: those of a sender in order, each sender with a single mail at a time.

A mail can take a minute to read, and anyone can send many of them. The position still moves in order, over a mail once
that and all before it are taken: after a kill those beyond it are read again, and known by their keys.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, field

from core.http.peer import PERSON
from providers.email.types import StoredMail

AT_ONCE = 4
"""Mails that are taken at the same time."""
LARGE = 2 * 1024 * 1024
"""Bytes of a mail that is taken by itself among its like: the largest, of 30 MB, is held several times over."""
MOST_HELD = 8 * 1024 * 1024
"""Bytes of the beginnings of mails that wait; those of further mails are fetched again."""


@dataclass(slots=True)
class Waiting:
    """A mail that is to be taken. `moves_to`: the UID of the position once it is; 0 if it moves no position."""

    uid: int
    moves_to: int
    stored: StoredMail | None = field(default=None, repr=False)
    size: int = 0
    taken: bool = False

    @property
    def held(self) -> int:
        """Return the bytes that are held of it."""
        return len(self.stored.data) if self.stored else 0


class Lanes:
    """Take mails by `take`, which returns when one is committed; those in `known` are taken already."""

    def __init__(self, take: Callable[[Waiting], Awaitable[None]], known: Collection[int] = ()) -> None:
        self._take = take
        self._known = known
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._large = asyncio.Semaphore(1)
        self._order = deque[Waiting]()
        self._lanes: dict[str, deque[Waiting]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._held = 0

    @property
    def open(self) -> bool:
        """Return whether a mail is not taken yet."""
        return bool(self._tasks)

    @property
    def beyond(self) -> set[int]:
        """Return the mails that are taken while an earlier mail is not."""
        return {mail.uid for mail in self._order if mail.taken}

    def add(self, sender: str, mail: Waiting) -> None:
        """Let a mail be taken after all earlier mails of its sender."""
        self._order.append(mail)
        if mail.uid in self._known:
            mail.taken, mail.stored = True, None
            return
        if mail.stored is not None and self._held + len(mail.stored.data) > MOST_HELD:
            mail.stored = None
        self._held += mail.held
        if sender in self._lanes:
            self._lanes[sender].append(mail)
        else:
            self._lanes[sender] = deque([mail])
            self._tasks[sender] = asyncio.create_task(self._work(sender))

    def pass_over(self, moves_to: int) -> None:
        """Let the position move to a UID once all mails before it are taken."""
        self._order.append(Waiting(0, moves_to, taken=True))

    def reached(self) -> int:
        """Return the UID that the position has newly reached; 0 if it has not moved."""
        reached = 0
        while self._order and self._order[0].taken:
            reached = max(reached, self._order.popleft().moves_to)
        return reached

    async def wait(self, seconds: float, sender: str | None = None) -> None:
        """Wait until all mails, or those of a sender, are taken, for so long at most. Raises the first error of one."""
        if tasks := [task for of, task in self._tasks.items() if sender in (None, of)]:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        for task in self._tasks.values():
            if task.done():
                task.result()

    async def aclose(self) -> None:
        """Give up all mails that are not taken."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, sender: str) -> None:
        """Take the mails of a sender; after an error the task stays, for `wait` to raise it."""
        PERSON.set(sender)
        lane = self._lanes[sender]
        while lane:
            mail = lane[0]
            async with self._large if mail.size > LARGE else nullcontext(), self._slots:
                await self._take(mail)
            lane.popleft()
            self._held -= mail.held
            mail.taken, mail.stored = True, None
        del self._lanes[sender], self._tasks[sender]
