"""Adding to memory, in a job after the reply: messages are split into statements, read, compared and stored."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import structlog

from abilities.memory.extraction.extractors import FOUND_NOTHING, PASSING, STOOD_IN, Extractor, RuleExtractor
from abilities.memory.extraction.rules_self import slot_of
from abilities.memory.extraction.secrets import is_secret
from abilities.memory.extraction.statements import says_nothing, statements, worth_keeping
from abilities.memory.extraction.words import stems_of, words_of
from abilities.memory.index.embedder import Embedder
from abilities.memory.store.memories import Change, HeldJob, MemoryStore, Reread, Stored
from abilities.memory.store.reread import schedule_reread
from abilities.memory.store.scans import Found, Wanted, find_memories
from abilities.memory.types import Kind, Memory, Statement, Utterance, Vector
from core.budgets.self_started import NotNow
from core.budgets.types import OutOfMoney
from core.errors import ModelError
from core.language.asking import asks

CANDIDATES = 6
"""Memories near a new statement that it is compared with."""
NEAR = 0.6
"""The likeness from which a statement may contradict a memory, even in entirely different words."""
HELD_BACK = (STOOD_IN, FOUND_NOTHING)
"""The extractors whose findings are held back unless the person asks for the statement to be remembered."""
_OBJECTIONS = stems_of("wrong right correct incorrect mistake mistaken actually false untrue forget forgot")
"""Words about the memory itself, which say nothing of the person."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Adder:
    """Turn messages into memories. Adding the same messages again changes nothing."""

    store: MemoryStore
    embedder: Embedder
    extractor: Extractor

    @property
    def reads_again(self) -> bool:
        """Return whether a model may read the rules' statements again."""
        return self.extractor.name != RuleExtractor.name

    async def add(
        self,
        tenant_id: str,
        collection: str,
        messages: Sequence[Utterance],
        *,
        infer: bool = True,
        kept: Sequence[str] = (),
        patient: bool = False,
        asked: bool = False,
        known: Collection[str] | None = None,
        ends: HeldJob | None = None,
    ) -> Stored:
        """Store the statements worth keeping; return the new memories. `infer=False`: all texts, by rule.

        `kept` are memories that a tool has stored of these messages already, in its own words: they are not stored
        twice. `patient`: a model's error that may pass is raised after the statements read before it are stored.
        `asked`: the person asked for them to be remembered, so that none is held back until a model has read it.
        `known`: the keys of those stored already, if they have been read. `ends`: the job that ends with it.
        """
        extractor = self.extractor.at_cost_of(tenant_id, patient=patient) if infer else RuleExtractor()
        fresh = await self._fresh(tenant_id, messages, kept, known, whole=not infer, asked=asked)
        # All texts at once: many cost an embedder little more than a single text.
        read, failed = await _read_all(fresh, extractor)
        vectors = await self.embed(tenant_id, [statement.text for statement in read])
        ready = [
            replace(statement, vector=vector, held=not asked and statement.extractor in HELD_BACK)
            for statement, vector in zip(read, vectors, strict=True)
        ]
        added: list[str] = []
        left: list[tuple[Statement, Change]] = []
        for statement in ready:
            changes = statement.said.kind is Kind.TOLD and not statement.held and not asks(statement.text)
            if changes and extractor.may_change(statement):
                # Earlier statements are stored first: this statement may contradict them.
                added += await self._keep(tenant_id, collection, left)
                [candidates] = await self.candidates(tenant_id, [(collection, statement)])
                change = await extractor.changes(statement, candidates) if candidates else Change()
                left = [(statement, change)]
            elif all(words_of(statement.text) != words_of(other.text) for other, _ in left):
                left.append((statement, Change(same_words=True)))
        if any(statement.extractor == STOOD_IN for statement in read):
            await schedule_reread(self.store.database, tenant_id)
        if failed is not None:
            await self._keep(tenant_id, collection, left)
            raise failed
        if not left and ends is None:
            return Stored(added)
        last = await self.store.keep(tenant_id, collection, left, self.embedder.name, ends)
        return Stored([*added, *last.added], last.forgets)

    async def read_again(self, tenant_id: str, limit: int) -> int:
        """Reread the rules' statements by the model; return their number. Raises the errors in `PASSING`."""
        extractor = self.extractor.at_cost_of(tenant_id, patient=True)
        count = 0
        for memory in await self.store.read_by(tenant_id, STOOD_IN, limit):
            knowledge, by = await extractor.knowledge(memory.text, memory.speaker)
            if by == STOOD_IN:  # the budget is used up for today
                break
            source = Utterance("", memory.text, memory.speaker, memory.kind, memory.said_at, memory.turn_id)
            [vector] = await self.embed(tenant_id, [memory.text])
            held = by in HELD_BACK
            statement = Statement(source, 0, memory.text, knowledge, by, memory.slot, vector, held)
            [candidates] = await self.candidates(tenant_id, [(memory.collection, statement)])
            earlier = [candidate for candidate in candidates if candidate.number < memory.number]
            compared = earlier and memory.valid_to is None and not held
            change = await extractor.changes(statement, earlier) if compared else Change()
            await self.store.reread(tenant_id, [Reread(memory.id, knowledge, by, held, change)])
            count += 1
        return count

    async def embed_again(self, tenant_id: str, limit: int = 200) -> int:
        """Embed memories without a vector of this embedder; return their number."""
        missing = await self.store.vectors.missing(tenant_id, self.embedder.name, limit)
        if missing:
            vectors = await self.embedder.at_cost_of(tenant_id).embed(list(missing.values()))
            await self.store.vectors.add(tenant_id, self.embedder.name, dict(zip(missing, vectors, strict=True)))
        return len(missing)

    async def _keep(
        self, tenant_id: str, collection: str, changes: Sequence[tuple[Statement, Change]]
    ) -> Sequence[str]:
        return (await self.store.keep(tenant_id, collection, changes, self.embedder.name)).added if changes else ()

    async def _fresh(
        self,
        tenant_id: str,
        messages: Sequence[Utterance],
        kept: Sequence[str],
        known: Collection[str] | None,
        *,
        whole: bool,
        asked: bool,
    ) -> list[tuple[Utterance, list[tuple[int, str]]]]:
        """Split messages into statements, without secrets, questions, empty words, and those stored already."""
        cut = [(source, list(enumerate(statements(source.text, whole=whole)))) for source in messages]
        wanted = [
            (source, [(p, text) for p, text in texts if whole or _worth(source, text, kept, asked and len(texts) == 1)])
            for source, texts in cut
        ]
        wanted = [(source, [(p, text) for p, text in texts if not is_secret(text)]) for source, texts in wanted]
        if known is None:
            keys = [f"{source.key}#{p}" for source, texts in wanted for p, _ in texts]
            known = await self.store.known(tenant_id, keys) if keys else frozenset()
        return [(source, [(p, t) for p, t in texts if f"{source.key}#{p}" not in known]) for source, texts in wanted]

    async def candidates(self, tenant_id: str, statements: Sequence[tuple[str, Statement]]) -> list[list[Memory]]:
        """Return the memories of the same collection, kind and speaker that each statement may change."""
        searches = [
            Wanted(
                CANDIDATES,
                vector=statement.vector,
                embedder=self.embedder.name,
                collection=collection,
                slots=(statement.slot,) if statement.slot else (),
            )
            for collection, statement in statements
        ]
        found = await find_memories(self.store.database, tenant_id, *searches) if searches else []
        return [_candidates(*each, of_it) for each, of_it in zip(statements, found, strict=True)]

    async def embed(self, tenant_id: str, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts. If that fails their vectors are empty: a job makes them later, until then words must do.

        In quiet hours it is the same.
        """
        try:
            return await self.embedder.at_cost_of(tenant_id).embed(texts) if texts else []
        except NotNow:
            return [() for _ in texts]
        except (ModelError, OutOfMoney) as error:
            _log.warning("memory_not_embedded", cause=type(error).__name__)
            return [() for _ in texts]


def _candidates(collection: str, statement: Statement, found: Found) -> list[Memory]:
    near = (memory_id for memory_id, likeness in found.by_vector if likeness >= NEAR)
    return [
        memory
        for memory in map(found.memories.__getitem__, dict.fromkeys([*reversed(found.in_slots), *near]))
        if memory.kind is statement.said.kind
        and memory.collection == collection
        and memory.valid_to is None
        and memory.speaker == statement.said.speaker
        and memory.said_at <= statement.said.said_at
    ]


async def _read_all(
    fresh: Sequence[tuple[Utterance, list[tuple[int, str]]]], extractor: Extractor
) -> tuple[list[Statement], ModelError | None]:
    """Read statements in order, up to the first error that may pass; return that error, too."""
    read: list[Statement] = []
    for source, texts in fresh:
        for part, text in texts:
            try:
                read.append(await _read(source, part, text, extractor))
            except PASSING as error:
                return read, error
    return read, None


async def _read(source: Utterance, part: int, text: str, extractor: Extractor) -> Statement:
    slot = slot_of(text) if source.kind is Kind.TOLD and not asks(text) else None
    if source.kind is not Kind.TOLD:
        extractor = RuleExtractor()  # no model is paid to read the assistant's own words again
    knowledge, by = await extractor.knowledge(text, source.speaker)
    return Statement(source, part, text, knowledge, by, slot.name if slot else "")


def _worth(source: Utterance, text: str, kept: Sequence[str], alone: bool) -> bool:
    """Return whether a statement is stored; `alone`: the person asked to remember this statement only."""
    if any(_covers(memory, text) for memory in kept):
        return False
    if alone:  # in however few words
        return not says_nothing(text)
    return worth_keeping(text) or (source.kind is Kind.TOLD and slot_of(text) is not None)


def _covers(kept: str, text: str) -> bool:
    """Return whether a memory says at least half of a text: "I row on Wednesdays" of "That's wrong, Wednesdays"."""
    asked, slot, other = stems_of(text) - _OBJECTIONS, slot_of(kept), slot_of(text)
    if slot is not None and other is not None and not (slot.name == other.name and _overlap(slot.value, other.value)):
        return False  # two allergies have most of their words in common
    return bool(asked) and len(asked & stems_of(kept)) >= len(asked) / 2


def _overlap(first: str, second: str) -> bool:
    """Return whether either value contains all words of the other."""
    return stems_of(first) <= stems_of(second) or stems_of(second) <= stems_of(first)
