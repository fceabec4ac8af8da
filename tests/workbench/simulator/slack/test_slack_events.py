"""What the gateway is told: signatures, envelopes, retries with their headers, interactions and commands."""

import itertools
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt import BoltResponse
from slack_bolt.middleware.request_verification.async_request_verification import AsyncRequestVerification
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.workbench.simulator.conftest import PUBLIC_URL, Heard
from tests.workbench.simulator.slack.conftest import ADA_DM, Team, buttons, modal, section
from workbench.simulator.base import BadAction
from workbench.simulator.config import SimulatorConfig
from workbench.simulator.faults import FaultKind, Rule


def _payload(heard: Heard) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(heard.form["payload"])
    return value


async def _bolt_accepts(team: Team, heard: Heard) -> bool:
    passed = []

    async def go_on() -> BoltResponse:
        passed.append(True)
        return BoltResponse(status=200)

    check = AsyncRequestVerification(team.wire.config.slack.signing_secret)
    headers: dict[str, Any] = {name: [value] for name, value in heard.headers.items()}
    request = AsyncBoltRequest(body=heard.body.decode(), headers=headers)
    await check.async_process(req=request, resp=BoltResponse(status=200), next=go_on)
    return bool(passed)


async def test_what_a_person_says_arrives_signed_and_whole(team: Team) -> None:
    sent = await team.act("say", text="Fish & chips <b>")
    (heard,) = await team.heard()
    assert SignatureVerifier(team.wire.config.slack.signing_secret).is_valid_request(heard.body, heard.headers)
    assert await _bolt_accepts(team, heard)
    body = json.loads(heard.body)
    event = body["event"]
    assert (body["type"], body["team_id"], body["api_app_id"]) == ("event_callback", "T0SIM00001", "A0SIM00001")
    assert body["authorizations"][0]["user_id"] == "U0BOT00001"
    assert (event["type"], event["channel_type"], event["channel"]) == ("message", "im", ADA_DM)
    assert (event["ts"], event["event_ts"]) == (sent["ts"], sent["ts"])
    assert event["text"] == "Fish &amp; chips &lt;b&gt;"
    assert event["client_msg_id"]
    assert event["blocks"][0]["elements"][0]["elements"][0]["text"] == "Fish & chips <b>"
    assert team.bubbles()[0]["text"] == "Fish & chips <b>"


async def test_every_kind_of_request_passes_bolts_verification(client: AsyncWebClient, team: Team) -> None:
    posted = await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[buttons("approve")])
    await team.act("say", text="ünïcode ✓")
    await team.act("press", ts=posted["ts"], action_id="approve")
    await team.act("command", text="/valet stop it – now")
    await team.act("open_home")
    await team.act("mention", text="hello")
    heard = await team.heard(6)
    assert [await _bolt_accepts(team, request) for request in heard] == [True] * 6


async def test_edits_deletions_and_other_bots_are_told(team: Team) -> None:
    ts = (await team.act("say", text="teh cat"))["ts"]
    await team.settled()
    await team.act("edit", ts=ts, text="the cat")
    await team.settled()
    await team.act("delete", ts=ts)
    await team.settled()
    await team.act("as_bot", text="deploy done")
    events = [body["event"] for body in await team.events(4)]
    assert [event.get("subtype") for event in events] == [None, "message_changed", "message_deleted", None]
    assert events[1]["message"]["text"] == "the cat"
    assert events[1]["message"]["edited"]["user"] == "U0ADA00001"
    assert events[1]["previous_message"]["text"] == "teh cat"
    assert events[3]["bot_id"] == "B0OTHERBOT"


async def test_the_bots_own_messages_come_back_as_events(client: AsyncWebClient, team: Team) -> None:
    await team.act("set", own_events=True)
    posted = await client.chat_postMessage(channel=ADA_DM, text="one")
    await team.settled()
    await client.chat_update(channel=ADA_DM, ts=posted["ts"], text="two")
    first, second = [body["event"] for body in await team.events(2)]
    assert (first["bot_id"], first["app_id"], first["ts"]) == ("B0BOT00001", "A0SIM00001", posted["ts"])
    assert (second["subtype"], second["message"]["text"]) == ("message_changed", "two")


