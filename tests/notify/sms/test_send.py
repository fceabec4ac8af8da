"""Sending through the official SDK to Twilio as emulated: receipts, refusals, and answers that are lost."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    OptedOut,
    RateLimited,
    Rejected,
    Unavailable,
    Unreachable,
)
from core.messaging.channels import Part, Target
from core.messaging.messages import Address, Media, OutboundKind, OutboundMessage
from notify.sms.send import SmsNotification
from tests.notify.sms.conftest import PUBLIC_URL, SERVICE, TWILIO, make_sender
from workbench.simulator.app import Simulator
from workbench.simulator.faults import FaultKind, Rule

PERSON = "+14155550101"
CREATE = "twilio.messages.create"


def target(peer: str = PERSON, ref: str = "part_01") -> Target:
    return Target(address=Address("sms", TWILIO.number, peer), ref=ref)


def accepted(simulator: Simulator) -> list[dict[str, Any]]:
    """List the texts that Twilio has taken."""
    state: Any = simulator.providers["twilio"].state()
    bubbles = [bubble for person in state["people"].values() for bubble in person["bubbles"]]
    return [bubble for bubble in bubbles if bubble["direction"] == "out"]


async def test_promise_7_a_text_is_sent_with_our_ref_in_the_status_callback(
    simulator: Simulator, sms: SmsNotification
) -> None:
    receipt = await sms.send(Part("Hello 👋"), target())
    (bubble,) = accepted(simulator)
    assert (bubble["id"], bubble["text"]) == (receipt.provider_id, "Hello 👋")
    (call,) = simulator.wire.journal.calls(provider="twilio", about=receipt.provider_id)[:1]
    assert f"{PUBLIC_URL}/webhooks/sms/status?ref=part_01" in str(call.request)


async def test_a_rendered_message_of_many_parts_is_taken_by_the_strict_api(
    simulator: Simulator, sms: SmsNotification
) -> None:
    media = (Media("https://a.example/cat.png", "image/png"),)
    message = OutboundMessage("out_1", OutboundKind.REPLY, "Über 🍕 **alles** {x}\n\n" * 300, media=media)
    parts = sms.render(message)
    assert len(parts) > 2
    for part in parts:
        await sms.send(part, target())
    assert [bubble["text"] for bubble in accepted(simulator)] == [part.text for part in parts]


async def test_a_messaging_service_sends_without_a_number_of_its_own(simulator: Simulator) -> None:
    sms = make_sender(simulator.twilio_url, sender=SERVICE)
    begun = datetime.now(UTC)
    receipt = await sms.send(Part("hi"), target())
    assert await sms.find(Part("hi"), target(), begun) == receipt
    await sms.close()


@pytest.mark.parametrize(
    ("peer", "error", "code"),
    [
        ("+15005550001", Unreachable, "21211"),
        ("+15005550002", Rejected, "21612"),
        ("+15005550003", Rejected, "21408"),
        ("+15005550004", OptedOut, "21610"),
        ("+15005550009", Unreachable, "21614"),
        ("nobody", Unreachable, "21211"),
    ],
)
async def test_promise_8_refusals_about_the_person_are_final(
    sms: SmsNotification, peer: str, error: type[DeliveryError], code: str
) -> None:
    with pytest.raises(DeliveryError) as raised:
        await sms.send(Part("hi"), target(peer))
    assert type(raised.value) is error
    assert raised.value.code == code
    assert not raised.value.retryable
    assert peer not in str(raised.value)


async def test_promise_8_after_stop_the_person_is_opted_out(simulator: Simulator, sms: SmsNotification) -> None:
    simulator.wire.connect_gateway("http://127.0.0.1:9", PUBLIC_URL)
    await simulator.providers["twilio"].act("ada", "say", {"text": "STOP"})
    with pytest.raises(OptedOut):
        await sms.send(Part("hi"), target())


@pytest.mark.parametrize(
    ("sender", "code"),
    [
        ("+15005550001", "21212"),
        ("+15005550007", "21606"),
        ("+14155559999", "21660"),
        ("MG" + "0" * 32, "21701"),
        ("MG" + "f" * 32, "21703"),
    ],
)
async def test_a_sender_that_is_not_ours_is_told_to_the_operator(simulator: Simulator, sender: str, code: str) -> None:
    sms = make_sender(simulator.twilio_url, sender=sender)
    with pytest.raises(CredentialsRejected) as raised:
        await sms.send(Part("hi"), target())
    assert raised.value.code == code
    await sms.close()


async def test_a_full_queue_of_the_sender_is_a_rate_limit(simulator: Simulator) -> None:
    sms = make_sender(simulator.twilio_url, sender="+15005550008")
    with pytest.raises(RateLimited):
        await sms.send(Part("hi"), target())
    await sms.close()


async def test_a_wrong_token_is_told_to_the_operator(simulator: Simulator) -> None:
    sms = make_sender(simulator.twilio_url, token="0" * 32)
    with pytest.raises(CredentialsRejected):
        await sms.send(Part("hi"), target())
    with pytest.raises(Unavailable):
        await sms.find(Part("hi"), target(), datetime.now(UTC))
    await sms.close()


async def test_a_text_that_is_too_long_or_empty_is_rejected(sms: SmsNotification) -> None:
    for text in ("x" * 1601, ""):
        with pytest.raises(Rejected):
            await sms.send(Part(text), target())


async def test_a_rate_limit_says_when_to_come_back(simulator: Simulator, sms: SmsNotification) -> None:
    simulator.wire.faults.add(Rule(CREATE, FaultKind.RATE_LIMIT, seconds=7))
    with pytest.raises(RateLimited) as raised:
        await sms.send(Part("hi"), target())
    assert raised.value.retry_after == timedelta(seconds=7)
    assert accepted(simulator) == []


LOST = [
    (FaultKind.SERVER_ERROR, 500),
    (FaultKind.SERVER_ERROR, 502),
    (FaultKind.SERVER_ERROR, 503),
    (FaultKind.SERVER_ERROR_AFTER, 500),
    (FaultKind.SERVER_ERROR_AFTER, 503),
    (FaultKind.TIMEOUT_BEFORE, 0),
    (FaultKind.TIMEOUT_AFTER, 0),
    (FaultKind.RESET_BEFORE, 0),
    (FaultKind.RESET_AFTER, 0),
]


@pytest.mark.parametrize(("kind", "status"), LOST)
async def test_promise_7_a_lost_answer_is_ambiguous_and_the_list_tells(
    simulator: Simulator, sms: SmsNotification, hasty: SmsNotification, kind: FaultKind, status: int
) -> None:
    await sms.send(Part("earlier, the same person"), target())
    begun = datetime.now(UTC)
    simulator.wire.faults.add(Rule(CREATE, kind, status=status or 503, seconds=0.8))
    with pytest.raises(Ambiguous):
        await hasty.send(Part("Lost?"), target())
    receipt = await sms.find(Part("Lost?"), target(), begun)
    took = [bubble for bubble in accepted(simulator) if bubble["text"] == "Lost?"]
    assert len(took) == (1 if kind.accepts else 0), "never sent again by itself"
    assert (receipt is not None) is kind.accepts
    if receipt is not None:
        assert receipt.provider_id == took[0]["id"]


async def test_promise_7_an_older_text_with_the_same_words_is_not_taken_for_it(
    simulator: Simulator, sms: SmsNotification
) -> None:
    await sms.send(Part("OK"), target())
    assert await sms.find(Part("OK"), target(), datetime.now(UTC) + timedelta(minutes=1)) is None
    assert await sms.find(Part("OK"), target("+14155550102"), datetime.now(UTC) - timedelta(minutes=1)) is None
    assert len(accepted(simulator)) == 1


async def test_what_the_person_said_is_not_taken_for_ours(simulator: Simulator, sms: SmsNotification) -> None:
    await simulator.providers["twilio"].act("ada", "say", {"text": "OK"})
    assert await sms.find(Part("OK"), target(), datetime.now(UTC) - timedelta(minutes=1)) is None


async def test_promise_7_while_the_list_cannot_be_read_nothing_is_concluded(
    simulator: Simulator, hasty: SmsNotification
) -> None:
    for kind in (FaultKind.SERVER_ERROR, FaultKind.RATE_LIMIT, FaultKind.RESET_BEFORE, FaultKind.TIMEOUT_BEFORE):
        simulator.wire.faults.add(Rule("twilio.messages.list", kind, times=0, seconds=0.8))
        with pytest.raises(Unavailable):
            await hasty.find(Part("hi"), target(), datetime.now(UTC))
        simulator.wire.faults.clear()


async def test_a_refused_connection_means_that_nothing_was_sent() -> None:
    sms = make_sender("http://127.0.0.1:9")
    with pytest.raises(Unavailable):
        await sms.send(Part("hi"), target())
    await sms.close()


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{"sid": "SM',
        b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 6\r\n\r\n<html>",
        b"nonsense\r\n\r\n",
        b"",
    ],
)
async def test_promise_7_an_answer_that_cannot_be_read_is_ambiguous(answer: bytes) -> None:
    async with _server(answer) as url:
        sms = make_sender(url)
        with pytest.raises(Ambiguous):
            await sms.send(Part("hi"), target())
        await sms.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\n<ok>",
        b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_an_answer_that_is_not_twilios_accepts_nothing(answer: bytes) -> None:
    async with _server(answer) as url:
        sms = make_sender(url)
        try:
            with pytest.raises(Unavailable):
                await sms.send(Part("hi"), target())
        finally:
            await sms.close()


async def test_neither_numbers_nor_texts_nor_secrets_reach_the_log(
    simulator: Simulator, sms: SmsNotification, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await sms.send(Part("canary text"), target())
        await sms.find(Part("canary text"), target(), datetime.now(UTC))
    assert accepted(simulator)
    for private in ("canary", PERSON, PERSON[1:], TWILIO.auth_token):
        assert private not in caplog.text


async def test_showing_that_we_work_does_nothing(sms: SmsNotification) -> None:
    await sms.show_working(target().address)
    assert (sms.name, sms.can_find, sms.resend_unknown) == ("sms", True, False)


@asynccontextmanager
async def _server(answer: bytes) -> AsyncIterator[str]:
    """Read a request and answer these bytes, then close."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
