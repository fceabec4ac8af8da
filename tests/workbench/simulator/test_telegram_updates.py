"""How the emulated Telegram hands out updates: by webhook with its queues and retries, and by getUpdates."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from telegram.error import Conflict, RetryAfter

from tests.eventually import eventually
from tests.workbench.simulator.telegram_harness import ADA, Harness, open_harness
from workbench.simulator.base import BadAction
from workbench.simulator.config import SimulatorConfig

SECRET = "s3cret_-A"
PACE = 0.0625
"""Seconds for one of Telegram's: a power of two, by which spans are divided exactly."""


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    """A simulator whose Ada has not written yet."""
    async with open_harness() as opened:
        yield opened


def texts(harness: Harness) -> list[str]:
    """List the texts that reached the webhook."""
    return [update["message"]["text"] for update in harness.hook.updates if "message" in update]


async def test_the_webhook_gets_updates_with_the_secret_and_growing_ids(harness: Harness) -> None:
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    for text in ("one", "two", "three"):
        await harness.act("say", text=text)
    await eventually(lambda: len(harness.hook.updates) == 3)
    ids = [update["update_id"] for update in harness.hook.updates]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]
    assert texts(harness) == ["one", "two", "three"]
    assert harness.hook.secrets == [SECRET] * 3
    await eventually(lambda: [bubble["status"] for bubble in harness.chat()["messages"]] == ["taken"] * 3)
    info = await harness.bot.get_webhook_info()
    assert (info.url, info.pending_update_count, info.last_error_message) == (harness.hook.url, 0, None)


async def numbers_of(harness: Harness) -> tuple[list[int], list[int], list[str]]:
    """Let Ada write, get an answer and press its button; return the numbers of updates and messages, and other ids."""
    before = len(harness.hook.updates)
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    said = await harness.act("photo")
    sent = await harness.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
    pressed = await harness.act("press", message_id=sent.message_id, button=0)
    await eventually(lambda: len(harness.hook.updates) == before + 2)
    updates = [update["update_id"] for update in harness.hook.updates[before:]]
    messages = [harness.hook.updates[before]["message"]["message_id"], sent.message_id]
    return updates, messages, [said["file_id"], pressed["callback_query_id"]]


async def test_nothing_gets_a_number_of_before_a_reset_or_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_harness() as harness:
        first = await numbers_of(harness)
        await harness.telegram.reset()
        second = await numbers_of(harness)
    restarted = time.time() + 1  # no process restarts faster
    monkeypatch.setattr("workbench.simulator.telegram.state.time", SimpleNamespace(time=lambda: restarted))
    async with open_harness() as harness:
        third = await numbers_of(harness)
    for earlier, later in ((first, second), (second, third)):
        assert max(earlier[0]) < min(later[0])
        assert max(earlier[1]) < min(later[1])
    others = [*first[2], *second[2], *third[2]]
    assert len(set(others)) == len(others)


async def test_a_chats_next_message_waits_until_the_one_before_is_taken(harness: Harness) -> None:
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    harness.hook.answers = [web.Response(status=503) for _ in range(3)]
    await harness.act("say", text="one")
    await harness.act("say", text="two")
    await eventually(lambda: len(harness.hook.updates) == 5)
    assert texts(harness) == ["one"] * 4 + ["two"]
    info = await harness.bot.get_webhook_info()
    assert info.last_error_message == "Wrong response from the webhook: 503 Service Unavailable"
    failed = harness.chat()["failed_deliveries"]
    assert [(failure["attempt"], failure["dropped"]) for failure in failed] == [(1, False), (2, False), (3, False)]


