"""A memory to test on: one database, an embedder made of words, and a way to say things."""

import hashlib
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from abilities.memory.config import MomexConfig
from abilities.memory.extraction.words import stems_of
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.types import PERSON, Kind, Memory, Utterance, Vector
from core.db.database import Database
from tests.clocks import StandingClock
from tests.core.harness import Ids

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


class WordEmbedder:
    """Embed texts without a model: texts that share stems get similar vectors."""

    name = "words"
    floor = 0.25
    sure = 0.5

    def __init__(self) -> None:
        self.calls = 0

    def at_cost_of(self, tenant_id: str) -> "WordEmbedder":
        """Return itself: its calls cost nothing."""
        return self

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text."""
        self.calls += 1
        return [vector_of(text) for text in texts]


def vector_of(text: str, size: int = 64) -> Vector:
    """Return the normalised sum of one direction for each stem."""
    sums = [0.0] * size
    for word in sorted(stems_of(text)) or ["nothing"]:
        digest = hashlib.blake2b(word.encode(), digest_size=size).digest()
        for place, byte in enumerate(digest):
            sums[place] += byte / 127.5 - 1
    length = math.sqrt(sum(value * value for value in sums))
    return tuple(value / length for value in sums)


def make_momex(database: Database, **config: object) -> Momex:
    """Make a memory without any model; the structured retriever is off unless asked for."""
    given = {"structured": False, "patience": 5.0} | config
    return Momex(
        config=MomexConfig(**given),  # type: ignore[arg-type]
        database=database,
        parts=MomexParts(embedder=WordEmbedder(), make_id=Ids(), clock=StandingClock(NOW)),
    )


async def make_person(database: Database, tenant_id: str) -> str:
    """Make a tenant."""
    async with database.tenant(tenant_id) as connection:
        await connection.execute(
            "insert into tenants (tenant_id, name) values ($1, '') on conflict do nothing", tenant_id
        )
    return tenant_id


def told(text: str, *, key: str = "", days_ago: float = 0, kind: Kind = Kind.TOLD, speaker: str = PERSON) -> Utterance:
    """Return a statement made some days ago."""
    return Utterance(key or f"k:{text}", text, speaker, kind, NOW - timedelta(days=days_ago))


async def holding(momex: Momex, tenant_id: str) -> list[str]:
    """Return the texts that hold now, the oldest first."""
    return [memory.text for memory in reversed(await momex.store.newest(tenant_id, 100))]


async def everything(momex: Momex, tenant_id: str) -> list[Memory]:
    """Return all memories, the oldest first."""
    return list(reversed(await momex.store.newest(tenant_id, 1000, closed=True)))


async def caught_up(momex: Momex, tenant_id: str = "ann") -> dict[str, int]:
    """Bring a person's index to the newest version, however long typeagent takes to load; return what is held."""
    assert momex.indexes is not None
    await momex.indexes.catch_up(tenant_id)
    return momex.indexes.held


def made_life(count: int) -> list[Utterance]:
    """Return messages of which each tenth contradicts an earlier one, and each seventh repeats one."""
    sources = []
    for number in range(count):
        text = f"I met neighbour {number} near bridge {number * 3}. Then we saw boat {number}."
        if number % 10 == 0:
            text = f"I live in Town{number} now."
        elif number % 7 == 0:
            text = "I like the long way home."
        sources.append(told(text, key=f"life:{number}", days_ago=(count - number) / 24))
    return sources
