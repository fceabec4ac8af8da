"""What the emulated Telegram takes and gives, held against the published description of the Bot API."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from telegram import BotCommand, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, ReplyParameters

from tests.workbench.simulator.telegram_harness import ADA, Harness, open_harness
from workbench.simulator.telegram.api import METHODS, UPDATE_METHODS

_SCALARS: dict[str, type | tuple[type, ...]] = {
    "Integer": int,
    "Float": (int, float),
    "String": str,
    "Boolean": bool,
    "True": bool,
}


@pytest.fixture
def published() -> dict[str, Any]:
    """The description as data."""
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS does not say where the providers' descriptions are")
    data: dict[str, Any] = json.loads((Path(folder) / "telegram-bot-api.json").read_text())
    return data


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    """A simulator whose Ada has started the bot."""
    async with open_harness() as opened:
        await opened.act("start")
        yield opened


def problems(published: dict[str, Any], value: Any, kinds: list[str], where: str) -> list[str]:
    """List what is wrong with a value that should be of one of these types."""
    misfits: list[str] = []
    for kind in kinds:
        wrong = _problems(published, value, kind, where)
        if not wrong:
            return []
        misfits += wrong
    return misfits


def _problems(published: dict[str, Any], value: Any, kind: str, where: str) -> list[str]:
    if kind.startswith("Array of "):
        if not isinstance(value, list):
            return [f"{where}: no array"]
        inner = kind.removeprefix("Array of ")
        return [p for i, item in enumerate(value) for p in _problems(published, item, inner, f"{where}[{i}]")]
    if kind in _SCALARS:
        right = isinstance(value, _SCALARS[kind]) and (isinstance(value, bool) == (kind in ("Boolean", "True")))
        return [] if right else [f"{where}: no {kind}"]
    described = published["types"][kind]
    if subtypes := described.get("subtypes"):
        return problems(published, value, subtypes, where)
    if not isinstance(value, dict):
        return [f"{where}: no object"]
    fields = {field["name"]: field for field in described.get("fields", [])}
    misfits = [f"{where}.{name}: not in {kind}" for name in value.keys() - fields.keys()]
    misfits += [f"{where}.{n}: missing" for n, field in fields.items() if field["required"] and n not in value]
    for name in value.keys() & fields.keys():
        misfits += problems(published, value[name], fields[name]["types"], f"{where}.{name}")
    return misfits


async def _use_everything(harness: Harness) -> None:
    bot = harness.bot
    text = await harness.act("say", text="hello https://example.com /help")
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Go", callback_data="a", style="danger")]])
    reply = ReplyParameters(text["message_id"])
    entities = [MessageEntity("bold", 0, 1), MessageEntity("pre", 2, 1, language="py")]
    sent = await bot.send_message(ADA, "x y", entities=entities, reply_parameters=reply)
    await bot.edit_message_text("other", ADA, sent.message_id, reply_markup=keyboard)
    press = await harness.act("press", message_id=sent.message_id, data="a")
    await bot.answer_callback_query(press["callback_query_id"], "ok", show_alert=True)
    await bot.edit_message_reply_markup(ADA, sent.message_id)
    await bot.delete_message(ADA, sent.message_id)
    await bot.send_chat_action(ADA, "typing")
    await bot.send_message_draft(ADA, 1, "draft")
    for kind in ("voice", "photo", "document"):
        await harness.act(kind)
    await bot.send_photo(ADA, b"\xff\xd8\xffp", "caption")
    await bot.send_voice(ADA, b"v")
    document = await bot.send_document(ADA, b"d", filename="d.txt")
    assert document.document is not None
    await bot.get_file(document.document.file_id)
    await bot.get_chat(ADA)
    await bot.set_my_commands([BotCommand("new", "Start again")])
    await bot.get_my_commands()
    await bot.delete_my_commands()
    await bot.set_my_description("d")
    await bot.get_my_description()
    await bot.set_my_short_description("s")
    await bot.get_my_short_description()
    await bot.set_chat_menu_button(ADA)
    await bot.get_chat_menu_button(ADA)
    await bot.set_message_reaction(ADA, text["message_id"], "👍")
    await harness.act("edit", message_id=text["message_id"], text="other")
    said = await harness.act("group_say", text="hello", mention=True)
    await bot.get_chat_member(said["chat_id"], ADA)
    await harness.act("migrate")
    await harness.act("block")
    await harness.act("unblock")
    await bot.get_updates()
    await bot.set_webhook(harness.hook.url, secret_token="s", allowed_updates=["message"])
    await bot.get_webhook_info()
    await bot.delete_webhook()


async def test_every_call_and_answer_is_as_published(harness: Harness, published: dict[str, Any]) -> None:
    await _use_everything(harness)
    calls = [call for call in harness.wire.journal.calls() if call.direction == "out"]
    used = {call.endpoint.removeprefix("telegram.") for call in calls}
    assert used == {*METHODS, *UPDATE_METHODS}
    misfits: list[str] = []
    for call in calls:
        name = call.endpoint.removeprefix("telegram.")
        method = published["methods"][name]
        fields = {field["name"]: field for field in method.get("fields", [])}
        asked, answered = call.request, call.answer
        assert isinstance(asked, dict)
        assert isinstance(answered, dict)
        body, answer = asked["body"], answered["body"]
        given = body if isinstance(body, dict) else {}
        assert isinstance(answer, dict)
        misfits += [f"{name}: {known} is no parameter" for known in given.keys() - fields.keys()]
        misfits += [f"{name}: {n} is missing" for n, f in fields.items() if f["required"] and n not in given]
        misfits += problems(published, answer["result"], method["returns"], name)
    assert misfits == []
