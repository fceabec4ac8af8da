"""A notification channel for the tests of jobs: it records what it sends, and fails as a test tells it."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from core.errors import Unavailable
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from tests.eventually import never

type Act = Exception | Callable[[Target], object] | Literal["hang"]
"""What a call does: raise, run a function and be accepted, or hang."""


@dataclass(slots=True)
class RecordingChannel:
    """A notification channel that accepts everything, except as `acts` says for the next calls."""

    name: str = "sms"
    can_find: bool = True
    resend_unknown: bool = False
    acts: deque[Act] = field(default_factory=deque)
    calls: list[tuple[str, str]] = field(default_factory=list)
    """(ref, text) of every call."""
    arrived: dict[str, str] = field(default_factory=dict)
    """The provider's id of each accepted part, by its ref."""
    taken_although_lost: bool = False
    """Whether calls that raise or hang are accepted all the same."""
    looked_up: list[tuple[str, datetime]] = field(default_factory=list)
    look_ups_fail: bool = False
    working: list[Address] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Split the text into parts at its bars; raise if a part is empty."""
        return tuple(Part(text) for text in message.text.split("|") if text or 1 / 0)

    async def send(self, part: Part, to: Target) -> Receipt:
        """Do the next act, or accept the part."""
        self.calls.append((to.ref, part.text))
        self.called.set()
        act = self.acts.popleft() if self.acts else None
        if self.taken_although_lost or act is None or callable(act):
            self.arrived[to.ref] = f"SM{len(self.arrived)}"
        if isinstance(act, Exception):
            raise act
        if act == "hang":
            await never()
        if callable(act):
            done = act(to)
            if asyncio.iscoroutine(done):
                await done
        return Receipt(self.arrived[to.ref])

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Return the receipt of a part that arrived."""
        self.looked_up.append((to.ref, since))
        if self.look_ups_fail:
            raise Unavailable("the list cannot be read")
        return Receipt(self.arrived[to.ref]) if to.ref in self.arrived else None

    async def show_working(self, to: Address) -> None:
        """Record the target."""
        self.working.append(to)

    async def close(self) -> None:
        """Release nothing."""

    @property
    def texts(self) -> list[str]:
        """Return the texts of all calls, in order."""
        return [text for _, text in self.calls]
