"""Events: things that happened elsewhere, each of a single tenant. `abilities.events.bus` carries them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from core.errors import OneValetError
from core.json_types import JsonObject

type EventHandler = Callable[["Event"], Awaitable[None]]
"""A subscriber's callback. It is called again after a failure or a crash, so it must be idempotent by the event's
tenant and key."""


class SourceGone(OneValetError):
    """The source of an event is no longer this person's, or has another name."""


class UnreadableEvent(ValueError):
    """A handler can never handle this event: it is set aside immediately, with this reason."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened elsewhere.

    `source` names one of the tenant's sources or a channel (`sms`, `slack`, `telegram`); `type` is the kind of
    event, dotted (`message.received`, `pull_request.opened`); `id` is the source's own and unique within
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
        """Return the event's unique name within its tenant, which is also the occurrence of task runs on it."""
        return f"{self.source}:{self.id}"
