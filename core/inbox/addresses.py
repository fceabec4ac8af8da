"""Changes of a known address: a chat that moved, its person's new name there, or where that person is now."""

from dataclasses import dataclass

from core.db.database import Database
from core.inbox.arrival import named, of_move
from core.messaging.channels import Received
from core.messaging.inbound import PlaceMove
from core.messaging.messages import AddressChange, SenderProfile


@dataclass(frozen=True, slots=True)
class Addresses:
    """Record changes of known addresses."""

    database: Database

    async def record(self, change: AddressChange | SenderProfile | PlaceMove) -> Received:
        """Record a change; it begins no turn."""
        match change:
            case AddressChange():
                return await self._move(change)
            case SenderProfile():
                return await self._note_sender(change)
            case PlaceMove():
                return await self._move_place(change)

    async def _move(self, change: AddressChange) -> Received:
        row = await self.database.call(
            "select change_address($1,$2,$3,$4) as moved",
            change.channel,
            change.account,
            change.old_peer,
            change.new_peer,
        )
        return Received(change.keys[0] if change.keys else None, duplicate=not (row and row["moved"]))

    async def _note_sender(self, profile: SenderProfile) -> Received:
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

    async def _move_place(self, moved: PlaceMove) -> Received:
        """Hand a live place to the abilities that keep it; nothing is kept for a sender who is not let in."""
        row = await self.database.one("select note_brought($1) as known", of_move(moved))
        return Received(moved.provider_id, duplicate=not row["known"])
