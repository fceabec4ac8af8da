"""Changes of a known address: a chat that moved, or its person's new name there."""

from dataclasses import dataclass

from core.db.database import Database
from core.inbox.arrival import named
from core.messaging.channels import Received
from core.messaging.messages import AddressChange, SenderProfile


@dataclass(frozen=True, slots=True)
class Addresses:
    """Record changes of known addresses."""

    database: Database

    async def move(self, change: AddressChange) -> Received:
        row = await self.database.call(
            "select change_address($1,$2,$3,$4) as moved",
            change.channel,
            change.account,
            change.old_peer,
            change.new_peer,
        )
        return Received(change.keys[0] if change.keys else None, duplicate=not (row and row["moved"]))

    async def note_sender(self, profile: SenderProfile) -> Received:
        row = await self.database.call(
            "select note_sender($1,$2,$3,$4,$5) as known, note_sender_language($1,$2,$3,$6)",
            profile.channel,
            profile.account,
            named(profile.sender),
            profile.name,
            profile.timezone or "",
            profile.language or "",
        )
        return Received(profile.sender, duplicate=not (row and row["known"]))
