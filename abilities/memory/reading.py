"""Statements are stored at once, by rule; a model reads them later, with all others until their person is quiet."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from abilities.memory.extraction.extractors import FOUND_NOTHING, STOOD_IN, RuleExtractor, merged
from abilities.memory.extraction.ingest import Adder
from abilities.memory.extraction.rules_self import EXTRACTOR, slot_of
from abilities.memory.extraction.secrets import is_secret
from abilities.memory.extraction.speech import said_in_turn
from abilities.memory.extraction.talk import MAX_READ, Reading, Talk
from abilities.memory.index.cache import StructuredIndexes
from abilities.memory.index.typeagent_index import checked, load
from abilities.memory.store.memories import Change, Reread
from abilities.memory.store.reread import schedule_reread
from abilities.memory.types import PERSON, Kind, Memory, Statement, Utterance
from core.language.asking import asks


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """Lets a model read people's statements after they were stored. Every step may be repeated.

    `by_model`: False if the settings name none any more, so that the rules' reading stands. `indexes` are updated after
    each reading.
    """

    adder: Adder
    by_model: bool = True
    indexes: StructuredIndexes | None = None

    async def unread(self, tenant_id: str, unread: Sequence[Memory] | None = None) -> Sequence[Memory]:
        """Return the oldest statements that a model is still to read, as many as a request reads.

        `unread`: those that were read already.
        """
        if unread is None:
            unread = await self.adder.store.unread(tenant_id, MAX_READ)
        while unread and not self.by_model:
            near = await self.near(tenant_id, unread)
            readings = [await self._by_rule(memory, near[memory.number]) for memory in unread]
            await self.adder.store.reread(tenant_id, readings, indexed=False)
            unread = await self.adder.store.unread(tenant_id, MAX_READ)
        return unread

    async def near(self, tenant_id: str, unread: Sequence[Memory]) -> Mapping[int, Sequence[Memory]]:
        """Return the memories that each statement may contradict, by its number."""
        vectors = await self.adder.embed(tenant_id, [memory.text for memory in unread])
        statements = [
            (memory.collection, replace(_statement(memory), vector=vector))
            for memory, vector in zip(unread, vectors, strict=True)
        ]
        found = await self.adder.candidates(tenant_id, statements)
        return {
            memory.number: [other for other in others if other.number < memory.number and not asks(memory.text)]
            for memory, others in zip(unread, found, strict=True)
        }

    async def keep(
        self,
        tenant_id: str,
        talk: Talk,
        near: Mapping[int, Sequence[Memory]],
        readings: Mapping[int, Reading],
        *,
        owner: str,
        ends: bool,
    ) -> bool:
        """Store a model's findings; return False if the talk has another owner. `ends`: the talk ends with it.

        If its answer had no form, the rules' reading stands.
        """
        await asyncio.to_thread(load)
        known = {memory.number: memory for memory in (*talk.unread, *talk.earlier)}
        found = [
            _found(memory, readings.get(memory.number), known) or await self._by_rule(memory, near[memory.number])
            for memory in talk.unread
        ]
        stored = await self.adder.store.reread(tenant_id, found, indexed=False, owner=owner, ends=ends)
        # A repeat after a lost answer finds the talk ended, which looks as if nothing was stored.
        if found and self.indexes is not None:
            self.indexes.soon(tenant_id)
        return stored

    async def give_up(self, tenant_id: str) -> None:
        """Hold back statements that no model could read, until a model has read them after all."""
        while unread := await self.unread(tenant_id):
            readings = [Reread(memory.id, memory.knowledge, STOOD_IN, held=True) for memory in unread]
            await self.adder.store.reread(tenant_id, readings, indexed=False)
            await schedule_reread(self.adder.store.database, tenant_id)

    async def _by_rule(self, memory: Memory, near: Sequence[Memory]) -> Reread:
        rules, change, statement = RuleExtractor(), Change(), _statement(memory)
        if memory.valid_to is None and not asks(memory.text) and rules.may_change(statement):
            change = await rules.changes(statement, near)
        return Reread(memory.id, memory.knowledge, EXTRACTOR, held=False, change=change)


def lines_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the words of both sides in the rows of some turns, without secrets and the words of others."""
    lines: list[str] = []
    for turn_id, of_turn in groupby(rows, key=lambda row: str(row["turn_id"])):
        for said in said_in_turn(turn_id, of_turn):
            if said.speaker == PERSON:
                who = "person"
            elif said.kind is Kind.OUTSIDE and said.key.endswith(":quoted"):
                continue
            else:
                who = "assistant"
            lines += [f"{who}: {line}" for line in said.text.splitlines() if line.strip() and not is_secret(line)]
    return lines


def _found(memory: Memory, reading: Reading | None, known: Mapping[int, Memory]) -> Reread | None:
    """Return a model's findings on a statement; None if its answer had no form."""
    knowledge = checked(reading.knowledge) if reading is not None else None
    if reading is None or knowledge is None:
        return None
    happens = reading.happens if _is_own(memory) and not asks(memory.text) else None
    tells = any(knowledge.values()) or slot_of(memory.text) is not None or happens is not None
    replaced = tuple(known[number].id for number in reading.replaces if tells and _may_end(memory, known[number]))
    repeated = known.get(reading.repeats)
    repeats = repeated.id if repeated is not None and _of_one(memory, repeated) else None
    by, held = ("model", False) if tells else (FOUND_NOTHING, True)
    return Reread(memory.id, merged(knowledge, memory.knowledge), by, held, Change(replaced, repeats), happens)


def _statement(memory: Memory) -> Statement:
    source = Utterance("", memory.text, memory.speaker, memory.kind, memory.said_at, memory.turn_id)
    return Statement(source, 0, memory.text, memory.knowledge, EXTRACTOR, memory.slot)


def _may_end(memory: Memory, other: Memory) -> bool:
    """Return whether a statement may end another: only a person's present statement ends their earlier statement."""
    return (
        other.kind is Kind.TOLD
        and memory.kind is Kind.TOLD
        and memory.valid_to is None
        and other.valid_to is None
        and _of_one(memory, other)
        and not asks(memory.text)
    )


def _is_own(memory: Memory) -> bool:
    """Return whether a memory is the person's own statement, kept for them alone."""
    return (memory.collection, memory.speaker, memory.kind) == ("", PERSON, Kind.TOLD)


def _of_one(memory: Memory, other: Memory) -> bool:
    return (other.collection, other.speaker, other.kind) == (memory.collection, memory.speaker, memory.kind)
