"""One person's memory, as tools use it in a turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import ToolFailed, ToolRetry
from core.memory.access import Remembered
from core.memory.extraction.secrets import is_secret
from core.memory.extraction.words import stems_of, words_of
from core.memory.recall.search import Scope
from core.memory.types import PERSON, Kind, Memory, Said

if TYPE_CHECKING:
    from core.memory.momex import Momex

_SOURCES = {Kind.TOLD: "you told me", Kind.INFERRED: "I said so", Kind.OUTSIDE: "from outside content"}
MAX_MEANT = 20
"""Memories that one wish to forget may mean."""


@dataclass(frozen=True, slots=True)
class TenantMemory:
    """Implements `core.memory.access.MemoryAccess`."""

    momex: "Momex"
    tenant_id: str
    turn_id: str = ""

    async def remember(self, text: str, key: str) -> Sequence[Remembered]:
        """Keep a statement of the person's; nothing where it may not be kept."""
        if is_secret(text):
            raise ToolFailed("That looks like a password or a one-time code; such things are never kept.")
        said = Said(key, text, PERSON, Kind.TOLD, self.momex.clock.now(), self.turn_id)
        kept = await self.momex.add_now(self.tenant_id, [said])
        return [shown(one) for one in kept]

    async def search(self, query: str) -> Sequence[Remembered]:
        """Return what is known and has to do with a question."""
        recall = await self.momex.search(self.tenant_id, query)
        return [shown(one.memory) for one in recall.found]

    async def overview(self, most: int = 30) -> Sequence[Remembered]:
        """Return what the person told, the newest first."""
        return [shown(one) for one in await self.momex.store.newest(self.tenant_id, most, told_only=True)]

    async def ask_to_forget(self, what: str, numbers: Sequence[int] = ()) -> Sequence[Remembered]:
        """Return what would be forgotten, to be shown; nothing is forgotten yet."""
        meant = await self.momex.store.numbered(self.tenant_id, numbers) if numbers else await self._meant(what)
        if meant:
            now = self.momex.clock.now()
            await self.momex.forgetter.ask(self.tenant_id, meant, self.turn_id, what, now)
        return [shown(one) for one in meant]

    async def forget(self) -> int:
        """Forget what an earlier turn asked about."""
        momex = self.momex
        waiting = await momex.forgetter.waiting(self.tenant_id, self.turn_id, momex.clock.now())
        if waiting is None:
            return 0
        gone = await momex.forgetter.confirm(self.tenant_id, waiting[0], momex.clock.now())
        momex.embedder.clear()
        if momex.indexes is not None:
            await momex.indexes.drop(self.tenant_id)
        return gone

    async def correct(self, number: int, text: str, key: str) -> Sequence[Remembered]:
        """Put a statement in a memory's place, which ends; an empty text lets a replaced memory hold again."""
        momex, now = self.momex, self.momex.clock.now()
        found = await momex.store.numbered(self.tenant_id, [number])
        if not found:
            raise ToolRetry(f"There is no memory {number}; list what is known to see the numbers.")
        if not text.strip():
            await momex.store.reinstate(self.tenant_id, found[0].id, now)
            return [shown(one) for one in await momex.store.numbered(self.tenant_id, [number])]
        if is_secret(text):
            raise ToolFailed("That looks like a password or a one-time code; such things are never kept.")
        said = Said(key, text, PERSON, Kind.TOLD, now, self.turn_id)
        kept = await momex.add_now(self.tenant_id, [said], collection=found[0].collection)
        if kept:
            for old in [found[0], *await self._saying_the_same(found[0])]:
                await momex.store.replace(self.tenant_id, old.id, kept[0].id, now)
        return [shown(one) for one in kept]

    async def _saying_the_same(self, old: Memory) -> list[Memory]:
        """Return what else says what a memory says, such as the assistant's own words about it."""
        store, stems = self.momex.store, stems_of(old.text)
        words = dict.fromkeys(words_of(old.text), 1.0)
        near = await store.by_text(self.tenant_id, words, MAX_MEANT, [old.collection] if old.collection else [])
        known = await store.memories(self.tenant_id, [one for one, _, _ in near])
        return [
            one for one in known.values()
            if stems and one.id != old.id and one.collection == old.collection and one.turn_id != self.turn_id
            and (stems == stems_of(one.text) or (one.kind is Kind.INFERRED and stems <= stems_of(one.text)))
        ]  # fmt: skip

    async def _meant(self, what: str) -> list[Memory]:
        """Return the memories that say it: those with most of its words, else the surest find."""
        momex = self.momex
        recall = await momex.searcher.search(Scope(self.tenant_id), what, momex.clock.now(), most=MAX_MEANT)
        everything = {one.id: one for one in await momex.store.saying(self.tenant_id, what)}
        everything |= {one.memory.id: one.memory for one in recall.found}
        asked = stems_of(what)
        same = [one for one in everything.values() if asked and len(asked & stems_of(one.text)) / len(asked) >= 0.6]
        return sorted(same, key=lambda one: one.number)[:MAX_MEANT] or [one.memory for one in recall.found[:1]]


def shown(memory: Memory) -> Remembered:
    """Return a memory as the person is shown it."""
    return Remembered(memory.number, memory.text, memory.said_at, _SOURCES[memory.kind], memory.valid_to)
