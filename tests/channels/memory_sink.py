"""An inbox in memory, for a channel of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from core.errors import StoreUnavailable
from core.messaging.channels import Received
from core.messaging.inbound import Inbound
from core.messaging.messages import Form, Press, SenderProfile


@dataclass
class MemorySink:
    """Keep what is accepted; know keys again; refuse while the store is away; break on a text; answer presses."""

    accepted: list[Inbound] = field(default_factory=list)
    calls: int = 0
    away: bool = False
    breaks_on: str = ""
    breaks_with: Exception = field(default_factory=lambda: RuntimeError("a bug"))
    before: Callable[[], Awaitable[object]] | None = None
    said: str = ""
    form: Form | None = None
    people: list[SenderProfile] = field(default_factory=list)
    """What a provider said of those who wrote, apart from what they wrote."""

    async def accept(self, inbound: Inbound) -> Received:
        if isinstance(inbound, SenderProfile):
            self.people.append(inbound)
            return Received(inbound.sender)
        self.calls += 1
        if self.before is not None:
            await self.before()
        if self.away:
            raise StoreUnavailable("away")
        if self.breaks_on and getattr(inbound, "text", "") == self.breaks_on:
            raise self.breaks_with
        known = {key for kept in self.accepted for key in getattr(kept, "keys", ())}
        duplicate = bool(known.intersection(getattr(inbound, "keys", ())))
        if not duplicate:
            self.accepted.append(inbound)
        answer = (self.said, self.form) if isinstance(inbound, Press) else ("", None)
        return Received(f"row_{len(self.accepted)}", duplicate, *answer)

    def texts(self) -> list[str]:
        """List the texts taken in."""
        return [text for inbound in self.accepted if (text := getattr(inbound, "text", ""))]
