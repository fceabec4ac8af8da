"""Channels of plugins: subclass the classes that you need, and name the module in ONEVALET_CHANNELS."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from core.clock import Clock
from core.errors import Unavailable
from core.messaging.channels import WHOLE, Change, Check, InboundSink, Part, Receipt, Sweep, Target
from core.messaging.messages import Address, OutboundMessage
from onevalet.relay import Relay

if TYPE_CHECKING:
    from aiohttp.web import RouteDef


@dataclass(frozen=True, slots=True)
class ChannelSetup:
    """The arguments of a channel. `relay` leads from the workers to the web process that holds a connection."""

    clock: Clock
    relay: Relay


class InboundChannel:
    """The way in over a channel of your own, in the web process. Implements `Channel`.

    `sink.accept` takes in each message; only after it returns may the sender be told that we have it.
    """

    name: str = ""
    account = "own"

    def __init__(self, setup: ChannelSetup, sink: InboundSink) -> None:
        self.setup_values = setup
        self.sink = sink

    def routes(self) -> "Sequence[RouteDef]":
        """Return the HTTP routes to serve."""
        return ()

    async def identify(self) -> None:
        """Ask for `account` if only the provider knows it."""

    async def start(self) -> None:
        """Start sockets or polling."""

    async def stop(self) -> None:
        """Stop taking in."""

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        """Bring the provider's messages since then into the inbox; return the number of new messages."""
        return 0

    async def setup(self) -> Sequence[Change]:
        """Set webhooks at the provider."""
        return ()

    async def check(self) -> Sequence[Check]:
        """Check the provider's side for `doctor`."""
        return ()


class OutboundChannel:
    """The way out over a channel of your own, in the workers. Implements `NotificationChannel`."""

    name: str = ""
    can_find: bool = False
    resend_unknown: bool = False

    def __init__(self, setup: ChannelSetup) -> None:
        self.setup_values = setup

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Turn a message into the provider's parts, in order; pure, deterministic, never empty."""
        return (Part(message.text or " "),)

    async def send(self, part: Part, to: Target) -> Receipt:
        """Make the provider call for a part. Raises `Unavailable`, `Rejected`, `Ambiguous` or `RateLimited`."""
        raise NotImplementedError

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Look up a part whose answer was lost, if `can_find`."""
        raise Unavailable("This channel cannot look up what it sent.")

    async def show_working(self, to: Address) -> None:
        """Show that we are at work; never raises."""

    async def close(self) -> None:
        """Release connections."""
