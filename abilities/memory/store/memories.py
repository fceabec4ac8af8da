"""Memories in Postgres, which is the truth: every index is made from these rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from abilities.memory.store.scans import memory_of
from abilities.memory.store.vectors_and_terms import VectorStore, insert_terms, insert_vector
from abilities.memory.store.versions import lock_memory, raise_epoch, read_version, set_number
from abilities.memory.types import Memory, Statement, Vector, Version
from core.db.database import Connection, Database
from core.ids import IdMaker

_COLUMNS = (
    "m.id, m.number, m.collection, m.text, m.speaker, m.kind, m.said_at, m.valid_from, m.valid_to,"
    " m.superseded_by, m.slot, m.turn_id, m.knowledge"
)
_END = (
    "update memories set valid_to = $3, superseded_by = $4"
    " where tenant_id = $1 and id = any ($2) and valid_to is null and id <> $4"
)
_TOLD = "m.tenant_id = $1 and not m.held and m.valid_to is null and m.kind = 'told'"
_UNREAD = "m.extractor = 'rules, until read'"
"""The condition of the index `memories_unread`; the name is that of `extractors.UNREAD`."""
_UNREAD_NUMBERS = "select u.number from memories u where u.tenant_id = $1 and u.extractor = 'rules, until read'"


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a new statement on the known memories: it ends some (`replaces`), or only repeats a memory."""

    replaces: tuple[str, ...] = ()
    repeats: str | None = None


