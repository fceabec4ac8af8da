"""The vectors of memories and of the terms that they are indexed under, each by the embedder that made it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from abilities.memory.store.scans import read_vector, vector_text
from abilities.memory.store.versions import raise_epoch
from abilities.memory.types import Vector
from core.db.database import Connection, Database


@dataclass(frozen=True, slots=True)
class VectorStore:
    """Everybody's vectors; each call names the person. Writes may be repeated."""

    database: Database

    async def unembedded(self, embedder: str, limit: int) -> list[str]:
        """Return some of the people with memories that this embedder has not embedded."""
        rows = await self.database.rows("select * from memory_unembedded($1, $2)", embedder, limit)
        return [row["tenant_id"] for row in rows]

    async def missing(self, tenant_id: str, embedder: str, limit: int) -> dict[str, str]:
        """Return the texts of memories that this embedder has not embedded, by id: another did, or none could."""
        rows = await self.database.tenant_rows(
            tenant_id,
            "select m.id, m.text from memories m where m.tenant_id = $1 and not exists (select from memory_vectors v"
            " where v.tenant_id = m.tenant_id and v.memory_id = m.id and v.embedder = $2) order by m.number limit $3",
            embedder,
            limit,
        )
        return {row["id"]: row["text"] for row in rows}

    async def add(self, tenant_id: str, embedder: str, vectors: Mapping[str, Vector]) -> None:
        """Store the vectors of memories by id, and delete those of other embedders; every index is rebuilt."""
        async with self.database.tenant(tenant_id) as connection:
            # A memory may have been forgotten since it was read: the select leaves its vector out.
            await connection.executemany(
                "insert into memory_vectors (tenant_id, memory_id, embedder, embedding)"
                " select m.tenant_id, m.id, $3, $4::text::vector from memories m"
                " where m.tenant_id = $1 and m.id = $2 for key share on conflict do nothing",
                [(tenant_id, memory_id, embedder, vector_text(vector)) for memory_id, vector in vectors.items()],
            )
            await connection.execute(
                "delete from memory_vectors where tenant_id = $1 and memory_id = any ($2) and embedder <> $3",
                tenant_id,
                list(vectors),
                embedder,
            )
            await connection.execute(
                "delete from memory_terms where tenant_id = $1 and embedder <> $2", tenant_id, embedder
            )
            await raise_epoch(connection, tenant_id)

    async def terms(self, tenant_id: str, embedder: str, terms: Sequence[str]) -> dict[str, Vector]:
        rows = await self.database.tenant_rows(
            tenant_id,
            "select term, vector_send(embedding) as vector from memory_terms"
            " where tenant_id = $1 and embedder = $2 and term = any ($3)",
            embedder,
            list(terms),
        )
        return {row["term"]: read_vector(row["vector"]) for row in rows}

    async def add_terms(self, tenant_id: str, embedder: str, terms: Mapping[str, Vector], epoch: int) -> None:
        """Store the vectors of terms, unless the epoch has changed: a term may have been forgotten."""
        async with self.database.tenant(tenant_id) as connection:
            current = await connection.fetchval(
                "select epoch from memory_versions where tenant_id = $1 for update", tenant_id
            )
            if current == epoch:
                await insert_terms(connection, tenant_id, embedder, terms)


async def insert_terms(connection: Connection, tenant_id: str, embedder: str, terms: Mapping[str, Vector]) -> None:
    """Insert the vectors of terms that are not stored yet."""
    await connection.execute(
        "insert into memory_terms (tenant_id, embedder, term, embedding) select $1, $2, t.term, t.vector::vector"
        " from unnest($3::text[], $4::text[]) t (term, vector) on conflict do nothing",
        tenant_id,
        embedder,
        list(terms),
        list(map(vector_text, terms.values())),
    )
