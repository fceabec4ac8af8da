"""Statements are stored at once, by rule; a model reads them later, with all others until their person is quiet."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from abilities.memory.extraction.extractors import (
    FOUND_NOTHING,
    STOOD_IN,
    UNREAD,
    RuleExtractor,
    merged,
)
from abilities.memory.extraction.ingest import Adder
from abilities.memory.extraction.rules_self import EXTRACTOR, slot_of
from abilities.memory.extraction.secrets import is_secret
from abilities.memory.extraction.speech import said_in_turn
from abilities.memory.extraction.talk import MAX_READ, Reading, Talk
from abilities.memory.index.typeagent_index import checked, load
from abilities.memory.store.memories import Change
from abilities.memory.store.reread import schedule_reread
from abilities.memory.types import PERSON, Kind, Memory, Statement, Utterance
from core.db.database import Connection
from core.json_types import JsonObject
from core.language.asking import asks


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """Lets a model read people's statements after they were stored. Every step may be repeated.

    `by_model`: False if the settings name none any more, so that the rules' reading stands.
    """

    adder: Adder
    by_model: bool = True

    async def unread(self, tenant_id: str) -> list[Memory]:
        """Return the oldest statements that a model is still to read, as many as a request reads."""
        unread = await self.adder.store.unread(tenant_id, MAX_READ)
        while unread and not self.by_model:
            for memory in unread:
                await self._by_rule(tenant_id, memory)
            unread = await self.adder.store.unread(tenant_id, MAX_READ)
        return unread

    async def earlier(self, tenant_id: str, unread: Sequence[Memory]) -> list[Memory]:
        """Return the memories that the statements may contradict, but for these themselves."""
        found: dict[int, Memory] = {}
        for memory in unread:
            if not asks(memory.text):
                found |= {each.number: each for each in await self._candidates(tenant_id, memory)}
        own = {memory.number for memory in unread}
        return [found[number] for number in sorted(found) if number not in own]

    async def keep(self, tenant_id: str, talk: Talk, readings: Mapping[int, Reading]) -> None:
        """Store a model's findings. If its answer had no form, the rules' reading stands."""
        await asyncio.to_thread(load)
        known = {memory.number: memory for memory in (*talk.unread, *talk.earlier)}
        for memory in talk.unread:
            reading = readings.get(memory.number)
            knowledge = checked(reading.knowledge) if reading is not None else None
            if reading is None or knowledge is None:
                await self._by_rule(tenant_id, memory)
                continue
            tells = any(knowledge.values()) or slot_of(memory.text) is not None
            replaced = tuple(
                known[number].id for number in reading.replaces if tells and _may_end(memory, known[number])
            )
            repeated = known.get(reading.repeats)
            repeats = repeated.id if repeated is not None and _of_one(memory, repeated) else None
            by = "model" if tells else FOUND_NOTHING
            await self._store(tenant_id, memory, merged(knowledge, memory.knowledge), by, Change(replaced, repeats))

    async def give_up(self, tenant_id: str) -> None:
        """Hold back statements that no model could read, until a model has read them after all."""
        while unread := await self.unread(tenant_id):
            for memory in unread:
                await self._store(tenant_id, memory, memory.knowledge, STOOD_IN, Change())
            await schedule_reread(self.adder.store.database, tenant_id)

    async def _by_rule(self, tenant_id: str, memory: Memory) -> None:
        statement = _statement(memory, memory.knowledge, EXTRACTOR)
        rules, change = RuleExtractor(), Change()
        if memory.valid_to is None and not asks(memory.text) and rules.may_change(statement):
            change = await rules.changes(statement, await self._candidates(tenant_id, memory))
        await self._store(tenant_id, memory, memory.knowledge, EXTRACTOR, change)

    async def _store(self, tenant_id: str, memory: Memory, knowledge: JsonObject, by: str, change: Change) -> None:
        statement = _statement(memory, knowledge, by)
        terms = await self.adder.terms(tenant_id, [statement])
        store = self.adder.store
        name = self.adder.embedder.name
        await store.reread(tenant_id, memory, statement, change.replaces, name, terms, indexed=False)
        if change.repeats:
            await store.replace(tenant_id, memory.id, change.repeats, memory.said_at)

    async def _candidates(self, tenant_id: str, memory: Memory) -> list[Memory]:
        [vector] = await self.adder.embed(tenant_id, [memory.text])
        statement = replace(_statement(memory, memory.knowledge, UNREAD), vector=vector)
        found = await self.adder.candidates(tenant_id, memory.collection, statement)
        return [other for other in found if other.number < memory.number]


async def lines_of(connection: Connection, tenant_id: str, turn_ids: Sequence[str]) -> list[str]:
    """Return the words of both sides in some turns, without secrets and the words of others."""
    lines: list[str] = []
    for turn_id in turn_ids:
        for said in await said_in_turn(connection, tenant_id, turn_id):
            if said.speaker == PERSON:
                who = "person"
            elif said.kind is Kind.OUTSIDE and said.key.endswith(":quoted"):
                continue
            else:
                who = "assistant"
            lines += [f"{who}: {line}" for line in said.text.splitlines() if line.strip() and not is_secret(line)]
    return lines


def _statement(memory: Memory, knowledge: JsonObject, by: str) -> Statement:
    source = Utterance("", memory.text, memory.speaker, memory.kind, memory.said_at, memory.turn_id)
    held = by in (STOOD_IN, FOUND_NOTHING)
    return Statement(source, 0, memory.text, knowledge, by, memory.slot, held=held)


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


def _of_one(memory: Memory, other: Memory) -> bool:
    return (other.collection, other.speaker, other.kind) == (memory.collection, memory.speaker, memory.kind)
