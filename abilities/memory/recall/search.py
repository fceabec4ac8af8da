"""Recall: three retrievers over a person's memories, fused by rank, within a time and a number of tokens.

A retriever that fails or is slow is left out and named in the report; the others answer. Memories that hold no longer
are left out unless the question is about the past.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import asyncpg
import structlog

from abilities.memory.config import MomexConfig
from abilities.memory.extraction.rules_self import slot_of
from abilities.memory.index.cache import CatchingUp, StructuredIndexes
from abilities.memory.index.embedder import Embedder
from abilities.memory.index.typeagent_index import IndexBroken, StructuredQuery
from abilities.memory.recall.fusion import ENOUGH, certainty, fuse
from abilities.memory.recall.over import with_ends
from abilities.memory.recall.question import Question, read_question
from abilities.memory.recall.shown import not_shown
from abilities.memory.store.memories import MemoryStore
from abilities.memory.store.scans import MemoryFilter, find_by_vector, find_by_words
from abilities.memory.types import Hit, Memory, Recall, Recalled, RetrieverKind, RetrieverReport, Vector
from core.errors import ModelError, OneValetError
from core.llm.types import ChatMessage, Role, estimate_tokens

DEPTH = 30
"""Hits that each retriever contributes to the fusion."""
ASKED = 3.0
"""Weight of a slot that a question asks for by a rule, against a word of the question."""
SAME = 0.8
"""Weight of a word that means the same as a word of the question."""
MEANT = 0.5
"""Weight of a word that has to do with a word of the question."""

_log = structlog.get_logger()

type Embedding = asyncio.Task[Mapping[str, Vector]]
"""The vectors of a question and of its words, while they are computed: two retrievers wait for them."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a retriever that is late is waited for.

    That is for some seconds, which replace the configured patience if they are given, and as long as `meanwhile`, other
    work that has to be done anyway, is not done. `built`: an index that is not built yet is waited for, too.
    """

    seconds: float = 0.0
    meanwhile: asyncio.Task[object] | None = None
    built: bool = False


NO_LONGER = Wait()


@dataclass(frozen=True, slots=True)
class Scope:
    """The range of a search: a tenant's memories, all or those of some collections and the collections below them.

    `payer` is the person who asks, if they are another tenant.
    """

    tenant_id: str
    collections: tuple[str, ...] = ()
    payer: str = ""

    def includes(self, memory: Memory) -> bool:
        names = self.collections
        return not names or any(memory.collection == name or memory.collection.startswith(f"{name}:") for name in names)


@dataclass(frozen=True, slots=True)
class Retriever:
    """The retrievers of recall, each over Postgres or over an index made from it. `kinds`: those that are used."""

    store: MemoryStore
    embedder: Embedder
    indexes: StructuredIndexes | None
    config: MomexConfig = field(default_factory=MomexConfig)
    kinds: frozenset[RetrieverKind] = frozenset(RetrieverKind)

    async def search(
        self,
        scope: Scope,
        text: str,
        now: datetime,
        *,
        limit: int = 0,
        sure: bool = True,
        shown: Sequence[ChatMessage] = (),
        wait: Wait = NO_LONGER,
    ) -> Recall:
        """Return the memories that may matter for a text. `sure`: only those the retrievers are sure of.

        Statements in `shown` are left out; `wait`: the time for which a late retriever is waited for.
        """
        began = time.monotonic()
        if not (await self.store.version(scope.tenant_id)).number:
            return Recall()
        question = await self._with_names(scope, read_question(text, now))
        deadline = began + (wait.seconds or self.config.patience)
        embedding = asyncio.create_task(self._embed(scope, question), name="embed question")
        retrievers: dict[RetrieverKind, Callable[[], Awaitable[Sequence[Hit]]]] = {
            RetrieverKind.TEXT: lambda: self._by_text(scope, question),
            RetrieverKind.VECTOR: lambda: self._by_vector(scope, question, embedding),
            RetrieverKind.STRUCTURED: lambda: self._structured(scope, question, embedding, built=wait.built),
        }
        try:
            used = [kind for kind in RetrieverKind if kind in self.kinds]
            reports = await asyncio.gather(*(_timed(kind, retrievers[kind], deadline, wait.meanwhile) for kind in used))
        finally:
            embedding.cancel()
        fused = await self._fuse(scope, question, reports, sure=sure)
        recalled = _within(not_shown(fused, shown), limit or self.config.max_recalled, self.config.token_budget)
        return Recall(tuple(recalled), tuple(reports), int((time.monotonic() - began) * 1000))

    async def _with_names(self, scope: Scope, question: Question) -> Question:
        """Add the names of those whom the question calls "my sister": the first of two hops."""
        if not question.relations:
            return question
        memories = await self.store.in_slots(scope.tenant_id, question.relations)
        return question.naming([slot.value for memory in memories if (slot := slot_of(memory.text)) is not None])

    async def _by_text(self, scope: Scope, question: Question) -> Sequence[Hit]:
        words = dict.fromkeys(question.meant, MEANT) | dict.fromkeys(question.same, SAME)
        words |= dict.fromkeys(question.words, 1.0)
        words |= dict.fromkeys(question.names, 1.0) | {word: MEANT for word in words if word in question.known}
        if not words:
            return []
        where = MemoryFilter(scope.collections, closed=question.beyond_now)
        rows = await find_by_words(self.store.database, scope.tenant_id, words, DEPTH, where, question.same)
        asked = max(len(question.words), 1)
        return [Hit(memory_id, rank, min(held / asked, 1.0)) for memory_id, rank, held in rows]

    async def _by_vector(self, scope: Scope, question: Question, embedding: Embedding) -> Sequence[Hit]:
        vector = (await asyncio.shield(embedding))[question.text]
        where = MemoryFilter(scope.collections, closed=question.beyond_now)
        rows = await find_by_vector(self.store.database, scope.tenant_id, vector, self.embedder.name, DEPTH, where)
        floor, sure = self.embedder.floor, self.embedder.sure
        return [Hit(memory_id, near, min(ENOUGH * near / sure, 1.0)) for memory_id, near in rows if near >= floor]

    async def _structured(
        self, scope: Scope, question: Question, embedding: Embedding, *, built: bool
    ) -> Sequence[Hit]:
        if self.indexes is None:
            raise _SwitchedOff
        if built:
            await self.indexes.catch_up(scope.tenant_id)
        vectors = await asyncio.shield(embedding)
        # A fact that holds for long was often stated before the time that the question names.
        period = None if question.asked_slots else question.period
        query = StructuredQuery(
            question.terms,
            {term: vectors[term] for term in question.words},
            period.start if period else None,
            period.end if period else None,
            {term: ASKED if term in question.slots else 1.0 for term in question.own}
            | {term: SAME if term in question.same else MEANT for term in question.terms if term not in question.own},
        )
        hits = await self.indexes.search(scope.tenant_id, query, DEPTH)
        if not hits and query.since:
            at_any_time = replace(query, since=None, until=None)
            hits = await self.indexes.search(scope.tenant_id, at_any_time, DEPTH)
        return hits

    async def _embed(self, scope: Scope, question: Question) -> Mapping[str, Vector]:
        """Embed the question, and those of its words that this person's index has no vector of."""
        known = self.indexes.vectors(scope.tenant_id, question.words) if self.indexes is not None else {}
        words = question.words if self.indexes is not None else ()
        embedder = self.embedder.at_cost_of(scope.payer or scope.tenant_id)
        texts = [question.text, *(word for word in words if word not in known and word != question.text)]
        return known | dict(zip(texts, await embedder.embed(texts), strict=True))

    async def _fuse(
        self, scope: Scope, question: Question, reports: Sequence[RetrieverReport], *, sure: bool
    ) -> list[Recalled]:
        hits: dict[str, list[Hit]] = {}
        for hit in (hit for report in reports for hit in report.hits):
            hits.setdefault(hit.memory_id, []).append(hit)
        # If no slot is asked for, memories without certainty need not be read.
        every = not sure or question.asked_slots
        wanted = [memory_id for memory_id, of_it in hits.items() if every or certainty(of_it) >= ENOUGH]
        memories = await with_ends(self.store, scope.tenant_id, await self.store.memories(scope.tenant_id, wanted))
        inside = {memory.id: memory for memory in memories.values() if scope.includes(memory)}
        fused = fuse(inside, reports, question, sure=sure)
        return [*await self._asked_for(scope, question, reports, inside), *fused]

    async def _asked_for(
        self, scope: Scope, question: Question, reports: Sequence[RetrieverReport], found: Mapping[str, Memory]
    ) -> list[Recalled]:
        """Return the person's last statements on the question's very subject, if a retriever for them missed.

        Without them an older word on the same would read as if it held.
        """
        if not question.asked_slots or not any(report.missed not in (None, "off") for report in reports):
            return []
        told = await self.store.in_slots(scope.tenant_id, list(question.asked_slots))
        return [Recalled(memory, 0.0, ()) for memory in told if memory.id not in found and scope.includes(memory)]


