"""The webhook as Telegram calls it: acknowledged after the commit, and only then."""

import hmac
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from channels.telegram.catchup import catch_up
from channels.telegram.receive import TelegramChannel
from core.errors import ConfigError, RequestRefused
from core.messaging.messages import IgnoredMessage, IgnoreReason, InboundMessage, Press
from tests.channels.memory_sink import MemorySink
from tests.channels.telegram.builders import (
    BOT_ID,
    NOWHERE,
    PATH,
    PUBLIC_URL,
    SECRET,
    TOKEN,
    Gateway,
    make_channel,
    message,
    press,
    serve_channel,
    update,
)
from tests.eventually import eventually
from tests.workbench.simulator.telegram_harness import Harness
from workbench.simulator.faults import FaultKind, Rule


async def test_promise_1_an_update_is_accepted_and_answered_without_a_body(gateway: Gateway) -> None:
    response = await gateway.post(update())
    assert (response.status, await response.read()) == (200, b"")
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert inbound.text == "Lunch on Friday?"


@pytest.mark.parametrize("me", [{"id": 7, "username": "valet_bot"}, {"id": 7}, "valet", {"username": 5, "is_bot": "?"}])
async def test_only_the_name_counts_of_what_telegram_says_about_the_bot(me: object) -> None:
    async def get_me(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "result": me})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", get_me)
    async with TestServer(app) as server:
        channel = make_channel(MemorySink(), api_url=str(server.make_url("")).rstrip("/"))
        await channel.start()
        (learning,) = channel._tasks
        await learning
        assert channel._bot.username == (
            "valet_bot" if isinstance(me, dict) and me.get("username") == "valet_bot" else ""
        )
        await channel.stop()


async def test_promise_1_a_mention_in_a_group_waits_until_our_name_is_known() -> None:
    names: list[str] = []

    async def get_me(_: web.Request) -> web.Response:
        if not names:
            return web.json_response({"ok": False, "error_code": 500, "description": "Internal"}, status=500)
        return web.json_response({"ok": True, "result": {"id": 7, "username": names[0]}})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", get_me)
    us = {"id": -100500, "type": "supergroup", "title": "Us"}
    mention = update(message=message(chat=us, text="@valet_bot groups on"))
    sink = MemorySink()
    async with TestServer(app) as server:
        channel = make_channel(sink, api_url=str(server.make_url("")).rstrip("/"))
        async with serve_channel(channel, sink) as gateway:
            assert (await gateway.post(update(update_id=1))).status == 200, "a direct message does not wait"
            assert (await gateway.post(mention)).status == 503
            with pytest.raises(RequestRefused):
                await channel._take_polled(mention)
            assert len(sink.accepted) == 1
            names.append("valet_bot")
            assert (await gateway.post(mention)).status == 200
    said = sink.accepted[-1]
    assert isinstance(said, IgnoredMessage)
    assert said.group is not None
    assert said.group.addressed


async def test_promise_2_a_replay_is_the_inboxs_business_and_gets_200(gateway: Gateway) -> None:
    statuses = [(await gateway.post(update())).status for _ in range(3)]
    assert statuses == [200, 200, 200]
    assert (gateway.sink.calls, len(gateway.sink.accepted)) == (3, 1)


async def test_promise_1_without_the_store_the_answer_is_503(gateway: Gateway) -> None:
    gateway.sink.away = True
    assert (await gateway.post(update())).status == 503
    gateway.sink.away = False
    assert (await gateway.post(update())).status == 200


@pytest.mark.parametrize("kinds", [{"poll": {"id": "1"}}, {"channel_post": {}}, {"of_the_future": [1]}, {}])
async def test_kinds_that_we_do_not_handle_get_200_and_are_recorded(gateway: Gateway, kinds: dict[str, object]) -> None:
    assert (await gateway.post({"update_id": 5, **kinds})).status == 200
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, IgnoredMessage)
    assert inbound.reason is IgnoreReason.UNSUPPORTED


async def test_an_odd_field_that_nobody_needs_does_not_hold_up_its_chat(gateway: Gateway) -> None:
    odd = message(entities="?", reply_markup=5, via_bot=[], photo_of_the_future={}, forward_origin=7)
    assert (await gateway.post(update(message=odd))).status == 200
    assert gateway.sink.texts() == ["Lunch on Friday?"]


async def test_texts_that_no_database_takes_get_200(gateway: Gateway) -> None:
    raw = b'{"update_id":5,"message":{"message_id":1,"date":1,"text":"a\\u0000b\\ud800"'
    raw += b',"chat":{"id":7,"type":"private"},"from":{"id":7,"is_bot":false,"first_name":"A"}}}'
    assert (await gateway.post(raw)).status == 200


