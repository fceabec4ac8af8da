"""The structured indexes of a worker: an index per person, caught up by version, the least recently used dropped first.

An index lives in RAM and is built from rows. Forgetting raises the person's epoch, and an index of another epoch is
dropped before it is searched again, in every worker.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from abilities.memory.config import MomexConfig
from abilities.memory.extraction.terms import terms_of
from abilities.memory.index.embedder import Embedder
from abilities.memory.index.thread import OwnerThread
from abilities.memory.index.typeagent_index import IndexBroken, PersonIndex, StructuredQuery, loaded
from abilities.memory.store.memories import MemoryStore
from abilities.memory.types import Hit, Vector, Version
from core.budgets.self_started import NotNow
from core.budgets.types import OutOfMoney
from core.errors import ModelError

BATCH = 50
"""Memories added at once: the thread is free for another person in between."""

_log = structlog.get_logger()


class CatchingUp(Exception):
    """There is no current index of this person yet; it is being built."""


@dataclass(slots=True)
class _Entry:
    """A person's index and the version that it has reached."""

    index: PersonIndex
    version: Version = field(default_factory=Version)


class StructuredIndexes:
    """The indexes, bounded by the number of people and of memories."""

    def __init__(self, store: MemoryStore, embedder: Embedder, config: MomexConfig) -> None:
        self._store = store
        self._embedder = embedder
        self._config = config
        self._thread = OwnerThread()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._catching: dict[str, asyncio.Task[None]] = {}
        self._soon: dict[str, asyncio.Task[None]] = {}

    @property
    def held(self) -> dict[str, int]:
        """Return the number of indexed memories, by person."""
        return {tenant: len(entry.index.ids) for tenant, entry in self._entries.items()}

    async def search(self, tenant_id: str, query: StructuredQuery, most: int, newest: Version) -> list[Hit]:
        """Search a person's index as of a version; a caller that is cancelled leaves it catching up.

        Raises `CatchingUp` if there is none yet: an index is built when nobody waits for an answer.
        """
        entry = self._entries.get(tenant_id)
        if newest.number and (entry is None or entry.version.epoch != newest.epoch):
            self.soon(tenant_id)
            raise CatchingUp
        if entry is not None and entry.version.number < newest.settled:
            await self.catch_up(tenant_id)
        entry = self._entries.get(tenant_id)
        if entry is None:
            return []
        self._entries.move_to_end(tenant_id)
        return await self._thread.run(entry.index.search(query, most))

    def vectors(self, tenant_id: str, words: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of the words that are terms of a person's index: they need not be embedded again."""
        entry = self._entries.get(tenant_id)
        return entry.index.vectors(words) if entry else {}

    def soon(self, tenant_id: str) -> None:
        """Build a person's index, or bring it up to date, a little later: the first index loads typeagent."""
        if tenant_id in self._soon:
            return
        self._soon[tenant_id] = task = asyncio.create_task(self._later(tenant_id), name="memory index soon")
        task.add_done_callback(lambda _: self._soon.pop(tenant_id, None))

    async def catch_up(self, tenant_id: str) -> None:
        """Bring a person's index to the newest version."""
        task = self._catching.get(tenant_id)
        if task is None:
            task = asyncio.create_task(self._catch_up(tenant_id), name="memory index")
            self._catching[tenant_id] = task
            task.add_done_callback(lambda _: self._catching.pop(tenant_id, None))
        await asyncio.shield(task)

    async def drop(self, tenant_id: str) -> None:
        if entry := self._entries.pop(tenant_id, None):
            await self._thread.run(entry.index.close())

    async def close(self) -> None:
        running = [*self._soon.values(), *self._catching.values()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=5)
        for tenant_id in list(self._entries):
            await self.drop(tenant_id)
        self._thread.close()

    async def _later(self, tenant_id: str) -> None:
        await asyncio.sleep(0.0 if loaded() else self._config.index_after)
        try:
            await self.catch_up(tenant_id)
        except Exception as error:  # nothing above this task would catch it; the next search tries again
            _log.warning("memory_index_not_made", tenant=tenant_id, cause=type(error).__name__)

    async def _catch_up(self, tenant_id: str) -> None:
        newest = await self._store.version(tenant_id)
        entry = self._entries.get(tenant_id)
        # A number lower than the index has reached: the id belongs to another person now.
        if entry is not None and (entry.version.epoch != newest.epoch or entry.version.number > newest.number):
            await self.drop(tenant_id)
            entry = None
        if newest.number == 0:
            return
        if entry is None:
            entry = self._entries[tenant_id] = _Entry(PersonIndex(self._embedder.name), Version(0, newest.epoch))
        try:
            while entry.version.number < newest.settled and await self._append(tenant_id, entry):
                self._entries.move_to_end(tenant_id)
                await self._make_room(tenant_id)
        except NotNow:
            return  # the next search of a turn brings it up to date
        except (IndexBroken, asyncio.CancelledError, ValueError, KeyError, TypeError) as error:
            # It may hold half a batch: the next search builds it again.
            _log.warning("memory_index_dropped", tenant=tenant_id, cause=type(error).__name__)
            await self.drop(tenant_id)
            raise

    async def _append(self, tenant_id: str, entry: _Entry) -> bool:
        items = await self._store.after(tenant_id, entry.version.number, BATCH)
        if not items:
            return False
        terms = sorted({term for item in items for term in terms_of(item.knowledge)})
        vectors = await self._vectors(tenant_id, terms, entry.version.epoch)
        await self._thread.run(entry.index.append(items, vectors))
        entry.version = Version(items[-1].number, entry.version.epoch)
        return True

    async def _vectors(self, tenant_id: str, terms: list[str], epoch: int) -> dict[str, Vector]:
        """Return the vectors of terms; those not stored yet are embedded now, and stored for every other worker.

        A term that cannot be embedded matches exactly only, until the index is built again.
        """
        vectors = await self._store.vectors.terms(tenant_id, self._embedder.name, terms)
        if missing := [term for term in terms if term not in vectors]:
            try:
                embedded = dict(zip(missing, await self._embedder.at_cost_of(tenant_id).embed(missing), strict=True))
            except (ModelError, OutOfMoney) as error:
                _log.warning("memory_terms_not_embedded", cause=type(error).__name__)
                return vectors
            await self._store.vectors.add_terms(tenant_id, self._embedder.name, embedded, epoch)
            vectors |= embedded
        return vectors

    async def _make_room(self, keep: str) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > self._config.index_people or sum(self.held.values()) > self._config.index_memories
        ):
            oldest = next(iter(self._entries))
            if oldest == keep:
                return
            await self.drop(oldest)
