"""Messages that did not arrive, or of which nobody knows whether they did: sent again, or left at that."""

from dataclasses import dataclass
from enum import StrEnum

from core.db.database import Database
from core.ids import IdMaker


class UnsettledState(StrEnum):
    """Why a message is listed as unsettled, as `find_unsettled` names it."""

    FAILED = "failed"
    UNDELIVERED = "undelivered"
    """Its provider took it, and reported later that it did not arrive."""
    AMBIGUOUS = "ambiguous"
    HELD = "held"


class Settlement(StrEnum):
    """What became of the wish to send a message again, or to leave it."""

    RESENT = "resent"
    DROPPED = "dropped"
    OPEN = "open"
    """It is still being sent, or has arrived."""
    SETTLED = "settled"
    """Somebody decided about it before."""
    UNREACHABLE = "unreachable"
    """Its person said STOP, or blocked us."""
    OVER = "over"
    """Its card asks for nothing any more."""
    MISSING = "missing"

    @property
    def is_done(self) -> bool:
        return self in (Settlement.RESENT, Settlement.DROPPED)


@dataclass(frozen=True, slots=True)
class UnsettledMessages:
    """Settle messages, each of a named person."""

    database: Database
    make_id: IdMaker

    async def resend(self, tenant_id: str, outbound_id: str) -> tuple[Settlement, str]:
        """Queue a message once more, without the parts that arrived; return its conversation too, to wake a sender."""
        row = await self.database.one(
            "select * from resend_outbound($1,$2,$3)", tenant_id, outbound_id, self.make_id("out")
        )
        return Settlement(row["outcome"]), row["conversation_id"] or ""

    async def drop(self, tenant_id: str, outbound_id: str) -> Settlement:
        """Decide that a message is not sent again."""
        row = await self.database.one("select drop_outbound($1,$2) as outcome", tenant_id, outbound_id)
        return Settlement(row["outcome"])
