"""Adding to memory: after the reply, in a job. What was said is cut into statements, read, compared and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from core.errors import ModelError
from core.memory.extraction.extractors import PASSING, STOOD_IN, Extractor, RuleExtractor
from core.memory.extraction.rules_self import slot_of
from core.memory.extraction.secrets import is_secret
from core.memory.extraction.statements import statements, worth_keeping
from core.memory.extraction.terms import terms_of
from core.memory.extraction.words import stems_of, words_of
from core.memory.index.embedder import Embedder
from core.memory.store.memories import Change, MemoryStore
from core.memory.types import Kind, Memory, Said, Statement, Vector

CANDIDATES = 6
"""Memories that a new statement is compared with."""
NEAR = 0.6
"""From what likeness on a memory may be contradicted by a statement, whatever words it uses."""
_OBJECTIONS = stems_of("wrong right correct incorrect mistake mistaken actually false untrue forget forgot")
"""Words about what is known, which say nothing of the person."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Adder:
    """Turn messages into memories. Handing over the same messages again changes nothing."""

    store: MemoryStore
    embedder: Embedder
    extractor: Extractor

    @property
    def reads_again(self) -> bool:
        """Return whether there is somebody to read what rules have read."""
        return self.extractor.name != RuleExtractor.name

    async def add(
        self, tenant_id: str, collection: str, messages: Sequence[Said], *, infer: bool = True,
        kept: Sequence[str] = (), patient: bool = False,
    ) -> list[str]:  # fmt: skip
        """Keep what is worth it; return the ids of what is new. `infer=False`: the texts as they are, by rule.

        `kept` is what a tool has kept of these messages already, in words of its own: it is not kept twice.
        `patient`: a failure of the model that may pass is raised, once all that was read before it is kept.
        """
        extractor = self.extractor.at_cost_of(tenant_id, patient=patient) if infer else RuleExtractor()
        fresh = await self._fresh(tenant_id, messages, kept, whole=not infer)
        # All texts at once: an embedder takes many for little more than one.
        read, failed = await _read_all(fresh, extractor)
        vectors = await self._embed([one.text for one in read])
        terms = await self._terms(tenant_id, read)
        ready = [replace(one, vector=vector) for one, vector in zip(read, vectors, strict=True)]
        same = await self.store.saying_the_same(tenant_id, collection, [one.text for one in ready])
        added: list[str] = []
        plain: list[tuple[Statement, Change]] = []
        for one in ready:
            if extractor.may_change(one) and one.said.kind is Kind.TOLD:
                # What came before is kept first: this may contradict it.
                added += await self._keep(tenant_id, collection, plain, terms)
                candidates = await self._candidates(tenant_id, collection, one)
                change = await extractor.changes(one, candidates) if candidates else Change()
                added += await self._keep(tenant_id, collection, [(one, change)], terms)
                plain = []
            elif all(words_of(one.text) != words_of(other.text) for other, _ in plain):
                plain.append((one, Change(repeats=same.get((one.text, one.said.kind), ""))))
        added += await self._keep(tenant_id, collection, plain, terms)
        if any(one.extractor == STOOD_IN for one in read):
            await self.store.schedule_reread(tenant_id)
        if failed is not None:
            raise failed
        return added

    async def read_again(self, tenant_id: str, most: int) -> int:
        """Have the model read what rules read while it was away; return how many. Raises what is in `PASSING`."""
        extractor = self.extractor.at_cost_of(tenant_id, patient=True)
        count = 0
        for memory in await self.store.read_by(tenant_id, STOOD_IN, most):
            knowledge, by = await extractor.knowledge(memory.text, memory.speaker)
            if by == STOOD_IN:  # there is no money for it today
                break
            said = Said("", memory.text, memory.speaker, memory.kind, memory.said_at, memory.turn_id)
            [vector] = await self._embed([memory.text])
            statement = Statement(said, 0, memory.text, knowledge, by, memory.slot, vector)
            earlier = [one for one in await self._candidates(tenant_id, memory.collection, statement)
                       if one.number < memory.number]  # fmt: skip
            change = await extractor.changes(statement, earlier) if earlier and memory.valid_to is None else Change()
            terms = await self._terms(tenant_id, [statement])
            await self.store.read_anew(tenant_id, memory, statement, change.replaces, self.embedder.name, terms)
            count += 1
        return count

    async def embed_again(self, tenant_id: str, most: int = 200) -> int:
        """Embed memories that this embedder has no vector of; return how many."""
        missing = await self.store.without_vector(tenant_id, self.embedder.name, most)
        if missing:
            vectors = await self.embedder.embed([one.text for one in missing])
            pairs = {one.id: vector for one, vector in zip(missing, vectors, strict=True)}
            await self.store.add_vectors(tenant_id, self.embedder.name, pairs)
        return len(missing)

    async def _keep(
        self, tenant_id: str, collection: str, changes: Sequence[tuple[Statement, Change]], terms: Mapping[str, Vector]
    ) -> list[str]:
        if not changes:
            return []
        wanted = {term for one, change in changes if not change.repeats for term in terms_of(one.knowledge)}
        mine = {term: terms[term] for term in wanted if term in terms}
        return await self.store.keep(tenant_id, collection, changes, self.embedder.name, mine)

    async def _fresh(
        self, tenant_id: str, messages: Sequence[Said], kept: Sequence[str], *, whole: bool
    ) -> list[tuple[Said, list[tuple[int, str]]]]:
        """Cut messages into statements and leave out secrets, empty words, and what is kept already."""
        cut = [(said, list(enumerate(statements(said.text)))) for said in messages]
        wanted = [
            (said, [(p, text) for p, text in texts if not is_secret(text) and (whole or _worth(said, text, kept))])
            for said, texts in cut
        ]
        known = await self.store.known(tenant_id, [f"{said.key}#{part}" for said, texts in wanted for part, _ in texts])
        return [(said, [(p, text) for p, text in texts if f"{said.key}#{p}" not in known]) for said, texts in wanted]

    async def _candidates(self, tenant_id: str, collection: str, statement: Statement) -> list[Memory]:
        """Return the memories of the same collection and kind that a statement may have to do with."""
        kind = statement.said.kind
        found = {}
        if statement.slot:
            found = {one.id: one for one in await self.store.in_slot(tenant_id, collection, statement.slot)}
        if statement.vector:
            near = await self.store.by_vector(tenant_id, statement.vector, self.embedder.name, CANDIDATES)
            wanted = [one for one, likeness in near if likeness >= NEAR and one not in found]
            found |= await self.store.memories(tenant_id, wanted)
        return [
            one for one in found.values()
            if one.kind is kind and one.collection == collection and one.valid_to is None
            and one.speaker == statement.said.speaker and one.said_at <= statement.said.said_at
        ]  # fmt: skip

    async def _terms(self, tenant_id: str, added: Sequence[Statement]) -> dict[str, Vector]:
        terms = sorted({term for one in added for term in terms_of(one.knowledge)})
        known = await self.store.terms(tenant_id, self.embedder.name, terms)
        missing = [term for term in terms if term not in known]
        vectors = await self._embed(missing)
        return {term: vector for term, vector in zip(missing, vectors, strict=True) if vector}

    async def _embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed, or go on without: what has no vector gets one later, and is found by its words until then."""
        try:
            return await self.embedder.embed(texts) if texts else []
        except ModelError as error:
            _log.warning("memory_not_embedded", cause=type(error).__name__)
            return [() for _ in texts]


async def _read_all(
    fresh: Sequence[tuple[Said, list[tuple[int, str]]]], extractor: Extractor
) -> tuple[list[Statement], ModelError | None]:
    """Read statements in order, up to the first failure that may pass; return that, too."""
    read: list[Statement] = []
    for said, texts in fresh:
        for part, text in texts:
            try:
                read.append(await _read(said, part, text, extractor))
            except PASSING as error:
                return read, error
    return read, None


async def _read(said: Said, part: int, text: str, extractor: Extractor) -> Statement:
    slot = slot_of(text) if said.kind is Kind.TOLD else None
    if said.kind is not Kind.TOLD:
        extractor = RuleExtractor()  # no model is paid to read the assistant's own words again
    knowledge, by = await extractor.knowledge(text, said.speaker)
    return Statement(said, part, text, knowledge, by, slot.name if slot else "")


def _worth(said: Said, text: str, kept: Sequence[str]) -> bool:
    if any(_says_as_much(one, text) for one in kept):
        return False
    return worth_keeping(text) or (said.kind is Kind.TOLD and slot_of(text) is not None)


def _says_as_much(kept: str, text: str) -> bool:
    """Tell whether what was kept says at least half of a text: "I row on Wednesdays" of "That's wrong, Wednesdays"."""
    asked, one, other = stems_of(text) - _OBJECTIONS, slot_of(kept), slot_of(text)
    if one is not None and other is not None and not (one.name == other.name and _overlap(one.value, other.value)):
        return False  # two allergies share most of their words
    return bool(asked) and len(asked & stems_of(kept)) >= len(asked) / 2


def _overlap(one: str, other: str) -> bool:
    """Return whether one value is said by the other, with whatever stands beside it."""
    known, said = stems_of(one), stems_of(other)
    return known <= said or said <= known
