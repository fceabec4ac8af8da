"""The sum of a table's rows, which proves after a restore that they are the same."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.backups.types import TableSum

TEXT_FORMS = (
    "set local datestyle = 'ISO'; set local timezone = 'UTC'; set local intervalstyle = 'postgres';"
    " set local extra_float_digits = 1; set local bytea_output = 'hex';"
)
"""A row's hash is that of its text, which these settings change. Within a transaction."""
_TABLES = (
    "select c.relname::text as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'"
    " and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid"
    " and d.deptype = 'e') order by 1"
)


def sum_of(table: str) -> str:
    """Return the query of a table's rows and the sum of their hashes."""
    return (
        "select count(*) as rows, coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text as hashes"  # noqa: S608
        f' from public."{table}" t'
    )


async def sum_tables(connection: Connection) -> Sequence[TableSum]:
    """Return the sums of all tables; in a transaction, after `TEXT_FORMS`."""
    found = []
    for table in await connection.fetch(_TABLES):
        row = await connection.fetchrow(sum_of(table["name"]), timeout=3600)
        if row is not None:
            found.append(TableSum(name=table["name"], rows=row["rows"], hashes=row["hashes"]))
    return found