async def test_a_mention_and_its_message_share_a_ts(team: Team) -> None:
    await team.act("mention", text="are you there?")
    events = [body["event"] for body in await team.events(2)]
    assert {event["type"] for event in events} == {"app_mention", "message"}
    assert events[0]["ts"] == events[1]["ts"]
    assert events[0]["text"] == "<@U0BOT00001> are you there?"


async def test_a_failing_gateway_gets_three_retries_with_number_and_reason(team: Team) -> None:
    async def fail(_: web.Request) -> web.StreamResponse:
        return web.Response(status=500)

    team.gateway.respond = fail
    await team.act("say", text="hello")
    await team.settled()
    heard = team.gateway.heard
    assert [request.headers.get("X-Slack-Retry-Num") for request in heard] == [None, "1", "2", "3"]
    assert [request.headers.get("X-Slack-Retry-Reason") for request in heard] == [None, *["http_error"] * 3]
    assert len({json.loads(request.body)["event_id"] for request in heard}) == 1
    assert [await _bolt_accepts(team, request) for request in heard] == [True] * 4
    (failed,) = team.person()["failed"]
    assert (failed["kind"], len(failed["attempts"])) == ("message", 4)
    team.gateway.respond = None
    again = await team.act("redeliver", number=failed["number"])
    await team.settled()
    assert json.loads(team.gateway.heard[-1].body)["event_id"] == again["event_id"]
    assert team.person()["failed"] == []


async def test_retries_come_at_once_after_one_minute_and_after_five(team: Team) -> None:
    async def fail(_: web.Request) -> web.StreamResponse:
        return web.Response(status=500)

    team.gateway.respond = fail
    await team.act("say", text="hello")
    await team.settled()
    moments = [call.at for call in team.wire.journal.calls(provider="slack")]
    gaps = [round(later - sooner, 3) for sooner, later in itertools.pairwise(moments)]
    pace = team.wire.config.pace
    assert gaps[0] < 60 * pace <= gaps[1] < 300 * pace <= gaps[2]


async def test_no_retry_ends_the_retries(team: Team) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=503, headers={"X-Slack-No-Retry": "1"})

    team.gateway.respond = refuse
    await team.act("say", text="hello")
    await team.settled()
    assert len(team.gateway.heard) == 1


async def test_the_next_attempt_succeeds_after_a_redirect_loop(team: Team) -> None:
    async def turn(request: web.Request) -> web.StreamResponse:
        if "X-Slack-Retry-Num" in request.headers:
            return web.Response()
        raise web.HTTPFound(f"{PUBLIC_URL}/webhooks/slack")

    team.gateway.respond = turn
    await team.act("say", text="hello")
    await team.settled()
    assert team.gateway.heard[-1].headers["X-Slack-Retry-Reason"] == "too_many_redirects"
    assert len(team.gateway.heard) == 4


class TestImpatient:
    """With a tenth of Slack's patience."""

    @pytest.fixture
    def simulator_config(self) -> SimulatorConfig:
        """Wait 0.15 s where Slack waits three."""
        return SimulatorConfig(public_url=PUBLIC_URL, pace=0.001, patience=0.05)

    async def test_an_answer_after_the_deadline_counts_as_none(self, team: Team) -> None:
        async def dawdle(request: web.Request) -> web.StreamResponse:
            if "X-Slack-Retry-Num" not in request.headers:
                await team.wire.wait(400)
            return web.Response()

        team.gateway.respond = dawdle
        await team.act("say", text="hello")
        await team.settled()
        assert [request.headers.get("X-Slack-Retry-Reason") for request in team.gateway.heard] == [None, "http_timeout"]

    async def test_a_late_answer_to_a_press_is_an_error_and_never_retried(
        self, client: AsyncWebClient, team: Team
    ) -> None:
        async def dawdle(_: web.Request) -> web.StreamResponse:
            await team.wire.wait(400)
            return web.Response()

        team.gateway.respond = dawdle
        posted = await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[buttons("approve")])
        pressed = await team.act("press", ts=posted["ts"], action_id="approve")
        assert pressed == {"ok": False, "error": "http_timeout"}
        assert [delivery["kind"] for delivery in team.person()["failed"]] == ["block_actions"]
        assert len(team.gateway.heard) == 1


