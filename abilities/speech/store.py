"""The answers that are to be spoken, in Postgres: asked for, claimed, read, and ended."""

from datetime import timedelta

from abilities.speech.types import Asking, ClaimedSpeech, DueSpeech, SpeechEnd
from core.db.database import Database
from core.db.outages import Owners
from core.ids import IdMaker
from core.messaging.messages import Address

LEASE = timedelta(minutes=4)
"""Longer than the two calls for a recording and its way into the store may take together."""


class SpokenAnswers:
    """Claim answers and record how they ended. Statements may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._owners = Owners(make_id)

    async def ask(self, tenant_id: str, conversation_id: str, turn_id: str) -> Asking:
        """Queue a conversation's last answer to be spoken, as asked for in a turn."""
        row = await self._database.call("select ask_aloud($1,$2,$3) as asked", tenant_id, conversation_id, turn_id)
        return Asking(row["asked"]) if row else Asking.NONE

    async def claim(self, outbound_id: str | None, worker: str) -> ClaimedSpeech | None:
        """Claim the named answer, or the one that has waited longest; None if no text of one is out."""
        with self._owners.claiming(worker) as owner:
            row = await self._database.call("select * from claim_speech($1,$2,$3)", outbound_id or None, owner, LEASE)
        return ClaimedSpeech(row["tenant_id"], row["id"], owner) if row else None

    async def read(self, claimed: ClaimedSpeech) -> DueSpeech | None:
        """Return a claimed answer; None if another worker has it by now."""
        rows = await self._database.rows(
            "select * from read_speech($1,$2,$3)", claimed.tenant_id, claimed.id, claimed.owner
        )
        if not rows:
            return None
        row = rows[0]
        address = Address(row["channel"], row["account"], row["peer"], row["thread"])
        asked, number = row["asked"], row["number"]
        return DueSpeech(
            row["turn_id"], row["words"], row["arrived"], row["tries"], asked, number, row["language"], address
        )

    async def end(self, claimed: ClaimedSpeech, end: SpeechEnd) -> str | None:
        """Record how an answer ended, and queue the message after it; return its conversation."""
        row = await self._database.call(
            "select end_speech($1,$2,$3,$4) as conversation_id",
            claimed.tenant_id,
            claimed.id,
            claimed.owner,
            end.to_json(),
        )
        return row["conversation_id"] if row else None
