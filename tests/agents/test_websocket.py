"""The WebSocket that ships as a channel of one's own."""

import pytest

from agents.websocket import WebSocketIn
from core.clock import Clock
from core.errors import Unavailable
from core.messaging.channels import Channel
from onevalet.own_channels import ChannelSetup
from onevalet.relay import Relay


async def test_a_way_in_that_has_stopped_leaves_no_connection_open(redis_url: str) -> None:
    relay = Relay(redis_url)
    channel: Channel = WebSocketIn(ChannelSetup(Clock(), relay), sink=None)  # type: ignore[arg-type]
    assert await relay.tell("websocket:ann", {}) == 0
    await channel.stop()
    with pytest.raises(Unavailable):
        await relay.tell("websocket:ann", {})
