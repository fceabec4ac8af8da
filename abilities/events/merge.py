"""Merging the event sources when two people are merged."""

from typing import override

from core.credentials.store import CredentialStore
from core.db.database import Connection
from core.people.merge import MergeHook, Parting


class EventSourceMerge(MergeHook):
    """Seal the secrets again for the person who stays, and rename sources of the same name with all that names them."""

    def __init__(self, credentials: CredentialStore) -> None:
        self._credentials = credentials

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        theirs = await connection.fetch("select * from event_sources where tenant_id = $1", gone)
        await connection.execute("select set_config('onevalet.tenant', $1, true)", kept)
        rows = await connection.fetch("select name from event_sources where tenant_id = $1", kept)
        named = {row["name"] for row in rows}
        taken = named | {row["name"] for row in theirs}
        await connection.execute("select set_config('onevalet.tenant', $1, true)", gone)
        for row in theirs:
            version, sealed = row["key_version"], row["sealed"]
            if sealed is not None:
                place = ("event source", str(row["id"]))
                secret = await self._credentials.open_for(gone, version, sealed, *place, connection=connection)
                version, sealed = await self._credentials.seal_for(kept, secret, *place, connection=connection)
                await connection.execute("select set_config('onevalet.tenant', $1, true)", gone)
            await connection.execute(
                "update event_sources set key_version = $3, sealed = $4 where tenant_id = $1 and id = $2",
                gone,
                row["id"],
                version,
                sealed,
            )
            if row["name"] in named:
                name = _free_name(row["name"], taken)
                taken.add(name)
                await connection.execute("select rename_event_source($1, $2, $3)", gone, row["id"], name)

    @override
    async def before_parting(self, connection: Connection, parting: Parting) -> None:
        rows = await connection.fetch(
            "select s.* from event_sources s join linked_rows r on r.tenant_id = s.tenant_id and r.of = 'event_sources'"
            " and r.key = array[s.id] where s.tenant_id = $1 and r.link_id = $2 and s.sealed is not null",
            parting.tenant_id,
            parting.link_id,
        )
        for row in rows:
            place = ("event source", str(row["id"]))
            secret = await self._credentials.open_for(
                parting.tenant_id, row["key_version"], row["sealed"], *place, connection=connection
            )
            version, sealed = await self._credentials.seal_for(parting.other_id, secret, *place, connection=connection)
            await connection.execute("select set_config('onevalet.tenant', $1, true)", parting.tenant_id)
            await connection.execute(
                "update event_sources set key_version = $3, sealed = $4 where tenant_id = $1 and id = $2",
                parting.tenant_id,
                row["id"],
                version,
                sealed,
            )


def _free_name(name: str, taken: set[str]) -> str:
    number = 2
    while (other := f"{name[:60]}-{number}") in taken:
        number += 1
    return other