async def test_a_press_carries_all_that_identifies_it(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="send it"))["ts"]
    posted = await client.chat_postMessage(
        channel=ADA_DM, text="Send?", blocks=[section(), buttons("approve", "cancel")], thread_ts=root
    )
    await team.act("press", ts=posted["ts"], action_id="approve")
    payload = _payload((await team.heard(2))[-1])
    assert payload["type"] == "block_actions"
    assert (payload["user"]["id"], payload["team"]["id"]) == ("U0ADA00001", "T0SIM00001")
    assert payload["container"]["message_ts"] == posted["ts"]
    assert (payload["container"]["thread_ts"], payload["message"]["thread_ts"]) == (root, root)
    (action,) = payload["actions"]
    assert (action["action_id"], action["block_id"], action["value"]) == ("approve", "decide", "7K")
    assert action["action_ts"]
    with pytest.raises(BadAction):
        await team.act("press", ts=posted["ts"], action_id="launch")
    with pytest.raises(BadAction):
        await team.act("press", person="grace", ts=posted["ts"], action_id="approve")


async def test_a_response_url_works_five_times(client: AsyncWebClient, team: Team) -> None:
    posted = await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[buttons("approve")])
    await team.act("press", ts=posted["ts"], action_id="approve")
    hook = AsyncWebhookClient(_payload((await team.heard())[-1])["response_url"])
    replaced = await hook.send(text="Approved.", replace_original=True)
    assert (replaced.status_code, replaced.body) == (200, "ok")
    assert team.bubbles()[0]["text"] == "Approved."
    for number in range(4):
        assert (await hook.send(text=f"note {number}")).status_code == 200
    assert [bubble["ephemeral"] for bubble in team.bubbles()] == [False, True, True, True, True]
    last = await hook.send(text="once more")
    assert (last.status_code, json.loads(last.body)["error"]) == (404, "used_url")


async def test_a_response_url_expires_and_refuses_bad_messages(client: AsyncWebClient, team: Team) -> None:
    posted = await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[buttons("approve")])
    await team.act("press", ts=posted["ts"], action_id="approve")
    hook = AsyncWebhookClient(_payload((await team.heard())[-1])["response_url"])
    assert (await hook.send(text="x", blocks=[{"type": "nothing"}])).status_code == 400
    team.clock.offset += 1_801
    assert json.loads((await hook.send(text="late")).body)["error"] == "expired_url"


async def test_a_command_is_a_form_and_its_answer_is_shown_to_the_person_alone(team: Team) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response({"text": "Stopped."})

    team.gateway.respond = answer
    await team.act("command", text="/valet stop please")
    form = (await team.heard())[0].form
    assert (form["command"], form["text"], form["user_id"]) == ("/valet", "stop please", "U0ADA00001")
    assert (form["channel_id"], form["channel_name"]) == (ADA_DM, "directmessage")
    assert [(bubble["text"], bubble["ephemeral"]) for bubble in team.bubbles()] == [("Stopped.", True)]
    with pytest.raises(BadAction, match="not a valid command"):
        await team.act("command", text="/giphy cat")


async def test_the_url_is_verified_by_its_challenge(team: Team) -> None:
    assert await team.act("verify_url") == {"ok": False}

    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"challenge": (await request.json())["challenge"]})

    team.gateway.respond = echo
    assert await team.act("verify_url") == {"ok": True}
    assert await _bolt_accepts(team, team.gateway.heard[-1])


