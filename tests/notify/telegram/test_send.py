"""Sending through PTB to Telegram as emulated: receipts, refusals, and answers that are lost."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    RateLimited,
    Rejected,
    Unavailable,
    Unreachable,
)
from core.messaging.channels import Part, Target
from core.messaging.messages import Action, Address, Media, OutboundKind, OutboundMessage
from notify.telegram.send import TelegramNotification
from tests.notify.telegram.conftest import make_sender
from tests.workbench.simulator.telegram_harness import ADA, GRACE, TOKEN, Harness
from workbench.simulator.faults import FaultKind, Rule

SEND = "telegram.sendMessage"


def target(peer: int | str = ADA, thread: str = "", reply_to: str = "") -> Target:
    return Target(Address("telegram", "7000000001", str(peer), thread), "part_01", reply_to)


def outbound(text: str, **more: Any) -> OutboundMessage:
    return OutboundMessage("out_1", OutboundKind.REPLY, text, **more)


def shown(harness: Harness) -> list[dict[str, Any]]:
    """List what the bot has said to Ada."""
    return [message for message in harness.chat()["messages"] if message["from"] == "bot"]


def asked(harness: Harness) -> int:
    """Count the calls to sendMessage that ended."""
    return sum(call.endpoint == SEND for call in harness.wire.journal.calls(provider="telegram"))


@asynccontextmanager
async def answering(status: int, body: object) -> AsyncIterator[TelegramNotification]:
    """Yield a sender at a Telegram that always answers this."""
    app = web.Application()
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, body=raw, content_type="application/json")

    app.router.add_route("*", "/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    sender = make_sender(str(server.make_url("")))
    try:
        yield sender
    finally:
        await sender.close()
        await server.close()


def refusal(status: int, description: str, **parameters: int) -> dict[str, object]:
    return {"ok": False, "error_code": status, "description": description, "parameters": parameters}


async def test_a_text_is_sent_with_its_entities(harness: Harness, telegram: TelegramNotification) -> None:
    (part,) = telegram.render(outbound("🎉 **Hello** `x`"))
    receipt = await telegram.send(part, target())
    (message,) = shown(harness)
    assert (str(message["message_id"]), message["text"]) == (receipt.provider_id, "🎉 Hello x")
    assert [(e["type"], e["offset"]) for e in message["entities"]] == [("bold", 3), ("code", 9)]
    assert not receipt.degraded


async def test_a_rendered_message_of_many_parts_is_taken_by_the_strict_api(
    harness: Harness, telegram: TelegramNotification
) -> None:
    text = "# Über 🍕\n\n**alles** {x} [y](https://a.example/1)\n\n```python\nx = 1\n```\n\n" * 400
    parts = telegram.render(outbound(text, actions=(Action("OK", "t" * 64),)))
    assert len(parts) > 2
    for part in parts:
        await telegram.send(part, target())
    assert [message["text"] for message in shown(harness)] == [part.text for part in parts]
    assert shown(harness)[-1]["keyboard"]


async def test_a_reply_quotes_its_message_even_when_that_is_gone(
    harness: Harness, telegram: TelegramNotification
) -> None:
    asked_in = (await harness.act("say", text="When?"))["message_id"]
    await telegram.send(Part("Now"), target(reply_to=str(asked_in)))
    await telegram.send(Part("Then"), target(reply_to="99999"))
    assert [message["reply_to"] for message in shown(harness)] == [asked_in, None]


async def test_promise_14_refused_formatting_is_sent_again_plain_once(
    harness: Harness, telegram: TelegramNotification
) -> None:
    broken = Part("Plain words", {"entities": [{"type": "bold", "offset": 90, "length": 4}]})
    receipt = await telegram.send(broken, target())
    assert receipt.degraded
    (message,) = shown(harness)
    assert (message["text"], message["entities"]) == ("Plain words", [])
    assert asked(harness) == 2


async def test_refused_buttons_do_not_take_the_text_with_them(harness: Harness, telegram: TelegramNotification) -> None:
    card = Part("Send it? OK 7K", {"keyboard": [[{"text": "OK", "callback_data": "x" * 65}]]})
    receipt = await telegram.send(card, target())
    assert receipt.degraded
    assert shown(harness)[0]["text"] == "Send it? OK 7K"


@pytest.mark.parametrize(
    "description",
    [
        'Bad Request: can\'t parse entities: Unsupported start tag "secret" at byte offset 0',
        "Bad Request: ENTITY_BOUNDS_INVALID",
        "Bad Request: ENTITY_TEXTURL_INVALID",
        "Bad Request: Entity begins in a middle of a UTF-16 symbol at byte offset 3",
    ],
)
async def test_formatting_refused_twice_is_final(description: str) -> None:
    part = Part("x", {"entities": [{"type": "bold", "offset": 0, "length": 1}]})
    async with answering(400, refusal(400, description)) as sender:
        with pytest.raises(Rejected) as caught:
            await sender.send(part, target())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "description", "error"),
    [
        (403, "Forbidden: bot was blocked by the user", Unreachable),
        (403, "Forbidden: user is deactivated", Unreachable),
        (403, "Forbidden: bot can't initiate conversation with a user", Unreachable),
        (400, "Bad Request: chat not found", Unreachable),
        (400, "Bad Request: PEER_ID_INVALID", Unreachable),
        (400, "Bad Request: message is too long", Rejected),
        (400, "Bad Request: text must be non-empty", Rejected),
        (401, "Unauthorized", CredentialsRejected),
        (404, "Not Found", CredentialsRejected),
        (409, "Conflict: whatever", Rejected),
        (413, "Request Entity Too Large", Rejected),
        (429, "Too Many Requests", RateLimited),
        (500, "Internal Server Error", Ambiguous),
        (502, "Bad Gateway", Ambiguous),
        (504, "Gateway Timeout", Ambiguous),
    ],
)
async def test_every_refusal_is_an_error_of_ours(status: int, description: str, error: type[DeliveryError]) -> None:
    async with answering(status, refusal(status, description)) as sender:
        with pytest.raises(DeliveryError) as caught:
            await sender.send(Part("a private text"), target())
    assert type(caught.value) is error
    assert "private" not in str(caught.value)


@pytest.mark.parametrize(
    "body", [b'{"ok":true}', b'{"ok":true,"result":{}}', b'{"ok":true,"result":{"message_id":"1"}}']
)
async def test_promise_7_a_success_that_cannot_be_read_is_ambiguous(
    body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with answering(200, body) as sender:
        with pytest.raises(Ambiguous):
            await sender.send(Part("Hello"), target())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (200, b"", Unavailable),
        (200, b"<html>", Unavailable),
        (200, b"[]", Unavailable),
        (200, b"{}", Unavailable),
        (200, b"\xff", Unavailable),
        (200, b'{"ok":false}', Unavailable),
        (302, b"<html>", Unavailable),
        (302, b'{"ok":true,"result":{"message_id":1}}', Unavailable),
        (403, b"<html>", Unavailable),
        (407, b"", Unavailable),
        (429, b"<html>", RateLimited),
        (500, b"<html>", Unavailable),
        (502, b'{"message":"upstream"}', Unavailable),
        (503, b"", Unavailable),
        (504, b"<html>", Ambiguous),
        (524, b"<html>", Ambiguous),
    ],
)
async def test_what_is_not_telegrams_own_answer_accepts_nothing(
    status: int, body: bytes, error: type[DeliveryError]
) -> None:
    async with answering(status, body) as sender:
        with pytest.raises(DeliveryError) as caught:
            await sender.send(Part("Hello"), target())
    assert type(caught.value) is error


@pytest.mark.parametrize("more", [{}, {"chat": "new"}, {"date": None, "from": 7, "entities": [{"type": 5}]}])
async def test_an_accepted_message_counts_regardless_of_other_statuses(more: dict[str, object]) -> None:
    async with answering(200, {"ok": True, "result": {"message_id": 41, **more}}) as sender:
        assert (await sender.send(Part("Hello"), target())).provider_id == "41"


@pytest.mark.parametrize("seconds", [86_400, 10**30, -5, "soon", True])
async def test_any_time_to_wait_is_a_rate_limit(seconds: object) -> None:
    answer = refusal(429, "Too Many Requests") | {"parameters": {"retry_after": seconds}}
    async with answering(429, answer) as sender:
        with pytest.raises(RateLimited) as caught:
            await sender.send(Part("Hello"), target())
    wait = caught.value.retry_after
    assert wait is None or timedelta() <= wait <= timedelta(days=7)


async def test_a_rate_limit_says_when_to_come_back(harness: Harness, telegram: TelegramNotification) -> None:
    harness.wire.faults.add(Rule(SEND, FaultKind.RATE_LIMIT, seconds=7))
    with pytest.raises(RateLimited) as caught:
        await telegram.send(Part("Hello"), target())
    assert caught.value.retry_after == timedelta(seconds=7)
    assert not shown(harness)
    await telegram.send(Part("Hello"), target())


@pytest.mark.parametrize(
    ("kind", "arrived"),
    [
        (FaultKind.TIMEOUT_AFTER, 1),
        (FaultKind.TIMEOUT_BEFORE, 0),
        (FaultKind.RESET_AFTER, 1),
        (FaultKind.RESET_BEFORE, 0),
        (FaultKind.SERVER_ERROR, 0),
        (FaultKind.SERVER_ERROR_AFTER, 1),
    ],
)
async def test_promise_7_a_lost_answer_is_ambiguous_and_is_retried_by_no_layer(
    harness: Harness, hasty: TelegramNotification, kind: FaultKind, arrived: int
) -> None:
    harness.wire.faults.add(Rule(SEND, kind, times=1, seconds=0.9))
    with pytest.raises(Ambiguous):
        await hasty.send(Part("Hello"), target())
    later = make_sender(f"{harness.url}/telegram")
    await later.send(Part("Later"), target())
    await later.close()
    assert [message["text"] for message in shown(harness)] == ["Hello"] * arrived + ["Later"]
    assert asked(harness) <= 2  # a call that hangs until its caller goes is not in the journal


async def test_no_connection_is_unavailable() -> None:
    sender = make_sender("http://127.0.0.1:9")
    with pytest.raises(Unavailable):
        await sender.send(Part("Hello"), target())
    await sender.close()


async def test_promise_8_who_blocked_us_left_or_never_wrote_is_unreachable(
    harness: Harness, telegram: TelegramNotification
) -> None:
    with pytest.raises(Unreachable, match=r"[Cc]hat not found"):
        await telegram.send(Part("Hello"), target(GRACE))
    await harness.act("block")
    with pytest.raises(Unreachable, match="blocked"):
        await telegram.send(Part("Hello"), target())
    await harness.act("unblock")
    await harness.act("set", deactivated=True)
    with pytest.raises(Unreachable, match="deactivated"):
        await telegram.send(Part("Hello"), target())


async def test_a_chat_that_moved_is_followed_and_told(harness: Harness, telegram: TelegramNotification) -> None:
    group = (await harness.act("group_say", text="hi", mention=True))["chat_id"]
    moved = (await harness.act("migrate"))["chat_id"]
    receipt = await telegram.send(Part("Hello"), target(group))
    assert receipt.moved_to == str(moved)


async def test_a_wrong_token_is_the_operators_business(harness: Harness) -> None:
    sender = make_sender(f"{harness.url}/telegram", token=f"{TOKEN}x")
    with pytest.raises(CredentialsRejected):
        await sender.send(Part("Hello"), target())
    await sender.close()


async def test_an_address_that_is_no_chat_is_rejected(telegram: TelegramNotification) -> None:
    with pytest.raises(Rejected):
        await telegram.send(Part("Hello"), target("@ada"))


async def test_a_known_file_is_sent_and_an_unknown_one_told(harness: Harness, telegram: TelegramNotification) -> None:
    known = (await harness.act("photo"))["file_id"]
    media = (Media(f"tg:{known}", "image/jpeg"), Media("https://a.example/b.pdf", "application/pdf", "b.pdf"))
    _, photo, document = telegram.render(outbound("Look", media=media))
    assert not (await telegram.send(photo, target())).degraded
    assert (await telegram.send(document, target())).degraded
    first, second = shown(harness)
    assert first["media"]["kind"] == "photo"
    assert second["text"] == "b.pdf\nhttps://a.example/b.pdf"


async def test_typing_is_shown_and_its_failure_is_only_logged(harness: Harness, telegram: TelegramNotification) -> None:
    await telegram.show_working(target().address)
    assert harness.chat()["action"] == "typing"
    harness.wire.faults.add(Rule("telegram.sendChatAction", FaultKind.SERVER_ERROR))
    await telegram.show_working(target().address)
    await telegram.show_working(target("nobody").address)


async def test_promise_7_the_policy_is_stated_and_nothing_is_looked_up(telegram: TelegramNotification) -> None:
    assert (telegram.can_find, telegram.resend_unknown) == (False, True)
    with pytest.raises(Unavailable):
        await telegram.find(Part("Hello"), target(), datetime.now(UTC))


async def test_promise_14_neither_text_nor_token_reaches_a_log(
    harness: Harness, telegram: TelegramNotification, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Part("a private text", {"entities": [{"type": "bold", "offset": 90, "length": 4}]})
    with caplog.at_level(logging.DEBUG), capture_logs() as logs:
        await telegram.send(broken, target())
        harness.wire.faults.add(Rule(SEND, FaultKind.RESET_BEFORE))
        with pytest.raises(Ambiguous):
            await telegram.send(Part("a private text"), target())
    # aiohttp's access log here is the emulated provider's own.
    ours = [record.getMessage() for record in caplog.records if record.name != "aiohttp.access"]
    assert ours
    assert "telegram-token" not in f"{ours}{logs}"
    assert "a private text" not in f"{ours}{logs}"


CARD = (Action("Approve", "tok_1"), Action("Cancel", "tok_2"))


async def test_a_card_can_be_redrawn_any_number_of_times(harness: Harness, telegram: TelegramNotification) -> None:
    (part,) = telegram.render(outbound("**Send it?** to `<@all>` 👍", actions=CARD))
    receipt = await telegram.send(part, target())
    assert len(shown(harness)[0]["keyboard"][0]) == 2
    for _ in range(2):
        await telegram.redraw(part, receipt.provider_id, target().address, "Approved at 14:02\n*now*")
        (message,) = shown(harness)
        assert message["text"] == "Send it? to <@all> 👍\n\nApproved at 14:02 *now*"
        assert [entity["type"] for entity in message["entities"]] == ["bold", "code"]
        assert message["keyboard"] == []


@pytest.mark.parametrize(
    ("size", "line"),
    [(4096, ""), (4090, ""), (4074, "👍👍👍👍👍👍👍👍👍…"), (4060, "👍" * 16 + "…"), (3000, "👍" * 100)],
)
async def test_promise_9_no_word_is_left_out_for_what_became_of_it(
    harness: Harness, telegram: TelegramNotification, size: int, line: str
) -> None:
    (part,) = telegram.render(outbound("x" * size, actions=CARD))
    receipt = await telegram.send(part, target())
    for _ in range(2):
        await telegram.redraw(part, receipt.provider_id, target().address, "👍" * 100)
        (message,) = shown(harness)
        assert message["text"] == "x" * size + (f"\n\n{line}" if line else "")
        assert message["keyboard"] == []


async def test_a_redraw_that_can_never_be_is_rejected(harness: Harness, telegram: TelegramNotification) -> None:
    (part,) = telegram.render(outbound("Send it?", actions=CARD))
    theirs = (await harness.act("say", text="mine"))["message_id"]
    asking = await telegram.send(telegram.render(outbound("Which?", wants_reply=True))[0], target())
    for number in ("4711", str(theirs), asking.provider_id, "none"):
        with pytest.raises(Rejected) as refused:
            await telegram.redraw(part, number, target().address, "Approved")
        assert not isinstance(refused.value, Unreachable)
    (file,) = telegram.render(outbound("", media=(Media("tg:BQAC", "image/png"),)))
    with pytest.raises(Rejected):
        await telegram.redraw(file, asking.provider_id, target().address, "Approved")
    harness.wire.faults.add(Rule("telegram.editMessageText", FaultKind.RATE_LIMIT, seconds=3))
    with pytest.raises(RateLimited):
        await telegram.redraw(part, asking.provider_id, target().address, "Approved")


async def test_a_redraw_whose_formatting_is_refused_is_plain(harness: Harness, telegram: TelegramNotification) -> None:
    (part,) = telegram.render(outbound("Send it?", actions=CARD))
    receipt = await telegram.send(part, target())
    wrong = Part(part.text, {**part.data, "entities": [{"type": "bold", "offset": 5000, "length": 4}]})
    await telegram.redraw(wrong, receipt.provider_id, target().address, "Approved")
    assert [(message["text"], message["keyboard"]) for message in shown(harness)] == [("Send it?\n\nApproved", [])]


async def test_a_question_is_answered_as_a_reply(harness: Harness, telegram: TelegramNotification) -> None:
    for part in telegram.render(outbound("word " * 1000, wants_reply=True)):
        await telegram.send(part, target())
    first, last = shown(harness)
    assert (first["force_reply"], last["force_reply"]) == (None, "Your answer")
