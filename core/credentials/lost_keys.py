"""What cannot be read because the secret key it was sealed under is gone."""

from dataclasses import dataclass

from core.credentials.secret_keys import SecretKeys
from core.db.database import Database

AT_ONCE = 100
"""Data keys read at a time."""
SHOWN = 5
"""How many of the lost rows are named."""


@dataclass(frozen=True, slots=True)
class SealedRows:
    """The people whose data keys do not open, and the rows sealed under these, in words; `some_open`: others do."""

    people: tuple[str, ...]
    rows: tuple[str, ...]
    some_open: bool

    def in_words(self) -> str:
        """Return the rows as a list for a sentence."""
        more = f" and {len(self.rows) - SHOWN} more" if len(self.rows) > SHOWN else ""
        return ", ".join(self.rows[:SHOWN]) + more


async def find_lost(database: Database, keys: SecretKeys | None) -> SealedRows:
    """Look for the secret key of every data key; without `keys` there is none."""
    people: dict[str, None] = {}
    some_open = False
    after: tuple[str, int] = ("", 0)
    while found := await database.rows("select * from find_data_keys($1,$2,$3,$4)", "", *after, AT_ONCE):
        for row in found:
            after = (row["tenant_id"], row["version"])
            if await _opens(database, keys, *after):
                some_open = True
            else:
                people[after[0]] = None
    rows = [row for tenant in people for row in await _sealed(database, tenant)]
    return SealedRows(tuple(people), tuple(rows), some_open)


async def _opens(database: Database, keys: SecretKeys | None, tenant_id: str, version: int) -> bool:
    row = await database.call("select * from read_data_key($1,$2)", tenant_id, version)
    return keys is not None and row is not None and keys.find(row["secret_key_id"]) is not None


async def _sealed(database: Database, tenant_id: str) -> list[str]:
    accounts = await database.tenant_rows(
        tenant_id,
        "select service || ' ' || account_name as name from credentials where tenant_id = $1"
        " union all select 'the secret of event source ' || name from event_sources"
        " where tenant_id = $1 and sealed is not null order by 1",
    )
    return [f"{row['name']} of {tenant_id}" for row in accounts]
