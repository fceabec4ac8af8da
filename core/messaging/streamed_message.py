"""The outbox row of an answer that grows on the screen while its turn still runs."""

from dataclasses import dataclass

from core.db.database import Database


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A row that is held under the turn's lease until the turn ends; then the reply replaces it, or it is deleted."""

    database: Database
    tenant_id: str
    lane_id: str
    fence: int
    turn_id: str
    outbound_id: str

    async def begin(self) -> bool:
        """Create the row before the provider is asked for a message; return False if this is not the time for it.

        Something else has to be sent first, or an earlier worker began a message. Raises `LeaseLost`.
        """
        return await self._told("select begin_stream($1,$2,$3,$4,$5) as told", self.turn_id, self.outbound_id)

    async def keep(self, stream: str) -> bool:
        """Store the provider's id of the message before a word is added to it. Return False if the turn has ended.

        Raises `LeaseLost`.
        """
        return await self._told("select keep_stream($1,$2,$3,$4,$5) as told", self.outbound_id, stream)

    async def forget(self) -> None:
        """Delete the row, since no message was begun."""
        await self.database.call("select forget_stream($1,$2)", self.tenant_id, self.outbound_id)

    async def leads(self) -> bool:
        """Return whether words may still be added: the message is the last in its conversation, and the turn runs."""
        row = await self.database.call("select stream_leads($1,$2) as told", self.tenant_id, self.outbound_id)
        return bool(row and row["told"])

    async def _told(self, statement: str, *arguments: str) -> bool:
        row = await self.database.call(statement, self.tenant_id, self.lane_id, self.fence, *arguments)
        return bool(row and row["told"])
