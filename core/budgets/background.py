"""Calls of models for a person besides answering: counted for the console, whether or not a budget is set.

Every such call begins here, so that none that nobody waits for is made in quiet hours.
"""

import time
from dataclasses import dataclass, field

from core.budgets.self_started import check_self_started
from core.db.database import Database
from core.llm.types import TokenUsage


@dataclass(frozen=True, slots=True)
class BackgroundCall:
    """A call outside the steps of turns. `work`: its purpose in a word, as the console shows it."""

    database: Database
    tenant_id: str
    work: str
    began: float = field(default_factory=time.monotonic)

    @classmethod
    async def begin(cls, database: Database, tenant_id: str, work: str) -> "BackgroundCall":
        """Begin a call. Raises `NotNow` if self-started work may ask no model now."""
        await check_self_started(tenant_id)
        return cls(database, tenant_id, work)

    async def count(self, usage: TokenUsage) -> None:
        """Add the call, which has just ended, to the sums of the person's day."""
        took_ms = int((time.monotonic() - self.began) * 1000)
        statement = "select add_background_usage($1,$2,$3,$4)"
        await self.database.call(statement, self.tenant_id, self.work, usage.to_json(), took_ms)
