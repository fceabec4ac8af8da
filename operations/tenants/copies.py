"""Deleting a person's messages at the providers, as far as each allows it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from core.db.database import Database
from core.errors import Ambiguous, DeliveryError, RateLimited
from core.messaging.messages import Address

BUDGET = 150.0
"""Seconds for all copies of a person: the chore that deletes has five minutes."""
_AT_ONCE = 8
_TRIES = 3
_LONGEST_WAIT = 60.0
"""Seconds; if a provider wants a longer pause, its copy is left and counted, and the provider not called early."""
_COPIES = """
select c.channel, c.account, c.peer, c.thread, p.provider_id, true as is_ours, coalesce(o.sent_at, o.created_at) as at
from outbound_parts p
join outbound o on o.tenant_id = p.tenant_id and o.id = p.outbound_id
join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
where p.tenant_id = $1 and p.provider_id <> ''
union all
select c.channel, c.account, c.peer, c.thread, i.provider_id, false, i.received_at
from inbound i join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
where i.tenant_id = $1 and i.provider_id <> ''
order by at desc
"""


@dataclass(frozen=True, slots=True)
class ProviderCopy:
    """A message at the provider. `is_ours`: we sent it."""

    address: Address
    provider_id: str
    is_ours: bool
    at: datetime


@runtime_checkable
class Erasing(Protocol):
    """Optional capability of a way out: delete messages at the provider."""

    erases_theirs: bool
    """Whether it also deletes people's messages."""
    erases_within: timedelta | None
    """The greatest age of a message that it deletes; None if it deletes messages of any age."""

    async def erase(self, to: Address, provider_id: str) -> bool:
        """Delete a message; return True if it is gone, False if the provider refuses. Raises `DeliveryError`."""
        ...


@dataclass(slots=True)
class Erased:
    """Numbers of deleted copies, and of those that a provider did not let us delete or could not be asked about."""

    gone: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class CopyEraser:
    """Delete copies over the channels that can. Safe to repeat: deleted copies stay deleted."""

    database: Database
    channels: Mapping[str, Erasing]

    async def erase(self, person: str, now: datetime, budget: float = BUDGET) -> Erased:
        """Delete a person's messages at their providers, the newest first, for `budget` seconds at most."""
        rows = await self.database.tenant_rows(person, _COPIES)
        copies = [
            ProviderCopy(
                Address(row["channel"], row["account"], row["peer"], row["thread"]),
                row["provider_id"],
                row["is_ours"],
                row["at"],
            )
            for row in rows
        ]
        gone: list[bool] = []
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(copy: ProviderCopy) -> None:
            async with room:
                gone.append(await self._erase(copy, now))

        with suppress(TimeoutError):
            async with asyncio.timeout(budget), asyncio.TaskGroup() as group:
                for copy in copies:
                    group.create_task(one(copy))
        return Erased(sum(gone), len(copies) - sum(gone))

    async def _erase(self, copy: ProviderCopy, now: datetime) -> bool:
        channel = self.channels.get(copy.address.channel)
        if channel is None or not (copy.is_ours or channel.erases_theirs):
            return False
        if channel.erases_within is not None and now - copy.at > channel.erases_within:
            return False
        for _ in range(_TRIES):
            try:
                return await channel.erase(copy.address, copy.provider_id)
            except RateLimited as error:
                wait = error.retry_after.total_seconds() if error.retry_after else 1.0
                if wait > _LONGEST_WAIT:
                    return False
                await asyncio.sleep(wait)
            except DeliveryError as error:
                if not error.retryable and not isinstance(error, Ambiguous):
                    return False
                await asyncio.sleep(1.0)
        return False
