"""Memories in Postgres, which is the truth: every index is made from these rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from abilities.memory.store.overview import read_overview
from abilities.memory.store.scans import memory_of, vector_text
from abilities.memory.store.vectors_and_terms import VectorStore
from abilities.memory.types import Memory, Statement, Version
from core.db.database import Connection, Database
from core.ids import IdMaker
from core.json_types import JsonObject

_COLUMNS = (
    "m.id, m.number, m.collection, m.text, m.speaker, m.kind, m.said_at, m.valid_from, m.valid_to,"
    " m.superseded_by, m.slot, m.turn_id, m.knowledge"
)
_UNREAD = "m.extractor = 'rules, until read'"
"""The condition of the index `memories_unread`; the name is that of `extractors.UNREAD`."""
_FIRST_UNREAD = (
    "select coalesce(min(u.number), 9223372036854775807) from memories u"
    " where u.tenant_id = $1 and u.extractor = 'rules, until read'"
)


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a new statement on the known memories: it ends some (`replaces`), or only repeats a memory.

    `same_words`: it repeats a memory that has the same words, if there is one.
    """

    replaces: tuple[str, ...] = ()
    repeats: str | None = None
    same_words: bool = False


@dataclass(frozen=True, slots=True)
class Reread:
    """Another extractor's reading of a stored memory, and its effect. `held`: it is held back.

    `happens_at`: the time of the coming event that it mentions; None leaves a known time as it is.
    """

    memory_id: str
    knowledge: JsonObject
    extractor: str
    held: bool
    change: Change = Change()
    happens_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class HeldJob:
    """A job of memory that this owner has."""

    id: str
    owner: str


@dataclass(frozen=True, slots=True)
class Stored:
    """The ids of new memories. `forgets`: the end of a job found forgotten words that are still to be redacted."""

    added: Sequence[str]
    forgets: bool = False


class MemoryStore:
    """Everybody's memories; each call names the person. Writes may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self.database = database
        self.vectors = VectorStore(database)
        self._make_id = make_id

    async def version(self, tenant_id: str) -> Version:
        """Return the version of a person's memory; zero if it is empty."""
        return (await read_overview(self.database, tenant_id)).version

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
        ends: HeldJob | None = None,
    ) -> Stored:
        """Store statements in order and apply their changes; `ends`: the job that ends with it, all or nothing."""
        row = await self.database.one(
            "select * from keep_memories($1,$2,$3,$4,$5)",
            tenant_id,
            [self._row(collection, statement, change) for statement, change in changes],
            embedder,
            ends.id if ends else None,
            ends.owner if ends else None,
        )
        return Stored(row["added"], row["forgets"])

    def _row(self, collection: str, statement: Statement, change: Change) -> JsonObject:
        source = statement.said
        return {
            "id": self._make_id("mem"),
            "collection": collection,
            "text": statement.text,
            "speaker": source.speaker,
            "kind": source.kind.value,
            "source_key": statement.key,
            "turn_id": source.turn_id,
            "said_at": source.said_at.isoformat(),
            "slot": statement.slot,
            "knowledge": statement.knowledge,
            "extractor": statement.extractor,
            "held": statement.held,
            "vector": vector_text(statement.vector) if statement.vector else None,
            "replaces": list(change.replaces),
            "repeats": change.repeats,
            "same_words": change.same_words,
        }

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

    async def after(self, tenant_id: str, number: int, limit: int) -> list[Memory]:
        """Return the memories after a number, in order, for an index that catches up."""
        # An index keeps its contents: it waits for memories that are still to be read.
        where = f"m.tenant_id = $1 and m.number > $2 and not m.held and m.number < ({_FIRST_UNREAD})"
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
        self, tenant_id: str, readings: Sequence[Reread], *, indexed: bool = True, owner: str = "", ends: bool = False
    ) -> bool:
        """Store another extractor's readings of memories, in order, and apply the changes; all of them or none.

        From then on they can be recalled, unless they are held back. `indexed`: the memories may be in the indexes with
        their earlier knowledge, so all of them are rebuilt. `owner`: the owner of a talk, which may end with it. Return
        False and store nothing if another worker has the talk.
        """
        rows: list[JsonObject] = [
            {
                "id": reading.memory_id,
                "knowledge": reading.knowledge,
                "extractor": reading.extractor,
                "held": reading.held,
                "replaces": list(reading.change.replaces),
                "repeats": reading.change.repeats,
                "happens_at": reading.happens_at.isoformat() if reading.happens_at else None,
            }
            for reading in readings
        ]
        statement = "select reread_memories($1,$2,$3,$4,$5) as stored"
        return bool((await self.database.one(statement, tenant_id, rows, indexed, owner, ends))["stored"])

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
    return [memory_of(row) for row in await database.tenant_rows(tenant_id, _selected(where), *args)]


async def read_memories(connection: Connection, tenant_id: str, where: str, *args: object) -> list[Memory]:
    """Return memories as `select_memories` does, in the connection's transaction."""
    return [memory_of(row) for row in await connection.fetch(_selected(where), tenant_id, *args)]


def _selected(where: str) -> str:
    return f"select {_COLUMNS} from memories m where {where}"  # noqa: S608
