"""Events: things that happened elsewhere, of one tenant, and the bus that carries them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.json_types import JsonObject

type EventHandler = Callable[["Event"], Awaitable[None]]
"""What a subscriber does with an event. Called again after a failure or a death: it must be idempotent by
(tenant, source, id) of the event."""


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


class EventBus(Protocol):
    """Publish what happened, and handle it once per subscriber, whoever of the workers does it."""

    async def publish(self, event: Event) -> bool:
        """Keep the event, then let it be handled; False when the tenant's (source, id) is known already.

        An event without an id gets one. Raises `StoreUnavailable` when it could not be kept.
        """
        ...

    async def subscribe(self, pattern: str, handler: EventHandler, *, name: str = "") -> str:
        """Call `handler` for each event whose `source:type` matches `pattern` (`*` and `?` are wild).

        `name` is the consumer group: workers that subscribe under one name share the load, and each event is
        handled once by it. Also gets what was published before it subscribed and is not handled yet.
        Returns the subscription's id.
        """
        ...

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription; what is being handled is finished first. An unknown id changes nothing."""
        ...
