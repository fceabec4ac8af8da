"""The inbox as processes build it: each call is timed, counted by its outcome, and traced as a span."""

import time
from typing import override

from core import metrics, tracing
from core.errors import RequestRefused, StoreUnavailable
from core.inbox.inbox import Inbox
from core.messaging.channels import Received
from core.messaging.inbound import Amendment, Inbound, PlaceMove, Reaction
from core.messaging.messages import (
    AddressChange,
    IgnoredMessage,
    InboundMessage,
    Press,
    ReachabilityChange,
    SenderProfile,
    StatusUpdate,
)
from core.tracing import SpanKind

KINDS = {
    InboundMessage: "message",
    Amendment: "amendment",
    Press: "press",
    Reaction: "reaction",
    PlaceMove: "place",
    IgnoredMessage: "ignored",
    StatusUpdate: "status",
    ReachabilityChange: "reachability",
    AddressChange: "address",
    SenderProfile: "profile",
}


class MeasuredInbox(Inbox):
    """An inbox that reports each commit to the metrics and the trace."""

    @override
    async def accept(self, inbound: Inbound) -> Received:
        """Commit as `Inbox` does, with the same errors."""
        with tracing.span("receive", SpanKind.CONSUMER, {"onevalet.inbound.kind": KINDS[type(inbound)]}) as span:
            received = await self._measured(inbound)
            span.set({"onevalet.inbound": received.id or "", "onevalet.inbound.duplicate": received.duplicate})
            return received

    async def _measured(self, inbound: Inbound) -> Received:
        began, outcome = time.monotonic(), "failed"
        try:
            received = await super().accept(inbound)
            outcome = "duplicate" if received.duplicate else "accepted"
            return received
        except RequestRefused:
            outcome = "refused"
            raise
        except StoreUnavailable:
            outcome = "not_kept"
            raise
        finally:
            metrics.INBOX_SECONDS.labels(KINDS[type(inbound)], outcome).observe(time.monotonic() - began)
