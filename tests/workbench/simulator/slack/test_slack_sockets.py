"""Socket Mode, with the official clients at the other end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from tests.eventually import eventually
from tests.workbench.simulator.conftest import PUBLIC_URL
from tests.workbench.simulator.slack.conftest import ADA_DM, Team, buttons
from workbench.simulator.config import SimulatorConfig, SlackConfig


@pytest.fixture
def simulator_config() -> SimulatorConfig:
    """Socket Mode is switched on, and Slack waits 0.3 s where it waits three."""
    slack = SlackConfig(socket_mode=True)
    return SimulatorConfig(public_url=PUBLIC_URL, pace=0.001, patience=0.1, slack=slack)


class Listener:
    """A socket of the official client that acks, or stays silent, and keeps what it got."""

    def __init__(self, client: AsyncWebClient, app_token: str, *, ping_interval: float = 5) -> None:
        self.got: list[SocketModeRequest] = []
        self.answer: dict[str, Any] | None = None
        self.silent = False
        # The SDK types none of this.
        self.socket: Any = SocketModeClient(app_token, web_client=client, ping_interval=ping_interval)
        self.socket.socket_mode_request_listeners.append(self.hear)

    async def hear(self, _: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Keep the request and ack it."""
        self.got.append(request)
        if not self.silent:
            ack = {"envelope_id": request.envelope_id, "payload": self.answer or {}}
            await self.socket.send_socket_mode_response(ack)


@pytest.fixture
async def listener(client: AsyncWebClient, team: Team) -> AsyncIterator[Listener]:
    """A connected socket."""
    listener = Listener(client, team.wire.config.slack.app_token)
    await listener.socket.connect()
    await _connected(team, 1)
    yield listener
    await listener.socket.close()


async def _connected(team: Team, count: int) -> None:
    await eventually(lambda: team.slack.sockets.count == count, f"{count} connections")


async def test_an_event_comes_over_the_socket_and_not_over_http(team: Team, listener: Listener) -> None:
    await team.act("say", text="hello")
    await team.settled()
    (request,) = listener.got
    assert (request.type, request.retry_attempt) == ("events_api", 0)
    assert request.payload["event"]["text"] == "hello"
    assert team.gateway.heard == []
    assert team.person()["deliveries"] == []


async def test_an_unacked_event_is_retried_with_its_attempt(team: Team, listener: Listener) -> None:
    listener.silent = True
    await team.act("say", text="hello")
    await eventually(lambda: len(listener.got) >= 2, "the second attempt")
    listener.silent = False
    await team.settled()
    assert [event.retry_attempt for event in listener.got][:2] == [0, 1]
    assert listener.got[1].retry_reason == "timeout"
    assert len({event.payload["event_id"] for event in listener.got}) == 1
    assert len({event.envelope_id for event in listener.got}) == len(listener.got)
    assert team.person()["failed"] == []


async def test_presses_and_commands_are_answered_in_the_ack(
    client: AsyncWebClient, team: Team, listener: Listener
) -> None:
    posted = await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[buttons("approve")])
    await team.act("press", ts=posted["ts"], action_id="approve")
    listener.answer = {"text": "Stopped."}
    await team.act("command", text="/valet stop")
    assert [event.type for event in listener.got] == ["interactive", "slash_commands"]
    assert listener.got[0].payload["actions"][0]["action_id"] == "approve"
    assert team.bubbles()[-1]["text"] == "Stopped."
    listener.silent = True
    assert (await team.act("command", text="/valet stop")) == {"ok": False, "error": "timeout"}


async def test_what_is_said_while_no_socket_is_open_is_never_replayed(client: AsyncWebClient, team: Team) -> None:
    await team.act("say", text="anybody?")
    await team.settled()
    assert team.person()["failed"][0]["attempts"][0]["outcome"] == "no_connection"
    late = Listener(client, team.wire.config.slack.app_token)
    await late.socket.connect()
    await team.act("say", text="now?")
    await team.settled()
    await late.socket.close()
    assert [event.payload["event"]["text"] for event in late.got] == ["now?"]


async def test_a_refresh_makes_the_client_reconnect(team: Team, listener: Listener) -> None:
    before = listener.socket.wss_uri
    await team.act("refresh_sockets")
    await _connected(team, 1)
    assert listener.socket.wss_uri != before
    await team.act("say", text="still there?")
    await team.settled()
    assert [event.payload["event"]["text"] for event in listener.got] == ["still there?"]


async def test_a_silently_dead_socket_answers_no_ping_and_carries_nothing(client: AsyncWebClient, team: Team) -> None:
    dead = Listener(client, team.wire.config.slack.app_token, ping_interval=0.2)
    await dead.socket.connect()
    await _connected(team, 1)
    first = dead.socket.current_session
    await team.act("set", socket_dead=True)
    saying = asyncio.create_task(team.act("say", text="lost?"))
    await eventually(lambda: dead.socket.current_session is not first and team.slack.sockets.count == 1)
    await saying
    await team.settled()
    await team.act("say", text="found")
    await team.settled()
    await dead.socket.close()
    texts = [event.payload["event"]["text"] for event in dead.got]
    # The lost one arrives only if one of its retries came after the client had noticed and reconnected.
    assert texts in (["lost?", "found"], ["found"])


async def test_the_eleventh_connection_is_sent_away(client: AsyncWebClient, team: Team) -> None:
    async with aiohttp.ClientSession() as http:
        sockets = []
        for number in range(11):
            url = (await client.apps_connections_open(app_token=team.wire.config.slack.app_token))["url"]
            sockets.append(await http.ws_connect(url))
            first = await sockets[-1].receive_json()
            assert first["type"] == ("hello" if number < 10 else "disconnect")
        assert (first["reason"], team.slack.sockets.count) == ("too_many_websockets", 10)
        for socket in sockets:
            await socket.close()
    await _connected(team, 0)


async def test_tickets_work_once_and_bot_tokens_open_no_socket(client: AsyncWebClient, team: Team) -> None:
    with pytest.raises(SlackApiError, match="not_allowed_token_type"):
        await client.apps_connections_open(app_token=str(client.token))
    url = (await client.apps_connections_open(app_token=team.wire.config.slack.app_token))["url"]
    async with aiohttp.ClientSession() as http:
        async with http.ws_connect(url) as socket:
            assert (await socket.receive_json())["num_connections"] == 1
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(url)


async def test_bolts_own_handler_serves_an_app(client: AsyncWebClient, team: Team) -> None:
    app = AsyncApp(client=client, token=client.token, process_before_response=True)
    heard: list[str] = []

    @app.event("message")
    async def on_message(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    handler: Any = AsyncSocketModeHandler(app, team.wire.config.slack.app_token)
    await handler.connect_async()
    await _connected(team, 1)
    await team.act("say", text="hello, bolt")
    await team.settled()
    await handler.close_async()
    assert heard == ["hello, bolt"]