class _SwitchedOff(Exception):
    """This retriever is switched off."""


async def _timed(
    kind: RetrieverKind,
    retrieve: Callable[[], Awaitable[Sequence[Hit]]],
    deadline: float,
    meanwhile: asyncio.Task[object] | None,
) -> RetrieverReport:
    """Run a retriever until the deadline, or until other work is done if that is later; report its errors."""
    began = time.monotonic()
    hits: Sequence[Hit] = ()
    missed = None
    try:
        hits = await _in_time(retrieve(), max(deadline - began, 0.01), meanwhile)
    except _SwitchedOff:
        missed = "off"
    except CatchingUp:
        missed = "catching up"
    except TimeoutError:
        missed = "slow"
    except (OneValetError, ModelError, IndexBroken, asyncpg.PostgresError, OSError, ValueError, KeyError) as error:
        missed = type(error).__name__
    if missed not in (None, "off", "catching up"):
        _log.warning("memory_retriever_missed", retriever=kind.value, cause=missed)
    return RetrieverReport(kind, tuple(hits), int((time.monotonic() - began) * 1000), missed)


async def _in_time(
    retrieved: Awaitable[Sequence[Hit]], seconds: float, meanwhile: asyncio.Task[object] | None
) -> Sequence[Hit]:
    """Return the hits that are retrieved in time. Raises `TimeoutError`."""
    work = asyncio.ensure_future(retrieved)
    try:
        await asyncio.wait({work}, timeout=seconds)
        if not work.done() and meanwhile is not None:
            await asyncio.wait({work, meanwhile}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise TimeoutError
        return work.result()
    finally:
        if not work.done():
            work.cancel()
            await asyncio.wait({work})


def _within(recalled: Sequence[Recalled], limit: int, tokens: int) -> Sequence[Recalled]:
    """Return the first memories that fit into a number and a number of tokens; the first in any case."""
    for count, memory in enumerate(recalled[:limit]):
        tokens -= estimate_tokens((ChatMessage(Role.USER, memory.line()),))
        if tokens < 0 and count:
            return recalled[:count]
    return recalled[:limit]
