"""Recall: three legs over one person's memories, fused by rank, within a time and a number of tokens.

A leg that fails or is slow is left out and named in the report; the others answer. What holds no longer is left out
unless the question is about what was.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import asyncpg
import structlog

from core.errors import ModelError, OneValetError
from core.llm.tokens import estimate_tokens
from core.llm.types import ChatMessage, Role
from core.memory.config import MomexConfig
from core.memory.extraction.rules_self import slot_of
from core.memory.index.cache import CatchingUp, StructuredIndexes
from core.memory.index.embedder import Embedder
from core.memory.index.typeagent_index import IndexBroken, StructuredQuery
from core.memory.recall.fusion import ENOUGH, certainty, fused
from core.memory.recall.question import Question, read_question
from core.memory.store.memories import MemoryStore
from core.memory.types import Hit, Leg, LegReport, Memory, Recall, Recalled, Vector

DEPTH = 30
"""Hits that each leg gives into the fusion."""
ASKED = 3.0
"""What a slot weighs that a question asks for by a rule, against a word of it."""
MEANT = 0.5
"""What a word weighs that merely means the same as one of the question."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: a tenant's memories, all or those of some collections and what lies below them."""

    tenant_id: str
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searcher:
    """The legs of recall, each over Postgres or over an index that is made of it."""

    store: MemoryStore
    embedder: Embedder
    indexes: StructuredIndexes | None
    config: MomexConfig = field(default_factory=MomexConfig)
    legs: frozenset[Leg] = frozenset(Leg)

    async def search(self, scope: Scope, text: str, now: datetime, *, most: int = 0, sure: bool = True) -> Recall:
        """Find what may matter for a text. `sure`: only what the legs are sure of."""
        began = time.monotonic()
        if not (await self.store.version(scope.tenant_id)).number:
            return Recall()
        question = await self._with_names(scope, read_question(text, now))
        deadline = began + self.config.patience
        embedding = asyncio.create_task(self._embed(scope, question), name="embed question")
        ways: dict[Leg, Callable[[], Awaitable[Sequence[Hit]]]] = {
            Leg.TEXT: lambda: self._by_text(scope, question),
            Leg.VECTOR: lambda: self._by_vector(scope, question, embedding),
            Leg.STRUCTURED: lambda: self._structured(scope, question, embedding),
        }
        try:
            used = [leg for leg in Leg if leg in self.legs]
            reports = await asyncio.gather(*(_timed(leg, ways[leg], deadline) for leg in used))
        finally:
            embedding.cancel()
        found = await self._fuse(scope, question, reports, sure=sure)
        cut = _within(found, most or self.config.max_recalled, self.config.token_budget)
        return Recall(cut, tuple(reports), int((time.monotonic() - began) * 1000))

    async def _with_names(self, scope: Scope, question: Question) -> Question:
        """Add the names of those whom the question speaks of as "my sister": the first of two hops."""
        if not question.relations:
            return question
        known = await self.store.in_slots(scope.tenant_id, question.relations)
        names = [slot.value for one in known if (slot := slot_of(one.text)) is not None]
        return question.naming(names)

    async def _by_text(self, scope: Scope, question: Question) -> Sequence[Hit]:
        words = dict.fromkeys(question.meant, MEANT) | dict.fromkeys(question.words, 1.0)
        words |= dict.fromkeys(question.names, 1.0) | {one: MEANT for one in words if one in question.known}
        if not words:
            return []
        rows = await self.store.by_text(scope.tenant_id, words, DEPTH, scope.collections, closed=question.beyond_now)
        asked = max(len(question.words), 1)
        return [Hit(one, rank, min(held / asked, 1.0)) for one, rank, held in rows]

    async def _by_vector(
        self, scope: Scope, question: Question, embedding: "asyncio.Task[Mapping[str, Vector]]"
    ) -> Sequence[Hit]:
        vector = (await asyncio.shield(embedding))[question.text]
        rows = await self.store.by_vector(
            scope.tenant_id, vector, self.embedder.name, DEPTH, scope.collections, closed=question.beyond_now
        )
        floor, sure = self.embedder.floor, self.embedder.sure
        return [Hit(one, near, min(ENOUGH * near / sure, 1.0)) for one, near in rows if near >= floor]

    async def _structured(
        self, scope: Scope, question: Question, embedding: "asyncio.Task[Mapping[str, Vector]]"
    ) -> Sequence[Hit]:
        if self.indexes is None:
            raise _Off
        vectors = await asyncio.shield(embedding)
        # What holds for long was often told before the time that is asked for.
        period = None if question.asked_slots else question.period
        query = StructuredQuery(
            question.terms,
            {term: vectors[term] for term in question.words},
            period.start if period else None,
            period.end if period else None,
            {term: ASKED if term in question.slots else 1.0 for term in question.own}
            | {term: MEANT for term in question.terms if term not in question.own},
        )
        hits = await self.indexes.search(scope.tenant_id, query, DEPTH)
        if not hits and query.since:
            everywhere = replace(query, since=None, until=None)
            hits = await self.indexes.search(scope.tenant_id, everywhere, DEPTH)
        return hits

    async def _embed(self, scope: Scope, question: Question) -> Mapping[str, Vector]:
        """Embed the question, and those of its words that this person's index has no vector of."""
        known = self.indexes.vectors(scope.tenant_id, question.words) if self.indexes is not None else {}
        words = question.words if self.indexes is not None else ()
        texts = [question.text, *(word for word in words if word not in known and word != question.text)]
        return known | dict(zip(texts, await self.embedder.embed(texts), strict=True))

    async def _fuse(
        self, scope: Scope, question: Question, reports: Sequence[LegReport], *, sure: bool
    ) -> list[Recalled]:
        found: dict[str, list[Hit]] = {}
        for hit in (hit for report in reports for hit in report.hits):
            found.setdefault(hit.memory_id, []).append(hit)
        # Where no slot is asked for, what nobody is sure of need not be read.
        every = not sure or question.asked_slots
        wanted = [one for one, hits in found.items() if every or certainty(hits) >= ENOUGH]
        memories = await self.store.memories(scope.tenant_id, wanted)
        inside = {memory.id: memory for memory in memories.values() if _inside(memory, scope)}
        return fused(inside, reports, question, sure=sure)


