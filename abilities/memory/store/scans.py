"""The searches over a person's memories, by words and by likeness of vectors, and for the same words."""

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import asyncpg

from abilities.memory.extraction.words import is_unspaced
from abilities.memory.types import Kind, Memory, Vector
from core.db.database import Database


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search of memories: `words` with their weights, and a `vector` of this embedder; `ids` are read in any case.

    `same` are the words and phrases that mean the same as another, each with that word: any of them counts by its
    weight if the word itself is not held. Other words that weigh less than 1 are not counted. `closed` includes
    memories that hold no longer; `collections`: those in which to search, with all below them.
    """

    limit: int
    words: Mapping[str, float] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    vector: Vector = ()
    embedder: str = ""
    ids: Sequence[str] = ()
    collections: Sequence[str] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a search, the best first: by words with rank and weight of the words held, by vector with likeness.

    `ended`: the person's statements that hold no longer, the newest first, and `after`, those that replaced them, by
    id; empty unless words of the assistant that hold are among the memories.
    """

    by_words: Sequence[tuple[str, float, float]] = ()
    by_vector: Sequence[tuple[str, float]] = ()
    memories: Mapping[str, Memory] = field(default_factory=dict)
    ended: Sequence[Memory] = ()
    after: Mapping[str, Memory] = field(default_factory=dict)


async def find_memories(database: Database, tenant_id: str, wanted: Wanted) -> Found:
    """Search a person's memories, in a single round trip."""
    words = wanted.words
    rows = await database.rows(
        "select * from recall_memories($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
        tenant_id,
        _patterns(wanted.collections),
        wanted.closed,
        list(words),
        list(words.values()),
        [wanted.same.get(word, word if weight >= 1 else "") for word, weight in words.items()],
        [word if is_unspaced(word) else None for word in words],
        vector_text(wanted.vector) if wanted.vector else None,
        wanted.embedder,
        wanted.limit,
        list(wanted.ids),
    )
    by: dict[str, list[asyncpg.Record]] = {}
    for row in rows:
        by.setdefault(row["found_by"], []).append(row)
    found, ended, after = (by.get(way, []) for way in ("text", "ended", "after"))
    near = by.get("vector", [])
    return Found(
        [(row["id"], row["score"], row["counted"]) for row in found],
        [(row["id"], row["score"]) for row in near],
        {row["id"]: memory_of(row) for row in chain(found, near, by.get("", ()))},
        [memory_of(row) for row in ended],
        {row["id"]: memory_of(row) for row in after},
    )


def memory_of(row: asyncpg.Record) -> Memory:
    """Return the memory of a row, which has further columns after those of a memory or before them."""
    return Memory(**{name: row[name] for name in Memory.__slots__} | {"kind": Kind(row["kind"])})


async def find_with_same_words(
    database: Database, tenant_id: str, collection: str, texts: Sequence[str]
) -> dict[tuple[str, Kind], str]:
    """Return the ids of memories that hold now and have the same words as any of the texts, by text and kind."""
    plain = "btrim(regexp_replace(lower(%s), '\\W+', ' ', 'g'))"
    rows = await database.tenant_rows(
        tenant_id,
        "select asked.text, m.kind, m.id from unnest($3::text[]) asked (text) join memories m"  # noqa: S608
        f" on {plain % 'm.text'} = {plain % 'asked.text'}"
        " where m.tenant_id = $1 and m.collection = $2 and m.valid_to is null and not m.held",
        collection,
        list(texts),
    )
    return {(row["text"], Kind(row["kind"])): row["id"] for row in rows}


def vector_text(vector: Sequence[float]) -> str:
    return "[" + ",".join(f"{number:.9g}" for number in vector) + "]"


def read_vector(sent: bytes) -> Vector:
    """Parse the binary form of pgvector: two numbers of two bytes, then big-endian floats.

    Reading the text form takes thirty times as long.
    """
    numbers = array("f", sent[4:])
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def _patterns(collections: Sequence[str]) -> list[str]:
    """Return the patterns of `like` for collections and all below them: `team:eng` includes `team:eng:alice`."""
    escaped = [name.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") for name in collections]
    return [pattern for name in escaped for pattern in (name, f"{name}:%")] or ["%"]
