"""Messages that did not arrive, or may not have: an operator sends them again, or drops them."""

from dataclasses import dataclass
from enum import StrEnum

from core.db.database import Database
from core.ids import IdMaker


class UnsettledState(StrEnum):
    """The reason why a message is unsettled, as `find_unsettled` names it."""

    FAILED = "failed"
    UNDELIVERED = "undelivered"
    """Its provider took it, and reported later that it did not arrive."""
    AMBIGUOUS = "ambiguous"
    HELD = "held"


class Settlement(StrEnum):
    """The outcome of a request to send a message again, or to drop it."""

    RESENT = "resent"
    DROPPED = "dropped"
    OPEN = "open"
    """It is still being sent, or has arrived."""
    SETTLED = "settled"
    """It was decided before."""
    UNREACHABLE = "unreachable"
    """Its person said STOP, or blocked us."""
    OVER = "over"
    """Its card is no longer open."""
    MISSING = "missing"

    @property
    def is_done(self) -> bool:
        return self in (Settlement.RESENT, Settlement.DROPPED)


@dataclass(frozen=True, slots=True)
class UnsettledMessages:
    """Settle messages of a named person."""

    database: Database
    make_id: IdMaker

    async def resend(self, tenant_id: str, outbound_id: str) -> tuple[Settlement, str]:
        """Queue a message again without the parts that arrived; also return its conversation, to wake a sender."""
        row = await self.database.one(
            "select * from resend_outbound($1,$2,$3)", tenant_id, outbound_id, self.make_id("out")
        )
        return Settlement(row["outcome"]), row["conversation_id"] or ""

    async def drop(self, tenant_id: str, outbound_id: str) -> Settlement:
        """Decide that a message is not sent again."""
        row = await self.database.one("select drop_outbound($1,$2) as outcome", tenant_id, outbound_id)
        return Settlement(row["outcome"])