async def test_the_control_api_acts_and_resets(team: Team) -> None:
    async with aiohttp.ClientSession() as http:
        message = {"person": "ada", "text": "hello"}
        async with http.post(f"{team.wire.url}/sim/slack/say", json=message) as answer:
            assert (await answer.json())["ok"]
        async with http.post(f"{team.wire.url}/sim/slack/dance", json={"person": "ada"}) as answer:
            assert answer.status == 400
        async with http.get(f"{team.wire.url}/sim/state") as answer:
            state = await answer.json()
        assert state["slack"]["people"]["ada"]["bubbles"][0]["text"] == "hello"
        async with http.post(f"{team.wire.url}/sim/reset") as answer:
            assert answer.status == 200
    assert team.bubbles() == []


async def test_the_journal_ties_calls_to_their_message(client: AsyncWebClient, team: Team) -> None:
    team.wire.faults.add(Rule("slack.chat.update", FaultKind.SERVER_ERROR))
    posted = await client.chat_postMessage(channel=ADA_DM, text="x")
    with pytest.raises(SlackApiError):
        await client.chat_update(channel=ADA_DM, ts=posted["ts"], text="y")
    calls = team.wire.journal.calls(about=posted["ts"])
    assert [(call.endpoint, call.status) for call in calls] == [("slack.chat.postMessage", 200)]


async def test_app_home_is_published_opened_and_pressed(client: AsyncWebClient, team: Team) -> None:
    home = {"type": "home", "blocks": [section("Your day"), buttons("refresh")]}
    await team.act("open_home")
    await team.settled()
    published = (await client.views_publish(user_id="U0ADA00001", view=home))["view"]
    await team.act("open_home")
    await team.settled()
    first, second = await team.events(2)
    assert (first["event"]["type"], first["event"]["tab"]) == ("app_home_opened", "home")
    assert "view" not in first["event"]
    assert second["event"]["view"]["id"] == published["id"]
    await team.act("press", view_id=published["id"], action_id="refresh")
    assert _payload((await team.heard(3))[-1])["container"] == {"type": "view", "view_id": published["id"]}
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await client.views_publish(user_id="U0ADA00001", view=home, hash="0.0")
    modal_at_home = modal(type="home")
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.views_publish(user_id="U0ADA00001", view=modal_at_home)


async def test_a_file_comes_with_an_address_that_wants_the_bots_token(client: AsyncWebClient, team: Team) -> None:
    await team.act("say", text="look", files=[{"name": "list.txt", "content": "eggs"}])
    (body,) = await team.events()
    (file,) = body["event"]["files"]
    assert (body["event"]["subtype"], file["mimetype"], file["size"]) == ("file_share", "text/plain", 4)
    async with aiohttp.ClientSession() as http:
        async with http.get(file["url_private"]) as answer:
            assert (answer.status, answer.content_type) == (200, "text/html")
        headers = {"Authorization": f"Bearer {client.token}"}
        async with http.get(file["url_private_download"], headers=headers) as answer:
            assert await answer.read() == b"eggs"


async def test_one_gesture_may_come_as_two_events(team: Team) -> None:
    await team.act("say", text="once", doubled=True)
    events = [body["event"] for body in await team.events(2)]
    assert len({event["client_msg_id"] for event in events}) == 1
    assert len({event["ts"] for event in events}) == 2


async def test_anybody_in_a_channel_can_press_a_button_there(client: AsyncWebClient, team: Team) -> None:
    posted = await client.chat_postMessage(channel="C0GENERAL1", text="x", blocks=[buttons("approve")])
    await team.act("press", person="grace", channel="C0GENERAL1", ts=posted["ts"], action_id="approve")
    assert _payload((await team.heard())[-1])["user"]["id"] == "U0GRACE002"
