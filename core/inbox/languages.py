"""The language of the person at an address, for the inbox's own sentences."""

from core.db.database import Database
from core.messaging.messages import Address


async def language_at(database: Database, address: Address, user_key: str) -> str:
    """Return a BCP 47 tag; empty for a stranger or a person without a language. Raises `StoreUnavailable`.

    Only the channel and the account of `address` count.
    """
    row = await database.one("select language_at($1,$2,$3) as language", address.channel, address.account, user_key)
    return str(row["language"])
