"""The two scans over one person's memories: by words, and by likeness of vectors. Both are exact.

They are written so that ten thousand memories cost milliseconds: a wide row is read once and carried nowhere, and what
is not asked for does not stand in the statement, so that the plan fits what is.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.db.database import Connection
from core.memory.types import Vector


@dataclass(frozen=True, slots=True)
class Looked:
    """Which memories count. `closed`: those that hold no longer too."""

    collections: Sequence[str] = ()
    told_only: bool = False
    closed: bool = False

    def where(self) -> str:
        """Write it over `m`, with the tenant as $1 and the collections as $2."""
        parts = ["m.tenant_id = $1", f"({WITHIN})" if self.collections else "cardinality($2::text[]) = 0"]
        parts += [] if self.closed else ["m.valid_to is null"]
        parts += ["m.kind = 'told'"] if self.told_only else []
        return " and ".join(parts)


WITHIN = "m.collection = any ($2) or exists (select from unnest($2::text[]) p where m.collection like p || ':%')"
"""A collection and all below it: `team:eng` takes in `team:eng:alice`."""


async def nearest(
    connection: Connection, tenant_id: str, vector: Vector, embedder: str, most: int, looked: Looked
) -> list[tuple[str, float]]:
    """Return the memories nearest to a vector with their likeness.

    Vectors are compared and put in order alone; the memories are looked at from the nearest on, until there are enough.
    """
    rows = await connection.fetch(
        "select v.id, v.likeness from ("  # noqa: S608
        "  select v.memory_id as id, -(v.embedding <#> $3::text::vector) as likeness from memory_vectors v"
        "  where v.tenant_id = $1 and v.embedder = $4 order by 2 desc, 1 offset 0) v"
        f" join lateral (select from memories m where {looked.where()} and m.id = v.id offset 0) m on true"
        " order by v.likeness desc, v.id limit $5",
        tenant_id, list(looked.collections), vector_text(vector), embedder, most,
    )  # fmt: skip
    return [(row["id"], float(row["likeness"])) for row in rows]


async def holding(
    connection: Connection, tenant_id: str, words: Mapping[str, float], most: int, looked: Looked
) -> list[tuple[str, float, int]]:
    """Return the memories that hold any of the words, with the rank and how many of the words they hold.

    A word weighs the more the fewer of this person's memories hold it, times its own weight; what weighs less than
    one is not counted. Every memory is asked once for all words, and only those that hold one for each.
    """
    rows = await connection.fetch(
        "with asked as materialized (select plainto_tsquery('english', w) as q, max(s) as share"  # noqa: S608
        "  from unnest($3::text[], $5::float8[]) x (w, s) where numnode(plainto_tsquery('english', w)) > 0 group by 1),"
        " mine as materialized (select m.id, m.words from memories m"
        f"  where {looked.where()} and m.words @@ (select string_agg(a.q::text, ' | ')::tsquery from asked a)),"
        " met as materialized (select x.id, a.q, a.share, length(x.words) as size from mine x join asked a"
        "  on x.words @@ a.q),"
        f" everything as materialized (select count(*)::float8 as n from memories m where {looked.where()}),"
        " rare as materialized (select q, ln(1 + (select n from everything) / count(*)) as weight from met group by q)"
        " select t.id, sum(r.weight * t.share) / (1 + 0.03 * min(t.size)) as rank,"
        " count(*) filter (where t.share >= 1) as held"
        " from met t join rare r on r.q = t.q group by t.id order by rank desc, t.id limit $4",
        tenant_id, list(looked.collections), list(words), most, list(words.values()),
    )  # fmt: skip
    return [(row["id"], float(row["rank"]), int(row["held"])) for row in rows]


def vector_text(vector: Sequence[float]) -> str:
    """Write a vector as pgvector reads it."""
    return "[" + ",".join(f"{number:.9g}" for number in vector) + "]"


def received(sent: bytes) -> Vector:
    """Read a vector as pgvector sends it: two numbers of two bytes, then big-endian floats. Text takes thirty times."""
    numbers = array("f", sent[4:])
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers
