"""The providers' copies of messages, and the capability of a channel to delete them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from core.messaging.messages import Address


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