async def test_a_press_and_another_chat_overtake_a_message_that_fails(harness: Harness) -> None:
    await harness.act("start")
    sent = await harness.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
    await harness.bot.get_updates(offset=-1)
    gate = asyncio.Event()
    seen: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        update: dict[str, Any] = await request.json()
        message = update.get("message", {})
        seen.append(message.get("text", "press"))
        if message.get("text") == "stuck":
            await gate.wait()
        return web.Response()

    server = web.Application()
    server.router.add_post("/hook", handle)
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    await harness.act("say", text="stuck")
    await harness.act("say", text="behind")
    await harness.bot.set_webhook(f"http://127.0.0.1:{port}/hook", secret_token=SECRET)
    await harness.act("press", message_id=sent.message_id, data="a")
    await harness.act("say", "grace", text="elsewhere")
    await eventually(lambda: {"press", "elsewhere"} <= set(seen))
    assert "behind" not in seen
    gate.set()
    await eventually(lambda: "behind" in seen)
    await harness.bot.delete_webhook()
    await runner.cleanup()


async def waits_between(harness: Harness, many: int) -> list[timedelta]:
    """Wait until so many deliveries were answered; give the waits between them, at Telegram's pace."""

    def deliveries() -> int:
        return len([call for call in harness.wire.journal.calls() if call.endpoint == "telegram.message"])

    await eventually(lambda: deliveries() >= many)
    assert deliveries() == many
    return [span / PACE for span in harness.clock.slept]


async def test_retries_come_at_once_then_after_2_4_8_seconds() -> None:
    async with open_harness(SimulatorConfig(pace=PACE)) as harness:
        await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
        harness.hook.answers = [web.Response(status=500) for _ in range(4)]
        await harness.act("say", text="one")
        assert await waits_between(harness, 5) == [timedelta(seconds=seconds) for seconds in (2, 4, 8)]


async def test_retry_after_is_honoured() -> None:
    async with open_harness(SimulatorConfig(pace=PACE)) as harness:
        await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
        harness.hook.answers = [web.Response(status=429, headers={"Retry-After": "10"})]
        await harness.act("say", text="one")
        assert await waits_between(harness, 2) == [timedelta(seconds=10)]


async def test_a_callback_is_dropped_after_150_seconds_and_a_message_is_not() -> None:
    async with open_harness(SimulatorConfig(pace=1.0)) as harness:
        await harness.act("start")
        sent = await harness.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
        await harness.act("press", message_id=sent.message_id)
        harness.clock.offset += 150
        waiting = await harness.bot.get_updates()
        assert [update.message is not None for update in waiting] == [True]
        (dropped,) = harness.chat()["failed_deliveries"]
        assert (dropped["kind"], dropped["dropped"]) == ("callback_query", True)


async def test_updates_repeat_until_the_offset_confirms_them(harness: Harness) -> None:
    for text in ("one", "two", "three"):
        await harness.act("say", text=text)
    got = await harness.bot.get_updates(limit=2)
    assert [update.message.text for update in got if update.message] == ["one", "two"]
    again = await harness.bot.get_updates(offset=got[0].update_id + 1)
    assert [update.message.text for update in again if update.message] == ["two", "three"]
    last = await harness.bot.get_updates(offset=-1)
    assert [update.message.text for update in last if update.message] == ["three"]
    assert await harness.bot.get_updates(offset=last[0].update_id + 1) == ()
    assert [bubble["status"] for bubble in harness.chat()["messages"]] == ["taken"] * 3


async def test_a_long_poll_ends_when_something_comes(harness: Harness) -> None:
    poll = asyncio.create_task(harness.bot.get_updates(timeout=20))
    await eventually(lambda: harness.telegram.is_polled)
    await harness.act("say", text="hello")
    (update,) = await poll  # one that ends by itself has none
    assert update.message is not None
    assert update.message.text == "hello"


async def test_problem_18_a_second_poller_ends_the_first_with_409(harness: Harness) -> None:
    first = asyncio.create_task(harness.bot.get_updates(timeout=20))
    await eventually(lambda: harness.telegram.is_polled)
    second = asyncio.create_task(harness.bot.get_updates(timeout=20))
    with pytest.raises(Conflict, match="terminated by other getUpdates request; make sure that only one bot"):
        await first
    await harness.act("say", text="hello")
    assert len(await second) == 1


