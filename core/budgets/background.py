"""Calls of models for a person besides answering: counted for the console, whether or not a budget is set."""

import time
from dataclasses import dataclass, field

from core.db.database import Database
from core.llm.types import TokenUsage

_ADD = """
insert into usage_days as u (tenant_id, day, kind, name, calls, input_tokens, output_tokens, cached_tokens, cost,
                             took_ms)
select tenant_id, day_of_person($1, clock_timestamp()), 'background', $2::text, 1,
       coalesce(($3::jsonb ->> 'input_tokens')::bigint, 0), coalesce(($3 ->> 'output_tokens')::bigint, 0),
       coalesce(($3 ->> 'cached_tokens')::bigint, 0), coalesce(($3 ->> 'cost')::numeric, 0), $4::bigint
from tenants where tenant_id = $1
on conflict (tenant_id, day, task_id, kind, name) do update
set calls = u.calls + 1, input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens,
    cached_tokens = u.cached_tokens + excluded.cached_tokens, cost = u.cost + excluded.cost,
    took_ms = u.took_ms + excluded.took_ms
"""


@dataclass(frozen=True, slots=True)
class BackgroundCall:
    """A call outside the steps of turns. `work`: its purpose in a word, as the console shows it."""

    database: Database
    tenant_id: str
    work: str
    began: float = field(default_factory=time.monotonic)

    async def count(self, usage: TokenUsage) -> None:
        """Add the call, which has just ended, to the sums of the person's day."""
        took_ms = int((time.monotonic() - self.began) * 1000)
        await self.database.repeat(self.tenant_id, _ADD, self.work, usage.to_json(), took_ms)
