"""The way out to people's programs: they read their answers from the outbox, by the token of the request."""

from datetime import datetime

from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from core.messaging.programs import CHANNEL
from notify.no_text import no_text


class ClientNotification:
    """A part counts as sent when it is in the outbox."""

    name = CHANNEL
    can_find = True
    resend_unknown = True

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return (Part(message.text.strip() or no_text()),)

    async def send(self, part: Part, to: Target) -> Receipt:
        return Receipt(provider_id=f"mcp-{to.ref}")

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        return None  # an unfinished part was never read: programs only read sent parts

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None: ...
