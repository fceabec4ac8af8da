"""A turn whose model is down: it waits in Postgres, without a worker, and is tried again for a while."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from core import replies
from core.db.database import Database
from core.errors import ContextOverflow, ModelAuthError, ModelError, ModelRateLimited, ModelRejected
from core.ids import IdMaker
from core.journal.types import Lease
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.messaging.messages import OutboundKind

_JITTER = 0.25
"""The share of a pause by which it is longer or shorter: turns that failed together are not tried together."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """A turn that is tried again, at `due` if that is known; `told`: its person gets a message about the delay."""

    told: bool
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class ModelOutage:
    """The options of a running turn while its model is away. `tells`: somebody waits for its answer."""

    database: Database
    lease: Lease
    turn_id: str
    make_id: IdMaker
    tells: bool = True
    chance: Callable[[], float] = random.random

    async def postpone(self, error: ModelError, patience: timedelta) -> Postponed | None:
        """Give the turn's lane back, to be tried again after a pause. Return None once it has failed for `patience`.

        Raises `LeaseLost`.
        """
        row = await self.database.call(
            "select * from await_model($1,$2,$3,$4,$5,$6,$7,$8)",
            *self._turn,
            patience,
            error.retry_after if isinstance(error, ModelRateLimited) else None,
            1 + _JITTER * (2 * self.chance() - 1),
            self._note() if self.tells else None,
        )
        return Postponed(row["told"], row["due"]) if row and row["waits"] else None

    async def tell(self) -> bool:
        """Tell the person, once, that the answer takes longer, while the turn goes on. Return whether it did.

        Raises `LeaseLost`.
        """
        row = await self.database.call("select tell_delay($1,$2,$3,$4,$5) as told", *self._turn, self._note())
        return bool(row and row["told"])

    @property
    def _turn(self) -> tuple[str, str, int, str]:
        return self.lease.tenant_id, self.lease.lane_id, self.lease.fence, self.turn_id

    def _note(self) -> JsonObject:
        return {
            "id": self.make_id("out"),
            "kind": OutboundKind.RECEIPT.value,
            "text": gettext(replies.TAKES_LONGER),
        }


def may_pass(error: ModelError) -> bool:
    """Return whether the same request may be answered later, with nobody changing anything."""
    return not isinstance(error, ContextOverflow | ModelAuthError | ModelRejected)
