"""The emulated Bot API, driven by python-telegram-bot, and the words in which it refuses."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from telegram import BotCommand, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, ReplyParameters
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, NetworkError, RetryAfter

from tests.workbench.simulator.telegram_harness import ADA, TOKEN, Harness, open_harness
from workbench.simulator.faults import FaultKind, Rule

KEYBOARD = InlineKeyboardMarkup([[InlineKeyboardButton("Approve", callback_data="a")]])


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    """A simulator whose Ada has started the bot."""
    async with open_harness() as opened:
        await opened.act("start")
        yield opened


async def test_a_text_arrives_with_entities_keyboard_and_reply(harness: Harness) -> None:
    text = await harness.act("say", text="hello")
    sent = await harness.bot.send_message(
        ADA,
        "Hi there",
        entities=[MessageEntity("bold", 0, 2)],
        reply_markup=KEYBOARD,
        reply_parameters=ReplyParameters(text["message_id"]),
    )
    assert sent.text == "Hi there"
    assert sent.entities == (MessageEntity("bold", 0, 2),)
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.text == "hello"
    bubble = harness.chat()["messages"][-1]
    assert bubble["keyboard"] == [[{"text": "Approve", "callback_data": "a"}]]
    assert (bubble["direction"], bubble["reply_to"], bubble["edited"]) == ("out", text["message_id"], False)
    about = bubble["id"]
    assert [call.endpoint for call in harness.wire.journal.calls(about=about)] == ["telegram.sendMessage"]


async def test_edits_show_and_repeat_as_not_modified(harness: Harness) -> None:
    sent = await harness.bot.send_message(ADA, "one", reply_markup=KEYBOARD)
    await harness.bot.edit_message_text("two", ADA, sent.message_id, reply_markup=KEYBOARD)
    with pytest.raises(BadRequest, match="Message is not modified: specified new message content"):
        await harness.bot.edit_message_text("two", ADA, sent.message_id, reply_markup=KEYBOARD)
    await harness.bot.edit_message_reply_markup(ADA, sent.message_id)
    bubble = harness.chat()["messages"][-1]
    assert (bubble["text"], bubble["edited"], bubble["keyboard"]) == ("two", True, [])
    assert await harness.bot.delete_message(ADA, sent.message_id)
    assert all(bubble["message_id"] != sent.message_id for bubble in harness.chat()["messages"])


async def test_typing_and_drafts_show_and_end_with_the_message(harness: Harness) -> None:
    await harness.bot.send_chat_action(ADA, "typing")
    await harness.bot.send_message_draft(ADA, 5, "writ")
    chat = harness.chat()
    assert (chat["action"], chat["draft"]["text"]) == ("typing", "writ")
    await harness.bot.send_message(ADA, "written")
    chat = harness.chat()
    assert (chat["action"], chat["draft"]) == ("", None)


async def test_a_press_is_answered_once(harness: Harness) -> None:
    sent = await harness.bot.send_message(ADA, "sure?", reply_markup=KEYBOARD)
    pressed = await harness.act("press", message_id=sent.message_id, button=0)
    query = pressed["callback_query_id"]
    assert await harness.bot.answer_callback_query(query, "Done")
    assert harness.chat()["messages"][-1]["presses"][0]["text"] == "Done"
    with pytest.raises(BadRequest, match="Query is too old and response timeout expired or query id is invalid"):
        await harness.bot.answer_callback_query(query)


async def test_settings_are_kept_and_shown(harness: Harness) -> None:
    await harness.bot.set_my_commands([BotCommand("stop", "Stop what runs")])
    assert (await harness.bot.get_my_commands())[0].command == "stop"
    assert harness.chat()["commands"] == [{"command": "stop", "description": "Stop what runs"}]
    await harness.bot.delete_my_commands()
    assert await harness.bot.get_my_commands() == ()
    await harness.bot.set_my_description("What it does")
    await harness.bot.set_my_short_description("In short")
    assert (await harness.bot.get_my_description()).description == "What it does"
    assert (await harness.bot.get_my_short_description()).short_description == "In short"
    await harness.bot.set_chat_menu_button()
    assert (await harness.bot.get_chat_menu_button()).type == "default"
    assert (await harness.bot.get_me()).username == "simulator_valet_bot"
    assert (await harness.bot.get_chat(ADA)).first_name == "Ada"


async def test_files_go_both_ways(harness: Harness) -> None:
    sent = await harness.bot.send_document(ADA, b"paper", filename="a.txt", caption="Here")
    assert sent.document is not None
    assert (sent.caption, sent.document.file_name) == ("Here", "a.txt")
    file = await harness.bot.get_file(sent.document.file_id)
    assert bytes(await file.download_as_bytearray()) == b"paper"
    with pytest.raises(BadRequest, match="does not emulate parse_mode"):
        await harness.bot.send_document(ADA, b"paper", caption="*Here*", parse_mode="Markdown")
    again = await harness.bot.send_photo(ADA, b"\xff\xd8\xffpicture")
    assert again.photo
    spoken = await harness.act("voice", data="dm9pY2U=", caption="listen")
    (update,) = (await harness.bot.get_updates(offset=-1))[-1:]
    assert update.message is not None
    assert update.message.voice is not None
    assert update.message.voice.file_id == spoken["file_id"]
    heard = await harness.bot.get_file(spoken["file_id"])
    assert bytes(await heard.download_as_bytearray()) == b"voice"


def _button(**fields: str) -> str:
    return json.dumps({"inline_keyboard": [[{"text": "x", **fields}]]})


_TEXT: dict[str, Any] = {"chat_id": ADA, "text": "x"}
_NOT_FOUND = "Bad Request: message to edit not found"
_NO_PARSE_MODE = "Bad Request: the simulator does not emulate parse_mode: send entities"
WRONG_CALLS: list[tuple[str, dict[str, Any], int, str]] = [
    ("sendMessage", {"chat_id": ADA}, 400, "Bad Request: message text is empty"),
    ("sendMessage", {"text": "x"}, 400, "Bad Request: chat_id is empty"),
    ("sendMessage", {**_TEXT, "chat_id": 12345}, 400, "Bad Request: chat not found"),
    ("sendMessage", {**_TEXT, "chat_id": "@nobody"}, 400, "Bad Request: chat not found"),
    ("sendMessage", {**_TEXT, "text": " \n "}, 400, "Bad Request: text must be non-empty"),
    ("sendMessage", {**_TEXT, "text": "x" * 4097}, 400, "Bad Request: message is too long"),
    ("sendMessage", {**_TEXT, "text": "x" * 32769}, 400, "Bad Request: text is too long"),
    *(
        (method, {**_TEXT, "parse_mode": "HTML"}, 400, _NO_PARSE_MODE)
        for method in ("sendMessage", "sendMessageDraft", "editMessageText")
    ),
    (
        *("sendMessage", {**_TEXT, "entities": [{"type": "bold", "offset": 0, "length": 2}]}, 400),
        "Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 2",
    ),
    (
        *("sendMessage", {**_TEXT, "text": "😀", "entities": [{"type": "bold", "offset": 1, "length": 1}]}, 400),
        "Bad Request: entity begins in a middle of a UTF-16 symbol at byte offset 0",
    ),
    (
        *("sendMessage", {**_TEXT, "entities": [{"type": "loud", "offset": 0, "length": 1}]}, 400),
        "Bad Request: can't parse MessageEntity: Unsupported type specified",
    ),
    (
        *("sendMessage", {**_TEXT, "reply_markup": "{"}, 400),
        "Bad Request: can't parse reply keyboard markup JSON object",
    ),
    ("sendMessage", {**_TEXT, "reply_markup": "[]"}, 400, "Bad Request: object expected as reply markup"),
    (
        "sendMessage",
        {**_TEXT, "reply_markup": json.dumps({"force_reply": True, "input_field_placeholder": "x" * 65})},
        400,
        "Bad Request: reply keyboard placeholder is too long",
    ),
    (
        *("sendMessage", {**_TEXT, "reply_markup": _button()}, 400),
        "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    ),
    (
        "sendMessage",
        {**_TEXT, "reply_markup": _button(callback_data="é" * 33)},
        400,
        "Bad Request: BUTTON_DATA_INVALID",
    ),
    (
        *("sendMessage", {**_TEXT, "reply_markup": _button(url="http://nohost")}, 400),
        "Bad Request: inline keyboard button URL 'http://nohost' is invalid: Wrong HTTP URL",
    ),
    (
        *("sendMessage", {**_TEXT, "reply_parameters": {"message_id": 999}}, 400),
        "Bad Request: message to be replied not found",
    ),
    ("sendMessage", {**_TEXT, "message_thread_id": 7}, 400, "Bad Request: message thread not found"),
    ("editMessageText", {**_TEXT, "message_id": 999}, 400, _NOT_FOUND),
    ("editMessageText", {**_TEXT, "message_id": "HERS"}, 400, "Bad Request: message can't be edited"),
    ("editMessageReplyMarkup", {"chat_id": ADA, "message_id": 999}, 400, _NOT_FOUND),
    ("deleteMessage", {"chat_id": ADA, "message_id": 999}, 400, "Bad Request: message to delete not found"),
    ("deleteMessage", {"chat_id": ADA}, 400, "Bad Request: message identifier is not specified"),
    ("sendChatAction", {"chat_id": ADA, "action": "dance"}, 400, "Bad Request: wrong parameter action in request"),
    ("sendMessageDraft", _TEXT, 400, "Bad Request: RANDOM_ID_INVALID"),
    (
        *("answerCallbackQuery", {"callback_query_id": "1"}, 400),
        "Bad Request: query is too old and response timeout expired or query ID is invalid",
    ),
    ("answerCallbackQuery", {"callback_query_id": "1", "text": "x" * 201}, 400, "Bad Request: MESSAGE_TOO_LONG"),
    ("setMyCommands", {"commands": "{}"}, 400, "Bad Request: expected an Array of BotCommand"),
    (
        *("setMyCommands", {"commands": [{"command": "New", "description": "x"}]}, 400),
        "Bad Request: BOT_COMMAND_INVALID",
    ),
    (
        "setMyCommands",
        {"commands": [], "language_code": "english"},
        400,
        "Bad Request: invalid language code specified",
    ),
    (
        "setWebhook",
        {"url": "http://example.com/x"},
        400,
        "Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
    ),
    (
        *("setWebhook", {"url": "https://example.com:8080/x"}, 400),
        "Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
    ),
    (
        *("setWebhook", {"url": "https://example.com/", "secret_token": "no spaces"}, 400),
        "Bad Request: secret token contains unallowed characters",
    ),
    (
        *("setWebhook", {"url": "https://example.com/", "secret_token": "x" * 257}, 400),
        "Bad Request: secret token is too long",
    ),
    ("getFile", {}, 400, "Bad Request: file_id not specified"),
    ("getFile", {"file_id": "x"}, 400, "Bad Request: invalid file_id"),
    ("sendPhoto", {"chat_id": ADA}, 400, "Bad Request: there is no photo in the request"),
    ("sendDocument", {"chat_id": ADA, "document": "x"}, 400, "Bad Request: wrong file identifier/HTTP URL specified"),
    ("getChat", {"chat_id": 5}, 400, "Bad Request: chat not found"),
    ("sendTelegram", {}, 404, "Not Found: method not found"),
]


@pytest.mark.parametrize(("method", "values", "code", "words"), WRONG_CALLS)
async def test_a_wrong_call_is_refused_in_telegrams_words(
    harness: Harness, method: str, values: dict[str, Any], code: int, words: str
) -> None:
    if values.get("message_id") == "HERS":
        values = {**values, "message_id": harness.chat()["messages"][0]["message_id"]}
    answer = await harness.call(method, **values)
    assert (answer["ok"], answer["error_code"], answer["description"]) == (False, code, words)


async def test_wrong_tokens_are_unauthorized(harness: Harness) -> None:
    assert (await harness.call("getMe", token="1:x"))["description"] == "Unauthorized"
    assert (await harness.call("getMe", token="x"))["description"] == "Unauthorized: invalid token specified"
    harness.bot._base_url = harness.bot._base_url.replace(TOKEN, "1:x")
    with pytest.raises(InvalidToken):
        await harness.bot.get_me()


async def test_other_paths_are_not_found(harness: Harness) -> None:
    for path in ("", f"bot{TOKEN}", f"file/bot{TOKEN}/documents/none.txt"):
        async with harness.http.get(f"{harness.url}/telegram/{path}") as answer:
            assert answer.status == 404
            assert await answer.json() == {"ok": False, "error_code": 404, "description": "Not Found"}


async def test_parameters_that_are_not_utf8_are_refused(harness: Harness) -> None:
    url = f"{harness.url}/telegram/bot{TOKEN}/sendMessage"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    async with harness.http.post(url, data=b"chat_id=1&text=%ff", headers=headers) as answer:
        assert (await answer.json())["description"] == "Bad Request: strings must be encoded in UTF-8"


async def test_a_stranger_has_no_chat_before_they_start(harness: Harness) -> None:
    with pytest.raises(BadRequest, match="Chat not found"):
        await harness.bot.send_message(700100002, "hello")


async def test_promise_8_a_blocked_bot_and_a_deactivated_user_are_forbidden(harness: Harness) -> None:
    await harness.act("block")
    with pytest.raises(Forbidden, match=r"^Forbidden: bot was blocked by the user$"):
        await harness.bot.send_message(ADA, "hello")
    await harness.act("unblock")
    await harness.bot.send_message(ADA, "hello")
    await harness.act("set", deactivated=True)
    with pytest.raises(Forbidden, match=r"^Forbidden: user is deactivated$"):
        await harness.bot.send_message(ADA, "hello")


async def test_a_group_that_moved_says_where_to(harness: Harness) -> None:
    sent = await harness.act("group_say", text="hello", mention=True)
    moved = await harness.act("migrate")
    with pytest.raises(ChatMigrated) as caught:
        await harness.bot.send_message(sent["chat_id"], "hello")
    assert caught.value.new_chat_id == moved["chat_id"]
    assert (await harness.bot.send_message(moved["chat_id"], "hello")).chat.type == "supergroup"


async def test_faults_speak_as_telegram_does(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    harness.wire.faults.add(Rule("telegram.sendMessage", FaultKind.RATE_LIMIT, seconds=7))
    answer = await harness.call("SENDMESSAGE", **_TEXT)
    assert answer["description"] == "Too Many Requests: retry after 7"
    assert answer["parameters"] == {"retry_after": 7}
    harness.wire.faults.add(Rule("telegram.sendMessage", FaultKind.RATE_LIMIT, seconds=7))
    with pytest.raises(RetryAfter):
        await harness.bot.send_message(ADA, "x")
    harness.wire.faults.add(Rule("telegram.sendMessage", FaultKind.SERVER_ERROR_AFTER, status=502))
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await harness.bot.send_message(ADA, "kept all the same")
    assert harness.chat()["messages"][-1]["text"] == "kept all the same"


async def test_lengths_count_characters_and_entities_count_utf16_units(harness: Harness) -> None:
    assert (await harness.bot.send_message(ADA, "😀" * 4096)).text == "😀" * 4096
    given = await harness.bot.send_message(ADA, "😀x", entities=[MessageEntity("italic", 2, 1)])
    assert given.entities == (MessageEntity("italic", 2, 1),)