async def test_problem_18_a_rival_poller_for_a_while_then_all_is_well(harness: Harness) -> None:
    await harness.act("second_poller", seconds=60)
    with pytest.raises(Conflict):
        await harness.bot.get_updates(timeout=20)
    harness.clock.offset += 60
    await harness.act("say", text="hello")
    assert len(await harness.bot.get_updates(timeout=20)) == 1


async def test_polling_is_refused_while_a_webhook_is_set(harness: Harness) -> None:
    poll = asyncio.create_task(harness.bot.get_updates(timeout=20))
    await eventually(lambda: harness.telegram.is_polled)
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    with pytest.raises(Conflict, match="terminated by setWebhook request"):
        await poll
    with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active"):
        await harness.bot.get_updates()
    assert await harness.bot.delete_webhook()
    assert await harness.bot.get_updates() == ()


async def test_set_webhook_is_taken_once_in_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    async with open_harness(SimulatorConfig(pace=60.0)) as harness:
        await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
        with pytest.raises(RetryAfter):
            await harness.bot.set_webhook(harness.hook.url, secret_token="other")


async def test_pending_updates_survive_a_webhook_change_unless_dropped(harness: Harness) -> None:
    await harness.act("say", text="one")
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    await eventually(lambda: texts(harness) == ["one"])
    await harness.bot.delete_webhook()
    await harness.act("say", text="two")
    assert len(await harness.bot.get_updates()) == 1
    await harness.bot.delete_webhook(drop_pending_updates=True)
    assert await harness.bot.get_updates() == ()


async def test_allowed_updates_hold_until_they_are_given_again(harness: Harness) -> None:
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET, allowed_updates=["message"])
    assert (await harness.bot.get_webhook_info()).allowed_updates == ("message",)
    sent = await harness.act("say", text="one")
    assert (await harness.act("edit", message_id=sent["message_id"], text="two"))["update_id"] is None
    harness.clock.offset += 1
    await harness.bot.set_webhook(harness.hook.url, secret_token="other")
    assert (await harness.bot.get_webhook_info()).allowed_updates == ("message",)
    harness.clock.offset += 1
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET, allowed_updates=[])
    assert (await harness.bot.get_webhook_info()).allowed_updates == ()


async def test_promise_2_the_same_update_can_come_again_under_its_id(harness: Harness) -> None:
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    await harness.act("say", text="one")
    await eventually(lambda: len(harness.hook.updates) == 1)
    await harness.act("redeliver", n=1)
    await eventually(lambda: len(harness.hook.updates) == 2)
    assert harness.hook.updates[0] == harness.hook.updates[1]


async def test_an_update_can_come_again_while_its_first_delivery_is_under_way(harness: Harness) -> None:
    answered = asyncio.Event()
    harness.hook.wait_for = answered
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    await harness.act("say", text="one")
    await eventually(lambda: len(harness.hook.updates) == 1)
    await harness.act("redeliver", n=1)
    answered.set()
    await eventually(lambda: len(harness.hook.updates) == 2)


async def test_held_updates_arrive_once_released(harness: Harness) -> None:
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    await harness.act("say", text="one")
    await eventually(lambda: harness.chat()["messages"][-1]["status"] == "taken")
    await harness.act("set", held=True)
    await harness.act("say", text="two")
    for _ in range(3):  # in the time of which anything but a held update reaches the webhook
        assert (await harness.bot.get_webhook_info()).pending_update_count == 1
    assert texts(harness) == ["one"]
    assert harness.chat()["messages"][-1]["status"] == "waiting"
    await harness.act("set", held=False)
    await eventually(lambda: texts(harness) == ["one", "two"])


async def test_a_gateway_that_is_away_is_a_connection_refused(harness: Harness) -> None:
    await harness.bot.set_webhook("http://127.0.0.1:9/webhooks/telegram", secret_token=SECRET)
    await harness.act("say", text="one")
    await eventually(lambda: harness.chat()["failed_deliveries"])
    info = await harness.bot.get_webhook_info()
    assert (info.last_error_message, info.pending_update_count) == ("Connection refused", 1)


