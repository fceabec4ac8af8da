"""What the tests of the jobs share: a channel that records what it sends and fails as told."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from core.errors import Unavailable
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage

type Act = Exception | Callable[[Target], object] | float
"""What a call does instead of being accepted: raise, act (then be accepted), or hang so many seconds."""


@dataclass(slots=True)
class RecordingChannel:
    """A notification channel that accepts everything, unless `acts` says otherwise for the next calls."""

    name: str = "sms"
    can_find: bool = True
    resend_unknown: bool = False
    acts: deque[Act] = field(default_factory=deque)
    calls: list[tuple[str, str]] = field(default_factory=list)
    """(ref, text) of every call."""
    arrived: dict[str, str] = field(default_factory=dict)
    """ref -> provider id of what was accepted."""
    taken_although_lost: bool = False
    """Whether calls that raise or hang are accepted all the same."""
    looked_up: list[tuple[str, datetime]] = field(default_factory=list)
    look_ups_fail: bool = False
    working: list[Address] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Make a part of every piece between bars; a message of nothing else breaks it."""
        return tuple(Part(text) for text in message.text.split("|") if text or 1 / 0)

    async def send(self, part: Part, to: Target) -> Receipt:
        """Do what the next act says, or accept it."""
        self.calls.append((to.ref, part.text))
        self.called.set()
        act = self.acts.popleft() if self.acts else None
        if self.taken_although_lost or act is None or callable(act):
            self.arrived[to.ref] = f"SM{len(self.arrived)}"
        if isinstance(act, Exception):
            raise act
        if isinstance(act, float):
            await asyncio.sleep(act)
        if callable(act):
            done = act(to)
            if asyncio.iscoroutine(done):
                await done
        return Receipt(self.arrived[to.ref])

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Look among what arrived."""
        self.looked_up.append((to.ref, since))
        if self.look_ups_fail:
            raise Unavailable("the list cannot be read")
        return Receipt(self.arrived[to.ref]) if to.ref in self.arrived else None

    async def show_working(self, to: Address) -> None:
        """Record it."""
        self.working.append(to)

    async def close(self) -> None:
        """Hold nothing."""

    @property
    def texts(self) -> list[str]:
        """Return the texts of all calls, in order."""
        return [text for _, text in self.calls]
