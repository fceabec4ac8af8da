"""A new person, whom a program adds by itself."""

from core.db.database import Database
from core.ids import make_id


async def add_person(database: Database, name: str = "", timezone: str | None = None) -> str:
    """Add a person without any address; return their tenant id. `timezone` is an IANA name, None while unknown."""
    row = await database.one("select in_partition($1) as id", make_id("tn"))
    tenant_id = str(row["id"])
    statement = "insert into tenants (tenant_id, name, timezone) values ($1, $2, $3) returning tenant_id"
    await database.tenant_row(tenant_id, statement, name, timezone or "")
    return tenant_id
