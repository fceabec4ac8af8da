"""The ways in of a process, over an inbox that commits to the database."""

from core.clock import Clock
from core.ids import make_id
from core.messaging.channels import Channel
from onevalet.wiring.channels import build_channels
from onevalet.wiring.connections import Connections
from operations.metrics.inbox import MeasuredInbox


def build_inbound(connections: Connections, clock: Clock) -> list[Channel]:
    """Create the ways in that are on, over an inbox that commits to the database, or through the router to it."""
    settings = connections.settings
    inbox = MeasuredInbox(
        connections.way_in,
        connections.wakeups,
        make_id,
        settings.access,
        clock=clock,
        waiting=settings.waiting,
        codes_only=settings.codes_only,
    )
    channels = build_channels(settings, inbox, connections.way_in)
    if settings.onevalet_channels:
        from onevalet.wiring.own_channels import own_ways_in

        channels.extend(own_ways_in(settings, inbox))
    return channels