class MemoryStore:
    """Everybody's memories; each call names the person. Writes may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self.database = database
        self.vectors = VectorStore(database)
        self._make_id = make_id

    async def version(self, tenant_id: str) -> Version:
        """Return the version of a person's memory; zero if it is empty."""
        return await read_version(self.database, tenant_id)

    async def known(self, tenant_id: str, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the source keys that are stored already."""
        rows = await self.database.tenant_rows(
            tenant_id, "select source_key from memories where tenant_id = $1 and source_key = any ($2)", list(keys)
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
        """Store statements in order and apply their changes, in a single transaction; return the new ids."""
        added: list[str] = []
        async with self.database.tenant(tenant_id) as connection:
            number = await lock_memory(connection, tenant_id)
            for statement, change in changes:
                said_at = statement.said.said_at
                if change.repeats:
                    await connection.execute(
                        "update memories set repeated = repeated + 1, said_at = greatest(said_at, $3)"
                        " where tenant_id = $1 and id = $2",
                        tenant_id,
                        change.repeats,
                        said_at,
                    )
                    continue
                memory_id = await self._insert(connection, tenant_id, collection, number + 1, statement)
                if memory_id is None:
                    continue
                if statement.vector:
                    await insert_vector(connection, tenant_id, memory_id, embedder, statement.vector)
                number += 1
                added.append(memory_id)
                await connection.execute(_END, tenant_id, list(change.replaces), said_at, memory_id)
            await insert_terms(connection, tenant_id, embedder, terms)
            await set_number(connection, tenant_id, number)
        return added

    async def _insert(
        self, connection: Connection, tenant_id: str, collection: str, number: int, statement: Statement
    ) -> str | None:
        """Insert a memory; return its id, or None if its source key is stored already."""
        source = statement.said
        memory_id: str | None = await connection.fetchval(
            "insert into memories (tenant_id, id, number, collection, text, speaker, kind, source_key, turn_id,"
            " said_at, slot, knowledge, extractor, held, valid_from)"
            " select $1, id, number, collection, text, speaker, kind, source_key, turn_id, $3, slot,"
            " knowledge, extractor, held, $3 from jsonb_populate_record(null::memories, $2)"
            " on conflict (tenant_id, source_key) do nothing returning id",
            tenant_id,
            {
                "id": self._make_id("mem"),
                "number": number,
                "collection": collection,
                "text": statement.text,
                "speaker": source.speaker,
                "kind": source.kind.value,
                "source_key": statement.key,
                "turn_id": source.turn_id,
                "slot": statement.slot,
                "knowledge": statement.knowledge,
                "extractor": statement.extractor,
                "held": statement.held,
            },
            source.said_at,
        )
        return memory_id

    async def memories(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Memory]:
        """Return memories by id; those that are gone are left out."""
        memories = await self._select(tenant_id, "m.tenant_id = $1 and m.id = any ($2)", list(ids))
        return {memory.id: memory for memory in memories}

    async def numbered(self, tenant_id: str, numbers: Sequence[int]) -> list[Memory]:
        """Return memories by the numbers that the person is shown."""
        where = "m.tenant_id = $1 and m.number = any ($2) order by m.number"
        return await self._select(tenant_id, where, list(numbers))

    async def newest(
        self, tenant_id: str, limit: int, *, told_only: bool = False, closed: bool = False
    ) -> list[Memory]:
        """Return the newest memories, the newest first; `closed` includes those that hold no longer."""
        where = "m.tenant_id = $1 and not m.held" + ("" if closed else " and m.valid_to is null")
        where += " and m.kind = 'told'" if told_only else ""
        return await self._select(tenant_id, f"{where} order by m.number desc limit $2", limit)

    async def unread(self, tenant_id: str, limit: int) -> list[Memory]:
        """Return the oldest statements that a model is still to read."""
        return await self._select(tenant_id, f"m.tenant_id = $1 and {_UNREAD} order by m.number limit $2", limit)

    async def in_slot(self, tenant_id: str, collection: str, slot: str) -> list[Memory]:
        """Return the memories of a slot that hold now, stated by the person."""
        where = f"{_TOLD} and m.collection = $2 and m.slot = $3 order by m.number"
        return await self._select(tenant_id, where, collection, slot)

    async def in_slots(self, tenant_id: str, slots: Sequence[str]) -> list[Memory]:
        """Return the memories of some slots that hold now, in any collection, the newest first."""
        where = f"{_TOLD} and m.slot = any ($2) order by m.number desc limit 5"
        return await self._select(tenant_id, where, list(slots))

    async def after(self, tenant_id: str, number: int, limit: int) -> list[Memory]:
        """Return the memories after a number, in order, for an index that catches up."""
        # An index keeps its contents: it waits for memories that are still to be read.
        where = f"m.tenant_id = $1 and m.number > $2 and not m.held and m.number < all ({_UNREAD_NUMBERS})"
        where += " order by m.number limit $3"
        return await self._select(tenant_id, where, number, limit)

    async def read_by(self, tenant_id: str, extractor: str, limit: int) -> list[Memory]:
        """Return memories whose knowledge this extractor found."""
        where = "m.tenant_id = $1 and m.extractor = $2 order by m.number limit $3"
        return await self._select(tenant_id, where, extractor, limit)

    async def containing(self, tenant_id: str, phrase: str) -> list[Memory]:
        """Return all memories that contain a phrase, including those that hold no longer."""
        where = "m.tenant_id = $1 and says_any(m.text, array[$2]) order by m.number"
        return await self._select(tenant_id, where, phrase)

    async def reread(
        self,
        tenant_id: str,
        memory: Memory,
        statement: Statement,
        replaces: Sequence[str],
        embedder: str,
        terms: Mapping[str, Vector],
        *,
        indexed: bool = True,
    ) -> None:
        """Store the knowledge that another extractor found in a memory, and end the memories that it replaces.

        It is recalled from then on, unless the statement is held back. `indexed`: every index is rebuilt, which may
        hold earlier knowledge of it.
        """
        async with self.database.tenant(tenant_id) as connection:
            await lock_memory(connection, tenant_id)
            updated = await connection.fetchval(
                "update memories set knowledge = $3, extractor = $4, held = $5 and (held or not $6)"
                " where tenant_id = $1 and id = $2 returning true",
                tenant_id,
                memory.id,
                statement.knowledge,
                statement.extractor,
                statement.held,
                indexed,
            )
            if not updated:
                return  # it was forgotten since it was read
            await connection.execute(_END, tenant_id, list(replaces), memory.said_at, memory.id)
            await insert_terms(connection, tenant_id, embedder, terms)
            if indexed:
                await raise_epoch(connection, tenant_id)

    async def reinstate(self, tenant_id: str, memory_id: str, now: datetime) -> None:
        """Restore a replaced memory; the memory that had replaced it ends."""
        await self.database.tenant_rows(
            tenant_id,
            # Both parts see the rows as they were before.
            "with again as (update memories set valid_to = null, superseded_by = null where tenant_id = $1 and id = $2)"
            " update memories m set valid_to = $3, superseded_by = $2 from memories r"
            " where r.tenant_id = $1 and r.id = $2 and m.tenant_id = $1 and m.id = r.superseded_by",
            memory_id,
            now,
        )

    async def replace(self, tenant_id: str, old_id: str, new_id: str, now: datetime) -> None:
        """End a memory in favour of another, because the person said so."""
        await self.database.tenant_rows(
            tenant_id,
            "update memories set valid_to = coalesce(valid_to, $4), superseded_by = $3"
            " where tenant_id = $1 and id = $2 and id <> $3",
            old_id,
            new_id,
            now,
        )

    async def _select(self, tenant_id: str, where: str, *args: object) -> list[Memory]:
        return await select_memories(self.database, tenant_id, where, *args)


async def select_memories(database: Database, tenant_id: str, where: str, *args: object) -> list[Memory]:
    """Return memories; `where` is SQL over `m`, with the tenant as `$1` and then `args`."""
    statement = f"select {_COLUMNS} from memories m where {where}"  # noqa: S608
    return [memory_of(row) for row in await database.tenant_rows(tenant_id, statement, *args)]
