"""Memory's truth in Postgres: what is remembered of a person, its vectors, and the jobs that add to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import asyncpg

from core.db.database import Connection, Database
from core.ids import IdMaker
from core.json_types import JsonObject, storable
from core.memory.store.scans import WITHIN, Looked, holding, nearest, received, vector_text
from core.memory.types import Kind, Memory, Recall, Statement, Vector, Version

_COLUMNS = (
    "m.id, m.number, m.collection, m.text, m.speaker, m.kind, m.said_at, m.valid_from, m.valid_to,"
    " coalesce(m.superseded_by, '') as superseded_by, m.slot, coalesce(m.turn_id, '') as turn_id, m.knowledge"
)


READING = "reading"
"""The id of the job that reads a person's memories again."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a new statement does to what is known: closes memories, or only repeats one."""

    replaces: tuple[str, ...] = ()
    repeats: str = ""


class MemoryStore:
    """The memories of all people; every call names whose. Writes may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self.database = database
        self._make_id = make_id

    async def version(self, tenant_id: str) -> Version:
        """Return where a person's memory stands; zero for one of whom nothing is remembered."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow(
                "select version, epoch from memory_versions where tenant_id = $1", tenant_id
            )
        return Version(row["version"], row["epoch"]) if row else Version()

    async def known(self, tenant_id: str, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that are kept already."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select source_key from memories where tenant_id = $1 and source_key = any ($2)", tenant_id, list(keys)
            )
        return frozenset(row["source_key"] for row in rows)

    async def keep(
        self,
        tenant_id: str,
        collection: str,
        changes: Sequence[tuple[Statement, Change]],
        embedder: str,
        terms: Mapping[str, Vector],
    ) -> list[str]:
        """Keep statements in order, in one transaction, and do what each does to the rest; return the new ids."""
        added: list[str] = []
        async with self.database.tenant(tenant_id) as connection:
            number = await _lock(connection, tenant_id)
            for statement, change in changes:
                if change.repeats:
                    await connection.execute(
                        "update memories set repeated = repeated + 1, said_at = greatest(said_at, $3)"
                        " where tenant_id = $1 and id = $2",
                        tenant_id, change.repeats, statement.said.said_at,
                    )  # fmt: skip
                    continue
                memory_id = await self._insert(connection, tenant_id, collection, number + 1, statement, embedder)
                if memory_id is None:
                    continue
                number += 1
                added.append(memory_id)
                await connection.execute(
                    "update memories set valid_to = $3, superseded_by = $4"
                    " where tenant_id = $1 and id = any ($2) and valid_to is null and id <> $4",
                    tenant_id, list(change.replaces), statement.said.said_at, memory_id,
                )  # fmt: skip
            await _insert_terms(connection, tenant_id, embedder, terms)
            await connection.execute("update memory_versions set version = $2 where tenant_id = $1", tenant_id, number)
        return added

    async def _insert(
        self, connection: Connection, tenant_id: str, collection: str, number: int, one: Statement, embedder: str
    ) -> str | None:
        memory_id = await connection.fetchval(
            "insert into memories (tenant_id, id, number, collection, text, speaker, kind, source_key, turn_id,"
            " said_at, slot, knowledge, extractor, valid_from)"
            " values ($1,$2,$3,$4,$5,$6,$7,$8,nullif($9,''),$10,$11,$12,$13,$10)"
            " on conflict (tenant_id, source_key) do nothing returning id",
            tenant_id,
            self._make_id("mem"),
            number,
            storable(collection),
            storable(one.text),
            storable(one.said.speaker),
            one.said.kind.value,
            storable(one.key),
            one.said.turn_id,
            one.said.said_at,
            storable(one.slot),
            one.knowledge,
            one.extractor,
        )
        if memory_id is not None and one.vector:
            await connection.execute(
                "insert into memory_vectors (tenant_id, memory_id, embedder, embedding)"
                " values ($1, $2, $3, $4::text::vector)",
                tenant_id, memory_id, embedder, vector_text(one.vector),
            )  # fmt: skip
        return cast("str | None", memory_id)

    async def memories(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Memory]:
        """Return memories by id; those that are gone are left out."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m where m.tenant_id = $1 and m.id = any ($2)",  # noqa: S608
                tenant_id, list(ids),
            )  # fmt: skip
        return {row["id"]: memory_of(row) for row in rows}

    async def numbered(self, tenant_id: str, numbers: Sequence[int]) -> list[Memory]:
        """Return memories by the numbers that the person is shown."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m"  # noqa: S608
                " where m.tenant_id = $1 and m.number = any ($2) order by m.number",
                tenant_id, list(numbers),
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def newest(
        self,
        tenant_id: str,
        most: int,
        collections: Sequence[str] = (),
        *,
        told_only: bool = False,
        closed: bool = False,
    ) -> list[Memory]:
        """Return the newest memories, the newest first; `closed` takes in what holds no longer."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m where m.tenant_id = $1"  # noqa: S608
                f" and (cardinality($2::text[]) = 0 or {WITHIN})"
                " and ($3 or m.valid_to is null) and (not $4 or m.kind = 'told') order by m.number desc limit $5",
                tenant_id, list(collections), closed, told_only, most,
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def by_vector(
        self, tenant_id: str, vector: Vector, embedder: str, most: int, collections: Sequence[str] = (),
        *, told_only: bool = False, closed: bool = False,
    ) -> list[tuple[str, float]]:  # fmt: skip
        """Return the memories nearest to a vector with their likeness, by a scan over all of this person's."""
        async with self.database.tenant(tenant_id) as connection:
            looked = Looked(collections, told_only, closed)
            return await nearest(connection, tenant_id, vector, embedder, most, looked)

    async def by_text(
        self, tenant_id: str, words: Mapping[str, float], most: int, collections: Sequence[str] = (),
        *, told_only: bool = False, closed: bool = False,
    ) -> list[tuple[str, float, int]]:  # fmt: skip
        """Return the memories that hold any of the words, with the rank and how many of the words they hold."""
        async with self.database.tenant(tenant_id) as connection:
            return await holding(connection, tenant_id, words, most, Looked(collections, told_only, closed))

    async def in_slot(self, tenant_id: str, collection: str, slot: str) -> list[Memory]:
        """Return the memories of a slot that hold now, told by the person."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m where m.tenant_id = $1 and m.collection = $2"  # noqa: S608
                " and m.slot = $3 and m.valid_to is null and m.kind = 'told' order by m.number",
                tenant_id, collection, slot,
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def in_slots(self, tenant_id: str, slots: Sequence[str]) -> list[Memory]:
        """Return the memories of some slots that hold now, in any collection, the newest first."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m where m.tenant_id = $1"  # noqa: S608
                " and m.slot = any ($2) and m.valid_to is null and m.kind = 'told' order by m.number desc limit 5",
                tenant_id, list(slots),
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def after(self, tenant_id: str, number: int, most: int) -> list[Memory]:
        """Return what came after a number, in order, for an index that catches up."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m"  # noqa: S608
                " where m.tenant_id = $1 and m.number > $2 order by m.number limit $3",
                tenant_id, number, most,
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def terms(self, tenant_id: str, embedder: str, terms: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of terms that are kept."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select term, vector_send(embedding) as vector from memory_terms"
                " where tenant_id = $1 and embedder = $2 and term = any ($3)",
                tenant_id, embedder, list(terms),
            )  # fmt: skip
        return {row["term"]: received(row["vector"]) for row in rows}

    async def keep_terms(self, tenant_id: str, embedder: str, terms: Mapping[str, Vector], epoch: int) -> None:
        """Keep the vectors of terms, unless anything went since that epoch: one of them may be what was forgotten."""
        async with self.database.tenant(tenant_id) as connection:
            now = await connection.fetchval(
                "select epoch from memory_versions where tenant_id = $1 for update", tenant_id
            )
            if now == epoch:
                await _insert_terms(connection, tenant_id, embedder, terms)

    async def without_vector(self, tenant_id: str, embedder: str, most: int) -> list[Memory]:
        """Return memories that this embedder has not embedded: another one did, or none could."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m where m.tenant_id = $1 and not exists (select from"  # noqa: S608
                " memory_vectors v where v.tenant_id = m.tenant_id and v.memory_id = m.id and v.embedder = $2)"
                " order by m.number limit $3",
                tenant_id, embedder, most,
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def unembedded(self, embedder: str, most: int) -> list[str]:
        """Return some people of whom this embedder has not embedded all memories."""
        rows = await self.database.rows("select * from memory_unembedded($1, $2)", embedder, most)
        return [row["tenant_id"] for row in rows]

    async def add_vectors(self, tenant_id: str, embedder: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors of memories by id, save of those forgotten meanwhile; those of other embedders go.

        Indexes are made anew.
        """
        async with self.database.tenant(tenant_id) as connection:
            await connection.executemany(
                "insert into memory_vectors (tenant_id, memory_id, embedder, embedding)"
                " select m.tenant_id, m.id, $3, $4::text::vector from memories m"
                " where m.tenant_id = $1 and m.id = $2 for key share on conflict do nothing",
                [(tenant_id, one, embedder, vector_text(vector)) for one, vector in vectors.items()],
            )
            await connection.execute(
                "delete from memory_vectors where tenant_id = $1 and memory_id = any ($2) and embedder <> $3",
                tenant_id, list(vectors), embedder,
            )  # fmt: skip
            await connection.execute(
                "delete from memory_terms where tenant_id = $1 and embedder <> $2", tenant_id, embedder
            )
            await connection.execute("update memory_versions set epoch = epoch + 1 where tenant_id = $1", tenant_id)

    async def read_by(self, tenant_id: str, extractor: str, most: int) -> list[Memory]:
        """Return memories that this extractor has read."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m where m.tenant_id = $1 and m.extractor = $2"  # noqa: S608
                " order by m.number limit $3",
                tenant_id, extractor, most,
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def schedule_reread(self, tenant_id: str) -> None:
        """Have a job read again, in a while, what rules read."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "insert into memory_jobs (tenant_id, id, not_before) values ($1, $2, clock_timestamp() + $3)"
                " on conflict do nothing",
                tenant_id, READING, delay_after(3),
            )  # fmt: skip

    async def read_anew(
        self, tenant_id: str, memory: Memory, read: Statement, replaces: Sequence[str], embedder: str,
        terms: Mapping[str, Vector],
    ) -> None:  # fmt: skip
        """Keep what another extractor found in a memory, and what it ends; indexes are made anew."""
        async with self.database.tenant(tenant_id) as connection:
            await _lock(connection, tenant_id)
            there = await connection.fetchval(
                "update memories set knowledge = $3, extractor = $4 where tenant_id = $1 and id = $2 returning true",
                tenant_id, memory.id, read.knowledge, read.extractor,
            )  # fmt: skip
            if not there:
                return  # it was forgotten meanwhile
            await connection.execute(
                "update memories set valid_to = $3, superseded_by = $4"
                " where tenant_id = $1 and id = any ($2) and valid_to is null and id <> $4",
                tenant_id, list(replaces), memory.said_at, memory.id,
            )  # fmt: skip
            await _insert_terms(connection, tenant_id, embedder, terms)
            await connection.execute("update memory_versions set epoch = epoch + 1 where tenant_id = $1", tenant_id)

    async def reinstate(self, tenant_id: str, memory_id: str, now: datetime) -> None:
        """Let a memory hold again that was replaced; what had replaced it, and speaks of the same, ends."""
        async with self.database.tenant(tenant_id) as connection:
            replacement = await connection.fetchval(
                "select superseded_by from memories where tenant_id = $1 and id = $2", tenant_id, memory_id
            )
            await connection.execute(
                "update memories set valid_to = null, superseded_by = null where tenant_id = $1 and id = $2",
                tenant_id, memory_id,
            )  # fmt: skip
            await connection.execute(
                "update memories set valid_to = $3, superseded_by = $4 where tenant_id = $1 and id = $2",
                tenant_id, replacement, now, memory_id,
            )  # fmt: skip

    async def replace(self, tenant_id: str, old_id: str, new_id: str, now: datetime) -> None:
        """End a memory in favour of another, because the person said so."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "update memories set valid_to = coalesce(valid_to, $4), superseded_by = $3"
                " where tenant_id = $1 and id = $2 and id <> $3",
                tenant_id, old_id, new_id, now,
            )  # fmt: skip

    async def saying(self, tenant_id: str, phrase: str) -> list[Memory]:
        """Return all memories, those that hold no longer too, in which a phrase stands."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"select {_COLUMNS} from memories m"  # noqa: S608
                " where m.tenant_id = $1 and says_any(m.text, array[$2]) order by m.number",
                tenant_id, phrase,
            )  # fmt: skip
        return [memory_of(row) for row in rows]

    async def saying_the_same(
        self, tenant_id: str, collection: str, texts: Sequence[str]
    ) -> dict[tuple[str, Kind], str]:
        """Return the memories that hold now and say one of these in the same words, by text and kind."""
        plain = "btrim(regexp_replace(lower(%s), '\\W+', ' ', 'g'))"
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select asked.text, m.kind, m.id from unnest($3::text[]) asked (text) join memories m"  # noqa: S608
                f" on {plain % 'm.text'} = {plain % 'asked.text'}"
                " where m.tenant_id = $1 and m.collection = $2 and m.valid_to is null",
                tenant_id, collection, list(texts),
            )  # fmt: skip
        return {(row["text"], Kind(row["kind"])): row["id"] for row in rows}

    async def record(self, tenant_id: str, turn_id: str, recall: Recall) -> None:
        """Write down for the trace what each leg found for a turn."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "insert into memory_recalls (tenant_id, turn_id, report)"
                " select $1, $2, $3 where exists (select from turns where tenant_id = $1 and id = $2)"
                " on conflict (tenant_id, turn_id) do update set report = excluded.report",
                tenant_id, turn_id, recall.to_json(),
            )  # fmt: skip


