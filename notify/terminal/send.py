"""The way out to the terminal: `chat` reads sent parts from the outbox and marks them read."""

from datetime import datetime

from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from notify.terminal.render import render


class TerminalNotification:
    """A part counts as sent once it is in the outbox, which the terminal shows."""

    name = "terminal"
    can_find = True
    resend_unknown = True

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message)

    async def send(self, part: Part, to: Target) -> Receipt:
        return Receipt(provider_id=f"terminal-{to.ref}")

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        return None  # an unfinished part never arrived: it is shown only once it is marked sent

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None: ...
