"""The scans over a person's memories: by words, by likeness of vectors, and for the same words. All are exact.

Ten thousand memories cost milliseconds: a wide row is read once and never carried through a sort, and a condition that
is not needed is left out of the statement, so that the plan fits.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from abilities.memory.extraction.words import is_unspaced
from abilities.memory.types import Kind, Vector
from core.db.database import Database


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories to search, of those that are not held back. `closed` includes those that hold no longer."""

    collections: Sequence[str] = ()
    told_only: bool = False
    closed: bool = False

    def sql(self) -> str:
        """Return the condition over `m`, with the tenant as $1 and the collections as $2."""
        parts = ["m.tenant_id = $1", f"({_WITHIN})" if self.collections else "cardinality($2::text[]) = 0"]
        parts += ["not m.held"] + ([] if self.closed else ["m.valid_to is null"])
        parts += ["m.kind = 'told'"] if self.told_only else []
        return " and ".join(parts)


_WITHIN = "m.collection = any ($2) or exists (select from unnest($2::text[]) p where m.collection like p || ':%')"
"""A collection and all below it: `team:eng` includes `team:eng:alice`."""
CURRENT = MemoryFilter()
"""Everything that holds now."""


async def find_by_vector(
    database: Database, tenant_id: str, vector: Vector, embedder: str, limit: int, where: MemoryFilter = CURRENT
) -> list[tuple[str, float]]:
    """Return the memories nearest to a vector with their likeness.

    Vectors are compared and sorted alone; then memories are read from the nearest on, until there are enough.
    """
    rows = await database.tenant_rows(
        tenant_id,
        "select v.id, v.likeness from ("  # noqa: S608
        "  select v.memory_id as id, -(v.embedding <#> $3::text::vector) as likeness from memory_vectors v"
        "  where v.tenant_id = $1 and v.embedder = $4 order by 2 desc, 1 offset 0) v"
        f" join lateral (select from memories m where {where.sql()} and m.id = v.id offset 0) m on true"
        " order by v.likeness desc, v.id limit $5",
        list(where.collections),
        vector_text(vector),
        embedder,
        limit,
    )
    return [(row["id"], float(row["likeness"])) for row in rows]


async def find_by_words(
    database: Database,
    tenant_id: str,
    words: Mapping[str, float],
    limit: int,
    where: MemoryFilter = CURRENT,
    same: Mapping[str, str] = MappingProxyType({}),
) -> list[tuple[str, float, float]]:
    """Return the memories that hold any of the words, with the rank and the number of words that they hold.

    A word weighs more the fewer of this person's memories hold it, times its own weight. `same` are the words and
    phrases that mean the same as another, each with that word: any of them counts by its weight if the word itself
    is not held. Other words that weigh less than 1 are not counted. Every memory is tested once for all words, and
    only those that match for each word. Words of languages without spaces are looked for anywhere in the text.
    """
    rows = await database.tenant_rows(
        tenant_id,
        "with asked as materialized (select distinct on (term) q, part, s as share, c as counts_as,"  # noqa: S608
        "  coalesce(part, q::text) as term"
        "  from unnest($3::text[], $5::float8[], $6::text[], $7::text[]) x (w, s, c, part), lateral (select case"
        "   when part is not null then null when w like '% %' then phraseto_tsquery('simple', w)"
        "   else plainto_tsquery('english', w) end) y (q)"
        "  where part is not null or numnode(q) > 0 order by term, s desc),"
        " mine as materialized (select m.id, m.words, m.text from memories m"
        f"  where {where.sql()} and (m.words @@ (select string_agg(a.q::text, ' | ')::tsquery from asked a)"
        "   or exists (select from asked a where strpos(m.text, a.part) > 0))),"
        " met as materialized (select x.id, a.term, a.share, a.counts_as, length(x.words) as size from mine x"
        "  join asked a on x.words @@ a.q or strpos(x.text, a.part) > 0),"
        " held as materialized (select id, sum(share) as held from ("
        "  select id, max(share) as share from met where counts_as <> '' group by id, counts_as) x group by id),"
        f" everything as materialized (select count(*)::float8 as n from memories m where {where.sql()}),"
        " rare as materialized (select term, ln(1 + (select n from everything) / count(*)) as weight"
        "  from met group by term)"
        " select t.id, sum(r.weight * t.share) / (1 + 0.03 * min(t.size)) as rank, coalesce(max(h.held), 0) as held"
        " from met t join rare r on r.term = t.term left join held h on h.id = t.id"
        " group by t.id order by rank desc, t.id limit $4",
        list(where.collections),
        list(words),
        limit,
        list(words.values()),
        [same.get(word, word if weight >= 1 else "") for word, weight in words.items()],
        [word if is_unspaced(word) else None for word in words],
    )
    return [(row["id"], float(row["rank"]), float(row["held"])) for row in rows]


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
