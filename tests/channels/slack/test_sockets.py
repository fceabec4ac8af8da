"""Socket Mode against Slack as emulated: acknowledged after the commit, and never silently dead."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from time import monotonic
from typing import cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.web.async_client import AsyncWebClient
from structlog.testing import capture_logs

from channels.slack.bolt_app import BoltGateway
from channels.slack.sockets import REPLACED_WITHIN, Pace, Sockets
from core import metrics
from core.messaging.messages import Command, Form, FormField, InboundMessage, Press
from providers.slack.client import SlackApi
from tests.channels.slack.team import ADA_DM, Team, running_team
from tests.eventually import eventually
from workbench.simulator.config import SlackConfig
from workbench.simulator.faults import FaultKind, Rule

QUICK = Pace(ping=0.2, look=0.02, connect=1.0, wait=0.05, longest=0.2, finish=1.0)


@pytest.fixture
async def team() -> AsyncIterator[Team]:
    """Slack waits 0.3 s for an ack where it waits three."""
    async with running_team(socket_mode=True, patience=0.1, pace=QUICK) as running:
        await eventually(lambda: running.slack.sockets.count == 1)
        await running.act("set", own_events=False)
        yield running


def texts(team: Team) -> list[str]:
    return [item.text for item in team.sink.accepted if isinstance(item, InboundMessage)]


async def test_promise_1_events_and_commands_come_over_the_socket(team: Team) -> None:
    await team.act("say", text="hello")
    await team.settled()
    assert (await team.act("command", text="/valet stop"))["ok"]
    assert texts(team) == ["hello", "/valet stop"]
    assert team.sink.accepted[1].command == Command("stop")  # type: ignore[union-attr]
    assert team.person()["deliveries"] == []


async def test_a_press_and_its_form_come_over_the_socket(team: Team) -> None:
    button = {"type": "button", "action_id": "choice_0", "text": {"type": "plain_text", "text": "OK"}, "value": "tok"}
    client = AsyncWebClient(token=SlackConfig().bot_token, base_url=team.simulator.slack_url)
    card = await client.chat_postMessage(
        channel=ADA_DM, text="card", blocks=[{"type": "actions", "elements": [button]}]
    )
    team.sink.form = Form("tok_form", "Change", "", (FormField("when", "When", "noon"),))
    assert (await team.act("press", ts=card["ts"], action_id="choice_0"))["ok"]
    await eventually(lambda: bool(team.person()["modals"]))
    team.sink.form = None
    assert (await team.act("submit", view_id=team.person()["modals"][0]["id"], values={}))["outcome"] == "closed"
    pressed, sent = [press for press in team.sink.accepted if isinstance(press, Press)]
    assert (pressed.token, sent.token, sent.entered) == ("tok", "tok_form", (("when", "noon"),))


async def test_promise_1_an_envelope_is_acknowledged_only_after_the_commit(team: Team) -> None:
    committed, begun = asyncio.Event(), asyncio.Event()

    async def slowly() -> None:
        begun.set()
        await committed.wait()

    team.sink.before = slowly
    await team.act("say", text="hello")
    await begun.wait()
    assert await told(team) == []  # a request that came later is answered
    assert team.slack.hub.world.deliveries[0].state == "pending"
    committed.set()
    await team.settled()
    assert team.person()["failed"] == []
    assert texts(team) == ["hello"]


async def test_promise_1_without_the_store_nothing_is_acked_and_slack_resends(team: Team) -> None:
    async def fail_once() -> None:
        team.sink.away = team.sink.calls == 1

    team.sink.before = fail_once
    with capture_logs() as logs:
        await team.act("say", text="hello")
        await team.settled()
    assert (team.sink.calls, texts(team)) == (2, ["hello"])
    assert [line["event"] for line in logs if line["log_level"] in ("error", "critical")] == []


async def test_a_payload_of_another_shape_is_not_acknowledged_and_hurts_nobody(team: Team) -> None:
    sent = await team.slack.sockets.send("events_api", {"type": "event_callback"}, "")
    assert sent == "timeout"
    await team.act("say", text="hello")
    await team.settled()
    assert texts(team) == ["hello"]


async def test_a_refresh_is_followed_without_a_gap(team: Team) -> None:
    for number in range(3):
        await team.act("refresh_sockets")
        await eventually(lambda: team.slack.sockets.count == 1)
        await team.act("say", text=f"still there {number}?")
        await team.settled()
    assert texts(team) == [f"still there {number}?" for number in range(3)]


async def test_promise_3_a_silently_dead_socket_is_replaced_in_the_stated_time(team: Team) -> None:
    (dead,) = team.slack.sockets._connections
    await team.act("set", socket_dead=True)
    begun = monotonic()
    await eventually(lambda: any(connection is not dead for connection in team.slack.sockets._connections))
    # Everything here is paced 25 times faster than in life.
    assert monotonic() - begun < REPLACED_WITHIN
    await eventually(lambda: dead not in team.slack.sockets._connections)
    await team.act("say", text="hello")
    await team.settled()
    assert texts(team) == ["hello"]


def test_the_stated_time_follows_from_the_pace() -> None:
    pace = Pace()
    assert pace.ping * 1.5 + pace.look + pace.connect < REPLACED_WITHIN


async def test_a_socket_that_cannot_be_opened_is_tried_again_with_a_new_address(team: Team) -> None:
    team.simulator.wire.faults.add(Rule("slack.apps.connections.open", FaultKind.SERVER_ERROR, times=3))
    await team.act("refresh_sockets")
    await eventually(lambda: team.slack.sockets.count == 1)
    await team.act("say", text="hello")
    await team.settled()
    assert texts(team) == ["hello"]
    text = "while away"
    assert text not in texts(team)


async def test_a_redirect_of_the_socket_is_not_followed() -> None:
    asked: list[str] = []

    async def opened(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": str(server.make_url("/socket")).replace("http", "ws", 1)})

    async def away(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": str(server.make_url("/latest/meta-data"))})

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response()

    app = web.Application()
    app.add_routes([web.post("/api/apps.connections.open", opened), web.get("/socket", away)])
    app.add_routes([web.get("/latest/meta-data", elsewhere)])
    async with TestServer(app) as server:
        api = SlackApi(bot_token=SlackConfig().bot_token, api_url=str(server.make_url("/api/")))
        assert await Sockets(api, cast(BoltGateway, None), "xapp-1", QUICK)._connect() is None
        await api.close()
    assert asked == []


async def test_a_slack_that_sends_every_socket_away_at_once_is_asked_ever_less() -> None:
    opens: list[float] = []

    async def opened(_: web.Request) -> web.Response:
        opens.append(monotonic())
        return web.json_response({"ok": True, "url": str(server.make_url("/socket")).replace("http", "ws", 1)})

    async def socket(request: web.Request) -> web.WebSocketResponse:
        response = web.WebSocketResponse()
        await response.prepare(request)
        await response.send_json({"type": "hello"})
        await response.send_json({"type": "disconnect", "reason": "too_many_websockets"})
        await response.receive()
        return response

    app = web.Application()
    app.add_routes([web.post("/api/apps.connections.open", opened), web.get("/socket", socket)])
    async with TestServer(app) as server:
        api = SlackApi(bot_token=SlackConfig().bot_token, api_url=str(server.make_url("/api/")))
        pace = Pace(ping=0.2, look=0.02, connect=1.0, wait=0.1, longest=10.0)
        holding = asyncio.create_task(Sockets(api, cast(BoltGateway, None), "xapp-1", pace).run())
        await eventually(lambda: len(opens) == 4)
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        await api.close()
    pauses = [later - earlier for earlier, later in pairwise(opens)]
    assert all(pause >= least for pause, least in zip(pauses, (0.1, 0.2, 0.4), strict=True)), pauses


async def test_stopping_while_an_old_socket_closes_ends_the_new_one_too() -> None:
    closing, ended = asyncio.Event(), asyncio.Event()

    async def opened(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": str(server.make_url("/socket")).replace("http", "ws", 1)})

    async def socket(request: web.Request) -> web.WebSocketResponse:
        response = web.WebSocketResponse(autoclose=False)
        await response.prepare(request)
        await response.send_json({"type": "hello"})
        await response.send_json({"type": "disconnect", "reason": "refresh_requested"})
        while (await response.receive()).type is not web.WSMsgType.CLOSE:
            pass
        closing.set()
        await ended.wait()
        return response

    app = web.Application()
    app.add_routes([web.post("/api/apps.connections.open", opened), web.get("/socket", socket)])
    async with TestServer(app) as server:
        api = SlackApi(bot_token=SlackConfig().bot_token, api_url=str(server.make_url("/api/")))
        pace = Pace(ping=0.2, look=0.02, connect=1.0, wait=0.1, longest=10.0)
        holding = asyncio.create_task(Sockets(api, cast(BoltGateway, None), "xapp-1", pace).run())
        await eventually(closing.is_set)
        holding.cancel()
        ended.set()
        await asyncio.gather(holding, return_exceptions=True)
        await api.close()


async def test_promise_3_what_was_said_between_two_sockets_is_found_by_catch_up(team: Team) -> None:
    team.simulator.wire.faults.add(Rule("slack.apps.connections.open", FaultKind.SERVER_ERROR, times=2))
    await team.act("refresh_sockets")
    await team.act("say", text="anybody?")
    await team.settled()
    await eventually(lambda: team.slack.sockets.count == 1)
    assert await team.channel.catch_up(datetime.now(UTC) - timedelta(hours=1)) == 1
    assert texts(team) == ["anybody?"]


async def test_stopping_lets_what_is_being_committed_end_and_be_acknowledged(team: Team) -> None:
    begun, committed = asyncio.Event(), asyncio.Event()

    async def slowly() -> None:
        begun.set()
        await committed.wait()

    team.sink.before = slowly
    await team.act("say", text="last words")
    await begun.wait()
    stopping = asyncio.create_task(team.channel.stop())
    await told(team)  # a request that came later is answered
    assert not stopping.done()
    committed.set()
    await stopping
    await team.settled()
    assert texts(team) == ["last words"]
    assert team.person()["failed"] == []
    await eventually(lambda: team.slack.sockets.count == 0)


async def test_metrics_and_health_tell_whether_a_socket_is_open(team: Team) -> None:
    def is_open() -> float | None:
        return metrics.REGISTRY.get_sample_value("onevalet_socket_open", {"channel": "slack"})

    await eventually(lambda: is_open() == 1)
    assert await told(team) == []
    team.simulator.wire.faults.add(Rule("slack.apps.connections.open", FaultKind.SERVER_ERROR, times=1000))
    await team.act("set", socket_dead=True)
    await eventually(lambda: is_open() == 0)
    assert await told(team) == ["slack: its socket is closed"]
    team.simulator.wire.faults.clear()
    await team.act("set", socket_dead=False)
    await eventually(lambda: is_open() == 1)
    assert await told(team) == []


async def told(team: Team) -> list[str]:
    """Return what `/healthz` and `/readyz` tell of stalls, with 200."""
    bodies = []
    for path in ("/healthz", "/readyz"):
        async with team.gateway.session.get(f"http://127.0.0.1:{team.gateway.port}{path}") as answer:
            assert answer.status == 200
            bodies.append((await answer.json())["degraded"])
    assert bodies[0] == bodies[1]
    return list(bodies[0])


async def test_a_wrong_app_token_is_logged_and_not_raised() -> None:
    with capture_logs() as logs:
        async with running_team(socket_mode=True, pace=QUICK, app_token="xapp-wrong") as running:
            await eventually(lambda: any(line["event"] == "slack_socket_not_opened" for line in logs))
            assert running.slack.sockets.count == 0
    assert "xapp-wrong" not in str(logs)
    assert any("invalid_auth" in str(line.get("cause")) for line in logs)
