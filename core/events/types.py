"""Events: things that happened elsewhere, each of one tenant. `core.events.bus` carries them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from core.errors import OneValetError
from core.json_types import JsonObject

type EventHandler = Callable[["Event"], Awaitable[None]]
"""What a subscriber does with an event. It is called again after a failure or a death, so it must be idempotent by
the event's tenant and key."""


class SourceGone(OneValetError):
    """The source of an event is not this person's any more, or not under this name."""


class UnreadableEvent(ValueError):
    """A handler's word that it can never handle this event: it is set aside at once, with this reason."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened elsewhere.

    `source` names one of the tenant's sources or a channel (`sms`, `slack`, `telegram`); `type` is what
    happened, dotted (`message.received`, `pull_request.opened`); `id` is the source's own and unique within
    (tenant, source): publishing it again adds nothing. `occurred_at` is aware; None while the source states
    no time and the store has not stamped it yet.
    """

    source: str
    type: str
    data: JsonObject = field(default_factory=dict)
    id: str = ""
    tenant_id: str = ""
    occurred_at: datetime | None = None

    @property
    def key(self) -> str:
        """Name the event uniquely within its tenant: what a run of a task on it is keyed by."""
        return f"{self.source}:{self.id}"
