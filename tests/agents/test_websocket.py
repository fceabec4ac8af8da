"""The WebSocket that ships as a channel of one's own."""

import asyncio
from contextlib import aclosing

import aiohttp
import pytest
from aiohttp import web

from agents.websocket import WebSocketIn
from channels.http.app import serve
from core.clock import Clock
from core.errors import Unavailable
from core.messaging.channels import Channel
from core.messaging.messages import InboundMessage, Press
from onevalet.own_channels import ChannelSetup
from onevalet.relay import Relay
from tests.channels.memory_sink import MemorySink
from tests.patience import PATIENCE


async def test_a_way_in_that_has_stopped_leaves_no_connection_open(redis_url: str) -> None:
    relay = Relay(redis_url)
    channel: Channel = WebSocketIn(ChannelSetup(Clock(), relay), sink=None)  # type: ignore[arg-type]
    assert await relay.tell("websocket:ann", {}) == 0
    await channel.stop()
    with pytest.raises(Unavailable):
        await relay.tell("websocket:ann", {})


async def test_what_an_app_sends_is_kept_and_what_it_took_is_passed_on(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBSOCKET_TOKENS", "ann:0123456789abcdef, bob:short")
    relay, sink = Relay(redis_url), MemorySink()
    channel = WebSocketIn(ChannelSetup(Clock(), relay), sink)
    app = web.Application()
    app.add_routes(channel.routes())
    async with (
        asyncio.timeout(PATIENCE),
        serve(app, "127.0.0.1", 0) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
        session.ws_connect("/websocket") as ann,
        session.ws_connect("/websocket") as stranger,
        aclosing(relay.hear("websocket:taken:out_1")) as heard,
    ):
        await stranger.send_json({"token": "short"})
        assert (await stranger.receive()).data == 4401
        await ann.send_json({"token": "0123456789abcdef"})
        assert await ann.receive_json() == {"ready": True}
        for said in ({"id": 1, "say": "hello"}, {"id": 2, "press": "tok"}):
            await ann.send_json(said)
            assert await ann.receive_json() == {"kept": said["id"]}
        assert await anext(heard) == {}
        await ann.send_json({"taken": "out_1"})
        assert await anext(heard) == {"by": "ann"}
        for wrong in ('{"shout": "hello"}', "[]", "hello"):
            await ann.send_str(wrong)
            assert await ann.receive_json() == {"error": "Send say, press or taken."}
    await channel.stop()
    message, press = sink.accepted
    assert isinstance(message, InboundMessage)
    assert isinstance(press, Press)
    assert (message.text, message.keys, message.sender) == ("hello", ("ann:1",), "ann")
    assert (press.token, press.keys, press.sender) == ("tok", ("ann:2",), "ann")
