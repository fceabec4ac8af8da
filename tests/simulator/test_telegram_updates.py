"""How the emulated Telegram hands out updates: by webhook with its queues and retries, and by getUpdates."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web
from telegram.error import Conflict, RetryAfter

from simulator.base import BadAction
from simulator.config import SimulatorConfig
from tests.simulator.telegram_harness import ADA, House, open_house, until

SECRET = "s3cret_-A"


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """A simulator whose Ada has not written yet."""
    async with open_house() as opened:
        yield opened


def texts(house: House) -> list[str]:
    """List the texts that reached the webhook."""
    return [update["message"]["text"] for update in house.hook.updates if "message" in update]


async def test_the_webhook_gets_updates_with_the_secret_and_growing_ids(house: House) -> None:
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    for text in ("one", "two", "three"):
        await house.act("say", text=text)
    await until(lambda: len(house.hook.updates) == 3)
    ids = [update["update_id"] for update in house.hook.updates]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]
    assert texts(house) == ["one", "two", "three"]
    assert house.hook.secrets == [SECRET] * 3
    await until(lambda: [bubble["status"] for bubble in house.chat()["messages"]] == ["taken"] * 3)
    info = await house.bot.get_webhook_info()
    assert (info.url, info.pending_update_count, info.last_error_message) == (house.hook.url, 0, None)


async def test_a_chats_next_message_waits_until_the_one_before_is_taken(house: House) -> None:
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    house.hook.answers = [web.Response(status=503) for _ in range(3)]
    await house.act("say", text="one")
    await house.act("say", text="two")
    await until(lambda: len(house.hook.updates) == 5)
    assert texts(house) == ["one"] * 4 + ["two"]
    info = await house.bot.get_webhook_info()
    assert info.last_error_message == "Wrong response from the webhook: 503 Service Unavailable"
    failed = house.chat()["failed_deliveries"]
    assert [(failure["attempt"], failure["dropped"]) for failure in failed] == [(1, False), (2, False), (3, False)]


async def test_a_press_and_another_chat_overtake_a_message_that_fails(house: House) -> None:
    await house.act("start")
    sent = await house.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
    await house.bot.get_updates(offset=-1)
    gate = asyncio.Event()
    seen: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        update: dict[str, Any] = await request.json()
        said = update.get("message", {})
        seen.append(said.get("text", "press"))
        if said.get("text") == "stuck":
            await gate.wait()
        return web.Response()

    server = web.Application()
    server.router.add_post("/hook", handle)
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    await house.act("say", text="stuck")
    await house.act("say", text="behind")
    await house.bot.set_webhook(f"http://127.0.0.1:{port}/hook", secret_token=SECRET)
    await house.act("press", message_id=sent.message_id, data="a")
    await house.act("say", "grace", text="elsewhere")
    await until(lambda: {"press", "elsewhere"} <= set(seen))
    assert "behind" not in seen
    gate.set()
    await until(lambda: "behind" in seen)
    await house.bot.delete_webhook()
    await runner.cleanup()


async def told(house: House, many: int) -> list[float]:
    """Wait until so many deliveries stand in the journal, which is after their answers; give their times."""

    def times() -> list[float]:
        return [call.at for call in house.wire.journal.calls() if call.endpoint == "telegram.message"]

    await until(lambda: len(times()) >= many)
    assert len(times()) == many
    return times()


async def test_retries_come_at_once_then_after_2_4_8_seconds() -> None:
    async with open_house(SimulatorConfig(pace=0.05)) as house:
        await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
        house.hook.answers = [web.Response(status=500) for _ in range(4)]
        await house.act("say", text="one")
        times = await told(house, 5)
        waits = [(after - before) / 0.05 for before, after in pairwise(times)]
        assert waits[0] < 2
        assert all(wait >= least * 0.95 for wait, least in zip(waits[1:], (2, 4, 8), strict=True))


async def test_retry_after_is_honoured() -> None:
    async with open_house(SimulatorConfig(pace=0.02)) as house:
        await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
        house.hook.answers = [web.Response(status=429, headers={"Retry-After": "10"})]
        await house.act("say", text="one")
        first, second = await told(house, 2)
        assert second - first >= 10 * 0.02 * 0.95


async def test_a_callback_is_dropped_after_150_seconds_and_a_message_is_not() -> None:
    async with open_house(SimulatorConfig(pace=0.001)) as house:
        await house.act("start")
        sent = await house.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
        await house.act("press", message_id=sent.message_id)
        await asyncio.sleep(0.2)
        waiting = await house.bot.get_updates()
        assert [update.message is not None for update in waiting] == [True]
        (dropped,) = house.chat()["failed_deliveries"]
        assert (dropped["kind"], dropped["dropped"]) == ("callback_query", True)


async def test_updates_repeat_until_the_offset_confirms_them(house: House) -> None:
    for text in ("one", "two", "three"):
        await house.act("say", text=text)
    got = await house.bot.get_updates(limit=2)
    assert [update.message.text for update in got if update.message] == ["one", "two"]
    again = await house.bot.get_updates(offset=got[0].update_id + 1)
    assert [update.message.text for update in again if update.message] == ["two", "three"]
    last = await house.bot.get_updates(offset=-1)
    assert [update.message.text for update in last if update.message] == ["three"]
    assert await house.bot.get_updates(offset=last[0].update_id + 1) == ()
    assert [bubble["status"] for bubble in house.chat()["messages"]] == ["taken"] * 3


async def test_a_long_poll_ends_when_something_comes(house: House) -> None:
    poll = asyncio.create_task(house.bot.get_updates(timeout=20))
    await asyncio.sleep(0.05)
    await house.act("say", text="hello")
    async with asyncio.timeout(5):
        (update,) = await poll
    assert update.message is not None
    assert update.message.text == "hello"


async def test_problem_18_a_second_poller_ends_the_first_with_409(house: House) -> None:
    first = asyncio.create_task(house.bot.get_updates(timeout=20))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(house.bot.get_updates(timeout=20))
    with pytest.raises(Conflict, match="terminated by other getUpdates request; make sure that only one bot"):
        await first
    await house.act("say", text="hello")
    assert len(await second) == 1


async def test_problem_18_a_rival_poller_for_a_while_then_all_is_well(house: House) -> None:
    await house.act("second_poller", seconds=1)
    with pytest.raises(Conflict):
        await house.bot.get_updates(timeout=20)
    await asyncio.sleep(1.05)
    await house.act("say", text="hello")
    assert len(await house.bot.get_updates(timeout=20)) == 1


async def test_polling_is_refused_while_a_webhook_is_set(house: House) -> None:
    poll = asyncio.create_task(house.bot.get_updates(timeout=20))
    await asyncio.sleep(0.05)
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    with pytest.raises(Conflict, match="terminated by setWebhook request"):
        await poll
    with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active"):
        await house.bot.get_updates()
    assert await house.bot.delete_webhook()
    assert await house.bot.get_updates() == ()


async def test_set_webhook_is_taken_once_in_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    async with open_house(SimulatorConfig(pace=1.0)) as house:
        await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
        with pytest.raises(RetryAfter):
            await house.bot.set_webhook(house.hook.url, secret_token="other")


async def test_pending_updates_survive_a_webhook_change_unless_dropped(house: House) -> None:
    await house.act("say", text="one")
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    await until(lambda: texts(house) == ["one"])
    await house.bot.delete_webhook()
    await house.act("say", text="two")
    assert len(await house.bot.get_updates()) == 1
    await house.bot.delete_webhook(drop_pending_updates=True)
    assert await house.bot.get_updates() == ()


async def test_allowed_updates_hold_until_they_are_given_again(house: House) -> None:
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET, allowed_updates=["message"])
    assert (await house.bot.get_webhook_info()).allowed_updates == ("message",)
    said = await house.act("say", text="one")
    assert (await house.act("edit", message_id=said["message_id"], text="two"))["update_id"] is None
    await asyncio.sleep(0.02)
    await house.bot.set_webhook(house.hook.url, secret_token="other")
    assert (await house.bot.get_webhook_info()).allowed_updates == ("message",)
    await asyncio.sleep(0.02)
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET, allowed_updates=[])
    assert (await house.bot.get_webhook_info()).allowed_updates == ()


async def test_promise_2_the_same_update_can_come_again_under_its_id(house: House) -> None:
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    await house.act("say", text="one")
    await until(lambda: len(house.hook.updates) == 1)
    await house.act("redeliver", n=1)
    await until(lambda: len(house.hook.updates) == 2)
    assert house.hook.updates[0] == house.hook.updates[1]


async def test_held_updates_come_when_they_are_let_go(house: House) -> None:
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    await house.act("say", text="one")
    await until(lambda: len(house.hook.updates) == 1)
    await house.act("set", held=True)
    await house.act("say", text="two")
    await asyncio.sleep(0.05)
    assert house.chat()["messages"][-1]["status"] == "waiting"
    await house.act("set", held=False)
    await until(lambda: texts(house) == ["one", "two"])


async def test_a_gateway_that_is_away_is_a_connection_refused(house: House) -> None:
    await house.bot.set_webhook("http://127.0.0.1:9/webhooks/telegram", secret_token=SECRET)
    await house.act("say", text="one")
    await until(lambda: house.chat()["failed_deliveries"])
    info = await house.bot.get_webhook_info()
    assert (info.last_error_message, info.pending_update_count) == ("Connection refused", 1)


async def test_blocking_and_presses_of_both_kinds_are_told(house: House) -> None:
    await house.act("start")
    sent = await house.bot.send_message(ADA, "sure?", reply_markup={"inline_keyboard": [[_button("a")]]})  # type: ignore[arg-type]
    await house.act("press", message_id=sent.message_id, data="a")
    with pytest.raises(BadAction, match="no such button"):
        await house.act("press", message_id=sent.message_id, data="b")
    await house.act("forge_press", message_id=sent.message_id, data="b")
    await house.act("block")
    await house.act("unblock")
    updates = await house.bot.get_updates()
    pressed = [update.callback_query.data for update in updates if update.callback_query]
    assert pressed == ["a", "b"]
    statuses = [u.my_chat_member.new_chat_member.status for u in updates if u.my_chat_member]
    assert statuses == ["kicked", "member"]


async def test_in_a_group_only_what_is_meant_for_the_bot_reaches_it(house: House) -> None:
    unheard = await house.act("group_say", text="just talking")
    assert unheard["update_id"] is None
    await house.act("group_say", text="hello", mention=True)
    await house.act("group_say", "grace", text="/help")
    updates = await house.bot.get_updates()
    said = [update.message.text for update in updates if update.message]
    assert said == ["@simulator_valet_bot hello", "/help"]
    await house.act("migrate")
    moved = [u.message for u in await house.bot.get_updates(offset=updates[-1].update_id + 1) if u.message]
    assert moved[0].migrate_to_chat_id == moved[1].chat.id
    assert moved[1].migrate_from_chat_id == moved[0].chat.id


async def test_a_reset_forgets_chats_webhook_and_updates(house: House) -> None:
    await house.bot.set_webhook(house.hook.url, secret_token=SECRET)
    await house.act("say", text="one")
    await house.telegram.reset()
    assert house.chat()["messages"] == []
    assert (await house.bot.get_webhook_info()).url == ""


def _button(data: str) -> dict[str, str]:
    return {"text": "Approve", "callback_data": data}
