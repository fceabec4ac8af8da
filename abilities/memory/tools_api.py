"""A person's memory, as tools use it in a turn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from abilities.memory.extraction.secrets import is_secret
from abilities.memory.extraction.statements import statements
from abilities.memory.extraction.words import stems_of, words_of
from abilities.memory.long_term import LongTermMemory
from abilities.memory.recall.search import Scope
from abilities.memory.shared_collections import is_shared
from abilities.memory.store.overview import read_overview
from abilities.memory.store.scans import Wanted, find_memories
from abilities.memory.types import PERSON, Kind, Memory, Utterance
from core.errors import ToolFailed, ToolRetry
from core.language.catalogue import LANGUAGES, gettext, gettext_noop, speaking
from core.tools.memory_access import MemoryAccess, Remembered

_SOURCES = {
    Kind.TOLD: gettext_noop("you told me"),
    Kind.INFERRED: gettext_noop("I said so"),
    Kind.OUTSIDE: gettext_noop("from outside content"),
}
_SHARED = gettext_noop("one of you told me")
MAX_MEANT = 20
"""Memories that a request to forget may mean."""
LINE = re.compile(r"(?P<number>\d{1,15})\.\s+(?P<text>.+)", re.DOTALL)
"""A memory as `Remembered.line` writes it, or its number and its text alone."""
_ISO_DAY = re.compile(r"\s+\(\d{4}-\d\d-\d\d, [^()]*\)$")
"""How lines ended on cards before days were written in words; those may still wait."""


@dataclass(frozen=True, slots=True)
class TenantMemory:
    """Implements `core.tools.memory_access.MemoryAccess`.

    `member`: who uses it, if several people share it; `collection` is its name then.
    """

    memory: LongTermMemory
    tenant_id: str
    turn_id: str | None = None
    member: str = ""
    collection: str = ""

    async def shared(self, home: str) -> MemoryAccess:
        for name, tenant_id in (await self.memory.shared.names(self.tenant_id)).items():
            if tenant_id == home:
                return TenantMemory(self.memory, home, None, self.tenant_id, name)
        raise ToolFailed(gettext("You no longer share this with anybody."))

    async def remember(self, text: str, key: str) -> Sequence[Remembered]:
        return [shown(memory) for memory in await self._add(text, key)]

    async def search(self, query: str) -> Sequence[Remembered]:
        overview = await read_overview(self.memory.store.database, self.tenant_id, self.turn_id)
        recall = await self.memory.search(self.tenant_id, query, overview=overview)
        found = {recalled.memory.id: recalled.memory for recalled in recall.found}
        return [shown(memory) for memory in (found | {memory.id: memory for memory in overview.unread}).values()]

    async def overview(self, most: int = 30) -> Sequence[Remembered]:
        return [
            shown(memory) for memory in await self.memory.store.newest(self.tenant_id, most, told_only=not self.member)
        ]

    async def ask_to_forget(self, what: str, numbers: Sequence[int] = ()) -> Sequence[Remembered]:
        known = await self._newest()
        meant = await self._numbered(numbers) if numbers else await self._meant(what)
        if meant:
            now = self.memory.clock.now()
            await self.memory.forgetter.ask(self.tenant_id, meant, self.turn_id, what, now, known)
        return [shown(memory) for memory in meant]

    async def forget(self, shown: Sequence[str] = ()) -> int:
        forgetter, now = self.memory.forgetter, self.memory.clock.now()
        ids, gone = await self._as_shown(shown)
        if ids:
            asked = await forgetter.asked_about(self.tenant_id, ids, now)
            if asked is None:
                known = await self._newest()
                meant = list((await self.memory.store.memories(self.tenant_id, ids)).values())
                asked = (await forgetter.ask(self.tenant_id, meant, self.turn_id, "", now, known)).id
        else:
            asked = None if shown else await forgetter.waiting(self.tenant_id, self.turn_id, now)
        if asked is None:
            return gone
        count = gone + await forgetter.confirm(self.tenant_id, asked, now, self.turn_id, ids)
        await self._drop_indexes()
        return count

    async def _as_shown(self, lines: Sequence[str]) -> tuple[list[str], int]:
        """Return the ids of the memories that lines show, and the number of those that are gone already."""
        wanted = [LINE.fullmatch(line.strip()) for line in lines]
        numbers = [int(match["number"]) for match in wanted if match]
        stored = {memory.number: memory for memory in await self.memory.store.numbered(self.tenant_id, numbers)}
        newest = await self._newest()
        for match in wanted:
            memory = stored.get(int(match["number"])) if match else None
            gone = memory is None and match is not None and 0 < int(match["number"]) <= newest
            if match is None or not (gone or (memory and _shows(match[0], match["text"], memory))):
                raise ToolRetry("That is not what is remembered: give the lines exactly as ask_to_forget returns them.")
        return [memory.id for memory in stored.values()], len(set(numbers) - set(stored))

    async def _newest(self) -> int:
        """Return the newest number that a memory of the person has."""
        return (await self.memory.store.version(self.tenant_id)).number

    async def _numbered(self, numbers: Sequence[int]) -> list[Memory]:
        """Return the memories of some numbers, and the assistant's own words that say the same."""
        named = await self.memory.store.numbered(self.tenant_id, numbers)
        same = [memory for each in named for memory in await self._with_same_meaning(each)]
        return sorted({memory.id: memory for memory in [*named, *same]}.values(), key=lambda memory: memory.number)

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

    async def take_back(self, numbers: Sequence[int]) -> Sequence[str] | None:
        gone = await self.memory.forgetter.take_back(self.tenant_id, numbers, self.memory.clock.now())
        if gone:
            await self._drop_indexes()
        return gone

    async def _drop_indexes(self) -> None:
        self.memory.embedder.clear()
        if self.memory.indexes is not None:
            await self.memory.indexes.drop(self.tenant_id)

    async def _add(self, text: str, key: str, collection: str = "") -> list[Memory]:
        if is_secret(text):
            raise ToolFailed(gettext("That looks like a password or a one-time code; such things are never kept."))
        if not statements(text):
            raise ToolRetry("That asks, it tells nothing: only a statement can be kept.")
        # What one of several said is no fact about another of them.
        kind = Kind.OUTSIDE if self.member else Kind.TOLD
        source = Utterance(key, text, PERSON, kind, self.memory.clock.now(), self.turn_id)
        return await self.memory.add_now(
            self.member or self.tenant_id, [source], collection=collection or self.collection
        )

    async def _with_same_meaning(self, old: Memory) -> list[Memory]:
        """Return other memories that say the same, such as the assistant's own words about it."""
        stems, collections = stems_of(old.text), (old.collection,) if old.collection else ()
        words = dict.fromkeys(words_of(old.text), 1.0)
        wanted = Wanted(MAX_MEANT, words, collections=collections)
        [near] = await find_memories(self.memory.store.database, self.tenant_id, wanted)
        return [
            memory
            for memory in near.memories.values()
            if memory.id != old.id
            and memory.collection == old.collection
            and memory.turn_id != self.turn_id
            and _repeats(stems, memory)
        ]

    async def _meant(self, text: str) -> list[Memory]:
        """Return the memories that a request to forget means: those with most of its words, else the surest hit."""
        scope, now = Scope(self.tenant_id), self.memory.clock.now()
        recall = await self.memory.retriever.search(scope, text, now, limit=MAX_MEANT)
        containing = await self.memory.store.containing(self.tenant_id, text) if text else []
        asked, found = stems_of(text), [recalled.memory for recalled in recall.found]
        alike = [memory for memory in found if asked and len(asked & stems_of(memory.text)) / len(asked) >= 0.6]
        same = {memory.id: memory for memory in [*containing, *alike]}.values()
        return sorted(same, key=lambda memory: memory.number)[:MAX_MEANT] or [
            recalled.memory for recalled in recall.found[:1]
        ]


def shown(memory: Memory) -> Remembered:
    source = _SHARED if is_shared(memory.collection) else _SOURCES[memory.kind]
    return Remembered(memory.number, memory.text, memory.said_at, gettext(source), memory.valid_to)


def _shows(line: str, text: str, memory: Memory) -> bool:
    """Return whether a line shows a memory: in any language, as the card may be older than the person's choice."""
    if words_of(memory.text) in (words_of(text), words_of(_ISO_DAY.sub("", text))):
        return True
    for language in LANGUAGES:
        with speaking(language):
            if words_of(shown(memory).line()) == words_of(line):
                return True
    return False


def _repeats(stems: frozenset[str], memory: Memory) -> bool:
    other = stems_of(memory.text)
    return bool(stems) and (stems == other or (memory.kind is Kind.INFERRED and stems <= other))
