"""Recall: three retrievers over a person's memories, fused by rank, within a time and a number of tokens.

A retriever that fails or is slow is left out and named in the report; the others answer. Memories that hold no longer
are left out unless the question is about the past.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
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
from abilities.memory.store.scans import Found, Wanted, find_memories
from abilities.memory.types import Hit, Memory, Recall, Recalled, RetrieverKind, RetrieverReport, Vector, Version
from core.errors import ModelError, OneValetError
from core.llm.types import ChatMessage, Role, estimate_tokens

MOST_IN_SLOTS = 5
"""Statements in the slot that a question asks for: only the newest."""
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
    """The time for which a late retriever is waited for.

    `seconds` replace the configured patience unless they are 0; the wait lasts at least until `meanwhile`, other work,
    is done. `built`: wait for an index that is not built yet, too.
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
        version: Version | None = None,
    ) -> Recall:
        """Return the memories that may matter for a text. `sure`: only those the retrievers are sure of.

        Statements in `shown` are left out; `wait`: the time for which a late retriever is waited for. `version`: that
        of the memory, if it has been read.
        """
        began = time.monotonic()
        version = version or await self.store.version(scope.tenant_id)
        if not version.number:
            return Recall()
        question = await self._with_names(scope, read_question(text, now))
        asked = _Asked(scope, question, version, wait.seconds or self.config.patience, wait)
        embedding = asyncio.create_task(self._embed(scope, question), name="embed question")
        try:
            # The index first, which is in RAM: one statement then reads its hits with those of the others.
            by_index = await _timed(self._structured(asked, embedding), asked.patience, wait.meanwhile)
            left = began + asked.patience - time.monotonic()
            embedded = await _timed(self._vector(question, embedding), left, wait.meanwhile)
        finally:
            embedding.cancel()
        reports, found = await self._by_rows(asked, by_index, embedded)
        fused = await self._fuse(scope, question, reports, found, sure=sure)
        recalled = _within(not_shown(fused, shown), limit or self.config.max_recalled, self.config.token_budget)
        return Recall(tuple(recalled), tuple(reports), int((time.monotonic() - began) * 1000))

    async def _with_names(self, scope: Scope, question: Question) -> Question:
        """Add the names of those whom the question calls "my sister": the first of two hops."""
        if not question.relations:
            return question
        wanted = Wanted(0, slots=question.relations)
        [found] = await find_memories(self.store.database, scope.tenant_id, wanted)
        slots = (slot_of(found.memories[memory_id].text) for memory_id in found.in_slots[:MOST_IN_SLOTS])
        return question.naming([slot.value for slot in slots if slot is not None])

    async def _by_rows(
        self, asked: "_Asked", by_index: "_Timed[Sequence[Hit]]", embedded: "_Timed[Vector]"
    ) -> tuple[list[RetrieverReport], Found]:
        """Search by words and by vector, and read the memories that these searches and the index found."""
        ids = [hit.memory_id for hit in by_index.got or ()]
        rows = await self._timed_rows(asked, embedded.got or (), ids)
        if rows.missed is not None and embedded.got:
            # Words do without a vector, which may be slow, or of a length that Postgres refuses.
            embedded = _Timed(None, rows.missed, embedded.took_ms + rows.took_ms)
            rows = await self._timed_rows(asked, (), ids)
        found = rows.got
        if found is None:
            given = Wanted(0, ids=ids, slots=list(asked.question.asked_slots))
            [found] = await find_memories(self.store.database, asked.scope.tenant_id, given)
        words, floor, sure = max(len(asked.question.words), 1), self.embedder.floor, self.embedder.sure
        text = tuple(Hit(memory_id, rank, min(held / words, 1.0)) for memory_id, rank, held in found.by_words)
        near = ((memory_id, near) for memory_id, near in found.by_vector if near >= floor)
        vector = tuple(Hit(memory_id, near, min(ENOUGH * near / sure, 1.0)) for memory_id, near in near)
        took_ms = embedded.took_ms + (rows.took_ms if embedded.got else 0)
        reports = (
            RetrieverReport(RetrieverKind.TEXT, text, rows.took_ms, rows.missed),
            RetrieverReport(RetrieverKind.VECTOR, vector, took_ms, embedded.missed),
            RetrieverReport(RetrieverKind.STRUCTURED, tuple(by_index.got or ()), by_index.took_ms, by_index.missed),
        )
        used = [report for report in reports if report.kind in self.kinds]
        for report in used:
            if report.missed not in (None, "off", "catching up"):
                _log.warning("memory_retriever_missed", retriever=report.kind.value, cause=report.missed)
        return used, found

    async def _timed_rows(self, asked: "_Asked", vector: Vector, ids: Sequence[str]) -> "_Timed[Found]":
        question = asked.question
        words = dict.fromkeys(question.meant, MEANT) | dict.fromkeys(question.same, SAME)
        words |= dict.fromkeys(question.words, 1.0)
        words |= dict.fromkeys(question.names, 1.0) | {word: MEANT for word in words if word in question.known}
        wanted = Wanted(
            DEPTH,
            words if RetrieverKind.TEXT in self.kinds else {},
            question.same,
            vector,
            self.embedder.name,
            ids,
            asked.scope.collections,
            closed=question.beyond_now,
            slots=list(question.asked_slots),
        )
        timed = await _timed(
            find_memories(self.store.database, asked.scope.tenant_id, wanted), asked.patience, asked.wait.meanwhile
        )
        return _Timed(timed.got[0] if timed.got else None, timed.missed, timed.took_ms)

    async def _vector(self, question: Question, embedding: Embedding) -> Vector:
        """Return the question's vector; an empty vector if none is used."""
        if RetrieverKind.VECTOR not in self.kinds:
            return ()
        return (await asyncio.shield(embedding))[question.text]

    async def _structured(self, asked: "_Asked", embedding: Embedding) -> Sequence[Hit]:
        tenant_id, question = asked.scope.tenant_id, asked.question
        if self.indexes is None or RetrieverKind.STRUCTURED not in self.kinds:
            raise _SwitchedOff
        if asked.wait.built:
            await self.indexes.catch_up(tenant_id)
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
        hits = await self.indexes.search(tenant_id, query, DEPTH, asked.version)
        if not hits and query.since:
            at_any_time = replace(query, since=None, until=None)
            hits = await self.indexes.search(tenant_id, at_any_time, DEPTH, asked.version)
        return hits

    async def _embed(self, scope: Scope, question: Question) -> Mapping[str, Vector]:
        """Embed the question, and each of its words without a vector in this person's index."""
        known = self.indexes.vectors(scope.tenant_id, question.words) if self.indexes is not None else {}
        words = question.words if self.indexes is not None else ()
        embedder = self.embedder.at_cost_of(scope.payer or scope.tenant_id)
        texts = [question.text, *(word for word in words if word not in known and word != question.text)]
        return known | dict(zip(texts, await embedder.embed(texts), strict=True))

    async def _fuse(
        self, scope: Scope, question: Question, reports: Sequence[RetrieverReport], found: Found, *, sure: bool
    ) -> list[Recalled]:
        hits: dict[str, list[Hit]] = {}
        for hit in (hit for report in reports for hit in report.hits):
            hits.setdefault(hit.memory_id, []).append(hit)
        # If no slot is asked for, memories without certainty do not matter.
        every = not sure or question.asked_slots
        wanted = {memory_id for memory_id, of_it in hits.items() if every or certainty(of_it) >= ENOUGH}
        inside = {id: memory for id, memory in with_ends(found).items() if id in wanted and scope.includes(memory)}
        fused = fuse(inside, reports, question, sure=sure)
        return [*_asked_for(scope, reports, found, inside), *fused]


