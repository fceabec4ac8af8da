"""The providers' copies of messages, and which of them a channel can delete."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from core.messaging.messages import Address


@dataclass(frozen=True, slots=True)
class ProviderCopy:
    """A message as the provider keeps it. `is_ours`: we sent it."""

    address: Address
    provider_id: str
    is_ours: bool
    at: datetime


@runtime_checkable
class Erasing(Protocol):
    """Optional capability of a way out: the provider deletes messages when it is asked to."""

    erases_theirs: bool
    """Whether it deletes what people wrote, too."""
    erases_within: timedelta | None
    """How old a message may be; None: of any age."""

    async def erase(self, to: Address, provider_id: str) -> bool:
        """Delete a message; True where it is gone, False where the provider refuses. Raises `DeliveryError`."""
        ...
