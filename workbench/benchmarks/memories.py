"""Memories of people, made by statements, with vectors of the encoder that ships and the findings of the rules."""

import json

import asyncpg

from abilities.memory.extraction.rules_self import EXTRACTOR, knowledge_of
from abilities.memory.index.embedder import SentenceEncoder
from abilities.memory.store.scans import vector_text
from abilities.memory.types import PERSON

_FACTS = (
    "I live in Bonn with my sister Anna.",
    "My dog is called Rex, and he is afraid of thunder.",
    "I am allergic to hazelnuts.",
    "My car is a blue Skoda with a dent in its door.",
    "On Tuesdays I play badminton with Tom.",
)
_VERSIONS = """
insert into memory_versions (tenant_id) select tenant_id from tenants where tenant_id like $1 on conflict do nothing
"""
_MEMORIES = """
insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, knowledge, extractor, valid_from)
select v.tenant_id, 'filled_' || v.version + n, v.version + n, f.text || ' Entry ' || n, $3, 'told',
       'filled:' || v.version + n, now() - interval '1 day', f.knowledge::jsonb, $4, now() - interval '1 day'
from memory_versions v, generate_series(1, $2::int) n
join unnest($5::text[], $6::text[]) with ordinality f (text, knowledge, place) on f.place = 1 + n % cardinality($5)
where v.tenant_id like $1
"""
_VECTORS = """
with f as materialized (select vector::vector, place from unnest($3::text[]) with ordinality f (vector, place))
insert into memory_vectors (tenant_id, memory_id, embedder, embedding)
select v.tenant_id, 'filled_' || v.version + n, $4, f.vector
from memory_versions v, generate_series(1, $2::int) n join f on f.place = 1 + n % cardinality($3)
where v.tenant_id like $1
"""
_COUNTED = "update memory_versions set version = version + $2::int where tenant_id like $1"


async def fill(connection: "asyncpg.Connection[asyncpg.Record]", people: str, each: int) -> None:
    """Insert memories of all people whose ids match a pattern."""
    encoder = SentenceEncoder()
    try:
        vectors = [vector_text(vector) for vector in await encoder.embed(_FACTS)]
    finally:
        encoder.close()
    knowledge = [json.dumps(knowledge_of(text, PERSON)) for text in _FACTS]
    async with connection.transaction():  # a worker would embed what has no vector
        await connection.execute(_VERSIONS, people)
        await connection.execute(_MEMORIES, people, each, PERSON, EXTRACTOR, _FACTS, knowledge)
        await connection.execute(_VECTORS, people, each, vectors, SentenceEncoder.name)
        await connection.execute(_COUNTED, people, each)