def _asked_for(
    scope: Scope, reports: Sequence[RetrieverReport], found: Found, known: Mapping[str, Memory]
) -> list[Recalled]:
    """Return the person's last statements on the question's very subject, if a retriever for them missed.

    Without them an older word on the same would read as if it held.
    """
    if all(report.missed in (None, "off") for report in reports):
        return []
    told = (found.memories[memory_id] for memory_id in found.in_slots[:MOST_IN_SLOTS])
    return [Recalled(memory, 0.0, ()) for memory in told if memory.id not in known and scope.includes(memory)]


class _SwitchedOff(Exception):
    """This retriever is switched off."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question to a scope at a version of its memory, and how long each step of its answer may take."""

    scope: Scope
    question: Question
    version: Version
    patience: float
    wait: Wait


@dataclass(frozen=True, slots=True)
class _Timed[Got]:
    """The result of a step of recall, or the reason if there is none, and its time."""

    got: Got | None
    missed: str | None
    took_ms: int


async def _timed[Got](work: Awaitable[Got], seconds: float, meanwhile: asyncio.Task[object] | None) -> _Timed[Got]:
    """Do a step for some seconds, or until other work is done if that takes longer; report its errors."""
    began = time.monotonic()
    got: Got | None = None
    missed = None
    try:
        got = await _in_time(work, max(seconds, 0.01), meanwhile)
    except _SwitchedOff:
        missed = "off"
    except CatchingUp:
        missed = "catching up"
    except TimeoutError:
        missed = "slow"
    except (OneValetError, ModelError, IndexBroken, asyncpg.PostgresError, OSError, ValueError, KeyError) as error:
        missed = type(error).__name__
    return _Timed(got, missed, int((time.monotonic() - began) * 1000))


async def _in_time[Got](work: Awaitable[Got], seconds: float, meanwhile: asyncio.Task[object] | None) -> Got:
    """Return the result of work that is done in time. Raises `TimeoutError`."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done() and meanwhile is not None:
            await asyncio.wait({task, meanwhile}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _within(recalled: Sequence[Recalled], limit: int, tokens: int) -> Sequence[Recalled]:
    """Return the first memories that fit into a number and a number of tokens; the first in any case."""
    for count, memory in enumerate(recalled[:limit]):
        tokens -= estimate_tokens((ChatMessage(Role.USER, memory.line()),))
        if tokens < 0 and count:
            return recalled[:count]
    return recalled[:limit]
