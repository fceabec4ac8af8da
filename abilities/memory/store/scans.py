"""The searches over a person's memories, by words and by likeness of vectors."""

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import asyncpg

from abilities.memory.extraction.words import is_unspaced
from abilities.memory.types import Kind, Memory, Vector
from core.db.database import Database
from core.json_types import JsonObject


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
    slots: Sequence[str] = ()
    """The properties of which the person's statements that hold are read, in `collection` only or (None) in any."""
    collection: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a search, the best first: by words with rank and weight of the words held, by vector with likeness.

    `in_slots`: the person's statements on the properties, the newest first. `ended`: their statements that hold no
    longer, the newest first, and `after`, those that replaced them, by id; empty unless words of the assistant that
    hold are among the memories.
    """

    by_words: Sequence[tuple[str, float, float]] = ()
    by_vector: Sequence[tuple[str, float]] = ()
    in_slots: Sequence[str] = ()
    memories: Mapping[str, Memory] = field(default_factory=dict)
    ended: Sequence[Memory] = ()
    after: Mapping[str, Memory] = field(default_factory=dict)


async def find_memories(database: Database, tenant_id: str, *searches: Wanted) -> list[Found]:
    """Do several searches of a person's memories in a single round trip; return the hits of each."""
    rows = await database.rows(
        "select s.place, r.* from jsonb_to_recordset($2) as s (place int, within text[], closed boolean, words text[],"
        " shares float8[], counts_as text[], parts text[], vector text, embedder text, most int, ids text[],"
        " collection text, slots text[]), recall_memories($1, s.within, s.closed, s.words, s.shares, s.counts_as,"
        " s.parts, s.vector, s.embedder, s.most, s.ids, s.collection, s.slots) r",
        tenant_id,
        [_row(place, wanted) for place, wanted in enumerate(searches)],
    )
    return [_found([row for row in rows if row["place"] == place]) for place in range(len(searches))]


def _row(place: int, wanted: Wanted) -> JsonObject:
    words = wanted.words
    return {
        "place": place,
        "within": [*_patterns(wanted.collections)],
        "closed": wanted.closed,
        "words": [*words],
        "shares": list(words.values()),
        "counts_as": [wanted.same.get(word, word if weight >= 1 else "") for word, weight in words.items()],
        "parts": [word if is_unspaced(word) else None for word in words],
        "vector": vector_text(wanted.vector) if wanted.vector else None,
        "embedder": wanted.embedder,
        "most": wanted.limit,
        "ids": list(wanted.ids),
        "collection": wanted.collection,
        "slots": list(wanted.slots),
    }


def _found(rows: Sequence[asyncpg.Record]) -> Found:
    by: dict[str, list[asyncpg.Record]] = {}
    for row in rows:
        by.setdefault(row["found_by"], []).append(row)
    words, near, ended, after = (by.get(way, []) for way in ("text", "vector", "ended", "after"))
    return Found(
        [(row["id"], row["score"], row["counted"]) for row in words],
        [(row["id"], row["score"]) for row in near],
        [row["id"] for row in by.get("slot", ())],
        {row["id"]: memory_of(row) for row in rows if row["found_by"] not in ("ended", "after")},
        [memory_of(row) for row in ended],
        {row["id"]: memory_of(row) for row in after},
    )


def memory_of(row: asyncpg.Record) -> Memory:
    """Return the memory of a row, which has further columns after those of a memory or before them."""
    return Memory(**{name: row[name] for name in Memory.__slots__} | {"kind": Kind(row["kind"])})


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
