"""One person's memory, as tools use it in a turn."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ToolFailed, ToolRetry
from core.memory.access import Remembered
from core.memory.extraction.secrets import is_secret
from core.memory.extraction.statements import statements
from core.memory.extraction.words import stems_of, words_of
from core.memory.long_term import LongTermMemory
from core.memory.recall.search import Scope
from core.memory.store.scans import MemoryFilter, find_by_words
from core.memory.types import PERSON, Kind, Memory, Said

_SOURCES = {Kind.TOLD: "you told me", Kind.INFERRED: "I said so", Kind.OUTSIDE: "from outside content"}
MAX_MEANT = 20
"""Memories that one request to forget may mean."""


@dataclass(frozen=True, slots=True)
class TenantMemory:
    """Implements `core.memory.access.MemoryAccess`."""

    memory: LongTermMemory
    tenant_id: str
    turn_id: str = ""

    async def remember(self, text: str, key: str) -> Sequence[Remembered]:
        return [shown(memory) for memory in await self._add(text, key)]

    async def search(self, query: str) -> Sequence[Remembered]:
        recall = await self.memory.search(self.tenant_id, query)
        return [shown(recalled.memory) for recalled in recall.found]

    async def overview(self, most: int = 30) -> Sequence[Remembered]:
        return [shown(memory) for memory in await self.memory.store.newest(self.tenant_id, most, told_only=True)]

    async def ask_to_forget(self, what: str, numbers: Sequence[int] = ()) -> Sequence[Remembered]:
        meant = await self.memory.store.numbered(self.tenant_id, numbers) if numbers else await self._meant(what)
        if meant:
            now = self.memory.clock.now()
            await self.memory.forgetter.ask(self.tenant_id, meant, self.turn_id, what, now)
        return [shown(memory) for memory in meant]

    async def forget(self) -> int:
        forgetter, now = self.memory.forgetter, self.memory.clock.now()
        forgetting_id = await forgetter.waiting(self.tenant_id, self.turn_id, now)
        if forgetting_id is None:
            return 0
        count = await forgetter.confirm(self.tenant_id, forgetting_id, now)
        self.memory.embedder.clear()
        if self.memory.indexes is not None:
            await self.memory.indexes.drop(self.tenant_id)
        return count

    async def correct(self, number: int, text: str, key: str) -> Sequence[Remembered]:
        store, now = self.memory.store, self.memory.clock.now()
        numbered = await store.numbered(self.tenant_id, [number])
        if not numbered:
            raise ToolRetry(f"There is no memory {number}; list what is known to see the numbers.")
        [old] = numbered
        if not text.strip():
            await store.reinstate(self.tenant_id, old.id, now)
            return [shown(memory) for memory in await store.numbered(self.tenant_id, [number])]
        added = await self._add(text, key, old.collection)
        if added:
            for replaced in [old, *await self._with_same_meaning(old)]:
                await store.replace(self.tenant_id, replaced.id, added[0].id, now)
        return [shown(memory) for memory in added]

    async def _add(self, text: str, key: str, collection: str = "") -> list[Memory]:
        if is_secret(text):
            raise ToolFailed("That looks like a password or a one-time code; such things are never kept.")
        if not statements(text):
            raise ToolRetry("That asks, it tells nothing: only a statement can be kept.")
        source = Said(key, text, PERSON, Kind.TOLD, self.memory.clock.now(), self.turn_id)
        return await self.memory.add_now(self.tenant_id, [source], collection=collection)

    async def _with_same_meaning(self, old: Memory) -> list[Memory]:
        """Return other memories that say the same, such as the assistant's own words about it."""
        store, stems = self.memory.store, stems_of(old.text)
        where = MemoryFilter((old.collection,) if old.collection else ())
        near = await find_by_words(
            store.database, self.tenant_id, dict.fromkeys(words_of(old.text), 1.0), MAX_MEANT, where
        )
        memories = await store.memories(self.tenant_id, [memory_id for memory_id, _, _ in near])
        return [
            memory
            for memory in memories.values()
            if memory.id != old.id
            and memory.collection == old.collection
            and memory.turn_id != self.turn_id
            and _repeats(stems, memory)
        ]

    async def _meant(self, text: str) -> list[Memory]:
        """Return the memories that a request to forget means: those with most of its words, else the surest hit."""
        scope, now = Scope(self.tenant_id), self.memory.clock.now()
        recall = await self.memory.retriever.search(scope, text, now, limit=MAX_MEANT)
        candidates = {memory.id: memory for memory in await self.memory.store.containing(self.tenant_id, text)}
        candidates |= {recalled.memory.id: recalled.memory for recalled in recall.found}
        asked = stems_of(text)
        same = [
            memory for memory in candidates.values() if asked and len(asked & stems_of(memory.text)) / len(asked) >= 0.6
        ]
        return sorted(same, key=lambda memory: memory.number)[:MAX_MEANT] or [
            recalled.memory for recalled in recall.found[:1]
        ]


def shown(memory: Memory) -> Remembered:
    return Remembered(memory.number, memory.text, memory.said_at, _SOURCES[memory.kind], memory.valid_to)


def _repeats(stems: frozenset[str], memory: Memory) -> bool:
    other = stems_of(memory.text)
    return bool(stems) and (stems == other or (memory.kind is Kind.INFERRED and stems <= other))
