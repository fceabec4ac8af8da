"""Data that cannot be read because its secret key is gone, and its deletion."""

from dataclasses import dataclass

from core.credentials.secret_keys import SecretKeys
from core.db.database import Database

type LostKey = tuple[str, int, str]
"""A data key that does not open: its person, its version and the id of the secret key that wraps it."""

AT_ONCE = 100
"""Data keys read at a time."""
SHOWN = 5
"""How many of the lost rows are named."""


@dataclass(frozen=True, slots=True)
class SealedRows:
    """The data keys that do not open, and the rows sealed under these, in words; `some_open`: others do."""

    keys: tuple[LostKey, ...]
    rows: tuple[str, ...]
    some_open: bool

    def in_words(self) -> str:
        """Return the rows as a list for a sentence."""
        more = f" and {len(self.rows) - SHOWN} more" if len(self.rows) > SHOWN else ""
        return ", ".join(self.rows[:SHOWN]) + more


async def find_lost(database: Database, keys: SecretKeys | None) -> SealedRows:
    """Look for the secret key of every data key; without `keys` there is none."""
    lost: list[LostKey] = []
    some_open = False
    after: tuple[str, int] = ("", 0)
    while found := await database.rows("select * from find_data_keys($1,$2,$3,$4)", "", *after, AT_ONCE):
        for row in found:
            after = (row["tenant_id"], row["version"])
            data_key = await database.call("select * from read_data_key($1,$2)", *after)
            if data_key is None:
                continue  # the person was deleted since the key was found
            if keys is not None and keys.find(data_key["secret_key_id"]) is not None:
                some_open = True
            else:
                lost.append((*after, data_key["secret_key_id"]))
    rows = [row for tenant_id, version, _ in lost for row in await _sealed(database, tenant_id, version)]
    return SealedRows(tuple(lost), tuple(rows), some_open)


async def discard_lost(database: Database, keys: SecretKeys | None) -> SealedRows:
    """Delete the data keys that do not open and the data sealed under them; return these.

    People connect their accounts again, and event sources are added again.
    """
    lost = await find_lost(database, keys)
    for key in lost.keys:
        await database.rows("select discard_data_key($1,$2,$3)", *key)
    return lost


async def _sealed(database: Database, tenant_id: str, version: int) -> list[str]:
    rows = await database.tenant_rows(tenant_id, "select name from list_sealed($1,$2) order by 1", version)
    return [f"{row['name']} of {tenant_id}" for row in rows]