async def test_promise_12_the_secret_is_compared_in_constant_time_before_parsing(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def compare(first: bytes, other: bytes) -> bool:
        compared.append((first, other))
        return False

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert (await gateway.post(b"\xff not parsed")).status == 403
    assert len(compared) == 1


async def test_promise_14_an_unforeseen_error_is_500_without_internals(gateway: Gateway) -> None:
    gateway.sink.breaks_on = "Lunch on Friday?"
    response = await gateway.post(update())
    assert response.status == 500
    assert "bug" not in await response.text()


def test_the_route_is_the_fixed_one_and_only_with_a_secret() -> None:
    assert [(route.method, route.path) for route in make_channel(MemorySink()).routes()] == [("POST", PATH)]
    assert not make_channel(MemorySink(), secret="").routes()


def test_the_account_is_the_bots_number() -> None:
    assert make_channel(MemorySink()).account == str(BOT_ID)


async def test_polling_without_a_database_is_a_clear_error() -> None:
    channel = TelegramChannel(bot_token=TOKEN, sink=MemorySink(), api_url=NOWHERE)
    with pytest.raises(ConfigError, match="DATABASE_URL"):
        await channel.start()
    await channel.stop()


async def test_promise_3_telegram_delivers_its_backlog_without_catch_up() -> None:
    assert await catch_up(datetime.now(UTC)) == 0


async def test_updates_of_the_emulated_telegram_come_in_by_its_webhook(harness: Harness) -> None:
    sink = MemorySink()
    channel = make_channel(sink, api_url=f"{harness.url}/telegram")
    async with serve_channel(channel, sink) as served:
        await _point_at(harness, served)
        await harness.act("start", argument="abc")
        await harness.act("say", text="Hello")
        await harness.act("voice", caption="listen")
        await harness.act("block")
        await eventually(lambda: len(sink.accepted) == 4)
        await harness.act("unblock")
        await eventually(lambda: len(sink.accepted) == 5)
        await harness.act("redeliver", n=5)
        await eventually(lambda: sink.calls >= 10)
        assert len(sink.accepted) == 5
        await eventually(lambda: not harness.telegram._world.updates.pending())


async def test_promise_3_an_update_that_met_no_store_comes_again(harness: Harness) -> None:
    sink = MemorySink(away=True)
    async with serve_channel(make_channel(sink, api_url=f"{harness.url}/telegram"), sink) as served:
        await _point_at(harness, served)
        await harness.act("say", text="Hello")
        await eventually(lambda: sink.calls >= 2)
        sink.away = False
        await eventually(lambda: sink.texts() == ["Hello"])


async def test_a_press_is_recorded_and_acknowledged_at_once(harness: Harness) -> None:
    sink = MemorySink()
    async with serve_channel(make_channel(sink, api_url=f"{harness.url}/telegram"), sink) as served:
        card = await _card(harness)
        await _point_at(harness, served)
        sink.said = "Sent. " + "👍" * 200
        await harness.act("press", message_id=card)
        await eventually(lambda: bool(_presses(harness, card)[0]["answered"]))
        assert _presses(harness, card)[0]["text"] == "Sent. " + "👍" * 97
        pressed = sink.accepted[-1]
        assert isinstance(pressed, Press)
        assert (pressed.token, pressed.sender, pressed.provider_id) == ("tok", "700100001", str(card))
        assert pressed.keys[1].startswith("callback:")


async def test_promise_10_a_press_that_cannot_be_acknowledged_blocks_nothing(harness: Harness) -> None:
    sink = MemorySink()
    harness.wire.faults.add(Rule("telegram.answerCallbackQuery", FaultKind.SERVER_ERROR, times=0))
    async with serve_channel(make_channel(sink, api_url=f"{harness.url}/telegram"), sink) as served:
        assert (await served.post(press())).status == 200
        assert (await served.post(press(number="gone"))).status == 200
        assert sink.calls == 2


async def test_the_bots_own_name_is_learned_at_start(harness: Harness) -> None:
    sink = MemorySink()
    channel = make_channel(sink, api_url=f"{harness.url}/telegram")
    await channel.start()
    await eventually(lambda: channel._bot.username == "simulator_valet_bot")
    await channel.stop()


async def _point_at(harness: Harness, served: Gateway) -> None:
    harness.wire.connect_gateway(f"http://127.0.0.1:{served.port}", PUBLIC_URL)
    await harness.bot.set_webhook(f"{PUBLIC_URL}{PATH}", secret_token=SECRET)


async def _card(harness: Harness) -> int:
    await harness.act("start")
    await harness.bot.get_updates(offset=-1)
    sent = await harness.call(
        "sendMessage",
        chat_id=700100001,
        text="Approve?",
        reply_markup={"inline_keyboard": [[{"text": "Approve", "callback_data": "tok"}]]},
    )
    return int(sent["result"]["message_id"])


def _presses(harness: Harness, message_id: int) -> list[dict[str, Any]]:
    (card,) = [message for message in harness.chat()["messages"] if message["message_id"] == message_id]
    presses: list[dict[str, Any]] = card["presses"]
    return presses or [{"answered": False}]
