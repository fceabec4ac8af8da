"""The webhook as Slack calls it: acknowledged after the commit, and only then."""

import asyncio
import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from core.messaging.messages import Command, InboundMessage, Press
from tests.channels.memory_sink import MemorySink
from tests.channels.slack.builders import (
    DM,
    PERSON,
    SAID,
    TEAM,
    TS,
    Gateway,
    command,
    envelope,
    make_channel,
    message,
    press,
    serve_channel,
    submission,
)


async def test_promise_1_a_signed_message_is_accepted(gateway: Gateway) -> None:
    response = await gateway.post(envelope())
    assert (response.status, await response.text()) == (200, "")
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert (inbound.text, inbound.sender, inbound.address.peer, inbound.address.account) == (SAID, PERSON, DM, TEAM)


async def test_promise_1_the_acknowledgement_comes_after_the_commit(gateway: Gateway) -> None:
    begun, committed = asyncio.Event(), asyncio.Event()

    async def slowly() -> None:
        begun.set()
        await committed.wait()

    gateway.sink.before = slowly
    for kind in ("event", "command"):
        begun.clear()
        committed.clear()
        sending = gateway.post(envelope()) if kind == "event" else gateway.post_form(command())
        asking = asyncio.create_task(sending)
        await begun.wait()
        later = await gateway.session.get(f"http://127.0.0.1:{gateway.port}/healthz")
        assert (later.status, asking.done()) == (200, False)
        committed.set()
        assert (await asking).status == 200


@pytest.mark.parametrize("kind", ["event", "command", "press", "view"])
async def test_promise_1_without_the_store_slack_gets_503_and_retries(gateway: Gateway, kind: str) -> None:
    async def once() -> int:
        match kind:
            case "event":
                return (await gateway.post(envelope())).status
            case "command":
                return (await gateway.post_form(command())).status
            case "press":
                return (await gateway.interact(press())).status
        return (await gateway.interact(submission())).status

    if kind == "view":  # in which conversation a form stands is known from the press that opened it
        await gateway.interact(press())
        gateway.sink.accepted.clear()
    gateway.sink.away = True
    with capture_logs() as logs:
        assert await once() == 503
    assert [line["event"] for line in logs if line["log_level"] == "error"] == []
    gateway.sink.away = False
    assert await once() == 200
    assert len(gateway.sink.accepted) == 1


@pytest.mark.parametrize("number", ["1", "2", "3"])
async def test_promise_2_a_retry_header_never_drops_a_message(gateway: Gateway, number: str) -> None:
    response = await gateway.post(envelope(), **{"X-Slack-Retry-Num": number, "X-Slack-Retry-Reason": "http_timeout"})
    assert response.status == 200
    assert len(gateway.sink.accepted) == 1


async def test_promise_2_a_replay_is_the_inboxs_business_and_gets_200(gateway: Gateway) -> None:
    statuses = [(await gateway.post(envelope())).status for _ in range(3)]
    assert statuses == [200, 200, 200]
    assert gateway.sink.calls == 3
    assert len(gateway.sink.accepted) == 1


async def test_a_challenge_is_answered_and_kept_from_the_inbox(gateway: Gateway) -> None:
    response = await gateway.post({"type": "url_verification", "token": "x", "challenge": "abc123"})
    assert (response.status, json.loads(await response.text())) == (200, {"challenge": "abc123"})
    assert gateway.sink.calls == 0


@pytest.mark.parametrize(
    "body",
    [
        {"type": "app_rate_limited", "team_id": TEAM, "minute_rate_limited": 1518467820, "api_app_id": "A0APP00001"},
        envelope({"type": "team_join", "user": {"id": PERSON}}),
        envelope({"type": "app_home_opened", "user": PERSON, "channel": DM, "tab": "messages"}),
    ],
)
async def test_kinds_that_we_do_not_handle_are_acknowledged(gateway: Gateway, body: dict[str, Any]) -> None:
    assert (await gateway.post(body)).status == 200
    assert gateway.sink.calls == 0