async def _lock(connection: Connection, tenant_id: str) -> int:
    """Hold a person's memory until the transaction ends, so that numbers are given in the order of commits."""
    number = await connection.fetchval(
        "insert into memory_versions as v (tenant_id) values ($1)"
        " on conflict (tenant_id) do update set version = v.version returning version",
        tenant_id,
    )
    return int(number)


async def _insert_terms(connection: Connection, tenant_id: str, embedder: str, terms: Mapping[str, Vector]) -> None:
    await connection.executemany(
        "insert into memory_terms (tenant_id, embedder, term, embedding) values ($1, $2, $3, $4::text::vector)"
        " on conflict do nothing",
        [(tenant_id, embedder, storable(term), vector_text(vector)) for term, vector in terms.items()],
    )


def memory_of(row: asyncpg.Record) -> Memory:
    """Read a memory's row."""
    return Memory(
        id=row["id"],
        number=row["number"],
        collection=row["collection"],
        text=row["text"],
        speaker=row["speaker"],
        kind=Kind(row["kind"]),
        said_at=row["said_at"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        superseded_by=row["superseded_by"],
        slot=row["slot"],
        turn_id=row["turn_id"],
        knowledge=cast(JsonObject, row["knowledge"]),
    )


def delay_after(attempts: int) -> timedelta:
    """Return how long a job waits that failed so often."""
    return timedelta(seconds=min(5 * 4 ** max(attempts - 1, 0), 3600))