class _Off(Exception):
    """This leg is switched off."""


async def _timed(leg: Leg, way: Callable[[], Awaitable[Sequence[Hit]]], deadline: float) -> LegReport:
    """Run a leg until the deadline; what goes wrong in it is its own."""
    began = time.monotonic()
    hits: Sequence[Hit] = ()
    missed = ""
    try:
        async with asyncio.timeout(max(deadline - began, 0.01)):
            hits = await way()
    except _Off:
        missed = "off"
    except CatchingUp:
        missed = "catching up"
    except TimeoutError:
        missed = "slow"
    except (OneValetError, ModelError, IndexBroken, asyncpg.PostgresError, OSError, ValueError, KeyError) as error:
        missed = type(error).__name__
    if missed not in ("", "off", "catching up"):
        _log.warning("memory_leg_missed", leg=leg.value, cause=missed)
    return LegReport(leg, tuple(hits), int((time.monotonic() - began) * 1000), missed)


def _inside(memory: Memory, scope: Scope) -> bool:
    names = scope.collections
    return not names or any(memory.collection == name or memory.collection.startswith(f"{name}:") for name in names)


def _within(found: Sequence[Recalled], most: int, tokens: int) -> tuple[Recalled, ...]:
    """Keep the first that fit into a number and a number of tokens."""
    kept: list[Recalled] = []
    for one in found[:most]:
        tokens -= estimate_tokens((ChatMessage(Role.USER, one.line()),))
        if tokens < 0 and kept:
            break
        kept.append(one)
    return tuple(kept)