async def test_blocking_and_presses_of_both_kinds_are_told(harness: Harness) -> None:
    await harness.act("start")
    sent = await harness.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
    await harness.act("press", message_id=sent.message_id, data="a")
    with pytest.raises(BadAction, match="no such button"):
        await harness.act("press", message_id=sent.message_id, data="b")
    await harness.act("forge_press", message_id=sent.message_id, data="b")
    await harness.act("block")
    await harness.act("unblock")
    updates = await harness.bot.get_updates()
    pressed = [update.callback_query.data for update in updates if update.callback_query]
    assert pressed == ["a", "b"]
    statuses = [u.my_chat_member.new_chat_member.status for u in updates if u.my_chat_member]
    assert statuses == ["kicked", "member"]


async def test_in_a_group_only_what_is_meant_for_the_bot_reaches_it(harness: Harness) -> None:
    unheard = await harness.act("group_say", text="just talking")
    assert unheard["update_id"] is None
    await harness.act("group_say", text="hello", mention=True)
    await harness.act("group_say", "grace", text="/help")
    updates = await harness.bot.get_updates()
    texts = [update.message.text for update in updates if update.message]
    assert texts == ["@simulator_valet_bot hello", "/help"]
    await harness.act("migrate")
    moved = [u.message for u in await harness.bot.get_updates(offset=updates[-1].update_id + 1) if u.message]
    assert moved[0].migrate_to_chat_id == moved[1].chat.id
    assert moved[1].migrate_from_chat_id == moved[0].chat.id


async def test_a_group_is_opened_with_its_members_and_privacy_shows(harness: Harness) -> None:
    opened = await harness.act("group_open", members=["grace"])
    shown: Any = harness.telegram.state()
    group = shown["group"]
    assert (group["members"], group["privacy"]) == ({"ada": "creator", "grace": "member"}, True)
    said = [await harness.act("group_say", "grace", text="hello", mention=mention) for mention in (True, False)]
    shown = harness.telegram.state()
    statuses = {one["message_id"]: one["status"] for one in shown["group"]["messages"]}
    assert [statuses[one["message_id"]] for one in said] == ["waiting", "unheard"]
    told = [update.message for update in await harness.bot.get_updates() if update.message]
    assert [message.chat.id for message in told] == [opened["chat_id"]]
    with pytest.raises(BadAction, match="a group already"):
        await harness.act("group_open", members=[])
    await harness.telegram.reset()
    wrong: Any
    for wrong in ("grace", ["nobody"], [1]):
        with pytest.raises(BadAction, match="a list of people's keys"):
            await harness.act("group_open", members=wrong)


async def test_a_reset_forgets_chats_and_updates_but_not_what_the_bot_set(harness: Harness) -> None:
    await harness.bot.set_webhook(harness.hook.url, secret_token=SECRET)
    await harness.bot.set_my_commands([("help", "What I can do")])
    await harness.act("say", text="one")
    await eventually(lambda: len(harness.hook.updates) == 1)
    await harness.telegram.reset()
    assert harness.chat()["messages"] == []
    assert (await harness.bot.get_webhook_info()).pending_update_count == 0
    assert [one.command for one in await harness.bot.get_my_commands()] == ["help"]
    await harness.act("say", text="two")
    await eventually(lambda: len(harness.hook.updates) == 2)


def _button(data: str) -> dict[str, str]:
    return {"text": "Approve", "callback_data": data}


async def test_a_reset_ends_a_poll_with_nothing_and_no_error(harness: Harness) -> None:
    poll = asyncio.create_task(harness.bot.get_updates(timeout=20))
    await eventually(lambda: harness.telegram.is_polled)
    await harness.telegram.reset()
    assert await poll == ()
    assert not harness.telegram.is_polled
