"""The language of the person at an address, for what the inbox says by itself."""

from core.db.database import Database
from core.messaging.messages import Address


async def language_at(database: Database, address: Address, user_key: str) -> str:
    """Return a BCP 47 tag; empty where the person has none, and for a stranger. Raises `StoreUnavailable`.

    Of `address`, only channel and account count.
    """
    row = await database.one("select language_at($1,$2,$3) as language", address.channel, address.account, user_key)
    return str(row["language"])