async def test_interactions_that_we_do_not_handle_are_acknowledged(gateway: Gateway) -> None:
    for kind in ("view_closed", "shortcut", "message_action", "block_suggestion"):
        assert (await gateway.interact(press(type=kind))).status == 200
    assert (await gateway.post_form({"ssl_check": "1", "token": "x"})).status == 200
    assert gateway.sink.calls == 0


async def test_promise_1_a_press_is_acknowledged_empty_and_handed_in(gateway: Gateway) -> None:
    gateway.sink.said = "Done."  # Slack cannot be reached here: a word that cannot be shown blocks nothing
    for payload in (press(), submission()):  # the press tells the conversation in which the form stands
        response = await gateway.interact(payload)
        assert (response.status, await response.text()) == (200, "")
    pressed, sent = gateway.sink.accepted
    assert isinstance(pressed, Press)
    assert isinstance(sent, Press)
    assert (pressed.token, pressed.sender, pressed.provider_id) == ("tok_1", PERSON, TS)
    assert (sent.token, sent.entered, sent.address) == ("tok_2", (("when", "3pm"),), pressed.address)


async def test_a_sent_form_whose_conversation_cannot_be_found_stays_open(gateway: Gateway) -> None:
    assert (await gateway.interact(submission())).status == 503
    assert gateway.sink.accepted == []


@pytest.mark.parametrize("text", ["read the payload docs", "payload=1&a=2", "{}", 'say "<b>" & go', "new payload"])
async def test_a_commands_words_arrive_as_typed(gateway: Gateway, text: str) -> None:
    assert (await gateway.post_form(command(text=text))).status == 200
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert (inbound.text, inbound.command, inbound.address.peer) == (text, None, DM)


async def test_a_command_is_one_and_is_acknowledged_without_words(gateway: Gateway) -> None:
    response = await gateway.post_form(command(text=" Stop "))
    assert (response.status, await response.text()) == (200, "")
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert inbound.command == Command("stop")


async def test_a_channel_command_is_refused_while_the_direct_chat_is_unknown(gateway: Gateway) -> None:
    assert (await gateway.post_form(command(channel_id="C0GENERAL1"))).status == 503
    assert gateway.sink.calls == 0


async def test_a_channel_command_goes_to_the_persons_direct_chat(gateway: Gateway) -> None:
    await gateway.post(envelope())
    response = await gateway.post_form(command(channel_id="C0GENERAL1", text="what is on today?"))
    answer = json.loads(await response.text())
    assert (response.status, answer["response_type"]) == (200, "ephemeral")
    inbound = gateway.sink.accepted[1]
    assert isinstance(inbound, InboundMessage)
    assert inbound.address.peer == DM


async def test_promise_14_an_unforeseen_error_is_500_without_internals(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: object) -> object:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(gateway.sink, "accept", broken)
    response = await gateway.post(envelope())
    assert response.status == 500
    assert "secret" not in await response.text()


async def test_promise_14_neither_text_nor_response_url_is_logged(gateway: Gateway) -> None:
    with capture_logs() as logs:
        await gateway.post(envelope())
        await gateway.interact(press())
        await gateway.post_form(command(text="my secret"))
    for private in (SAID, "my secret", "hooks.slack.com", "tok_1"):
        assert private not in str(logs)


async def test_the_route_is_the_fixed_one_and_there_is_none_with_socket_mode() -> None:
    assert [(route.method, route.path) for route in make_channel(MemorySink()).routes()] == [
        ("POST", "/webhooks/slack")
    ]
    assert make_channel(MemorySink(), app_token="xapp-1").routes() == ()


async def test_the_age_of_a_signature_is_judged_by_the_clock_handed_in() -> None:
    sink = MemorySink()
    async with serve_channel(make_channel(sink, now=lambda: 0.0), sink) as gateway:
        assert (await gateway.post(envelope())).status == 403


async def test_a_message_in_a_thread_is_in_a_conversation_of_its_own(gateway: Gateway) -> None:
    await gateway.post(envelope(message(ts="1794650009.000100", thread_ts=TS)))
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert inbound.address.thread == TS
