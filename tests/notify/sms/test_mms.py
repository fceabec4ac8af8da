"""Files as MMS: where, which, how many to a message; and Twilio fetching them, as emulated."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Media, OutboundKind, OutboundMessage
from notify.sms.mms import MAX_MESSAGE, MAX_OTHER, Mms, country_of
from notify.sms.render import render
from notify.sms.send import SmsNotification
from tests.abilities.documents.samples import picture
from tests.eventually import eventually
from tests.notify.sms.conftest import PUBLIC_URL, SERVICE, TWILIO
from tests.notify.sms.test_send import PERSON, accepted, target
from workbench.simulator.app import Simulator


def file_of(name: str = "chart.png", size: int = 10, path: str = "/files/a") -> OutgoingFile:
    return OutgoingFile("f1", name, "image/png", size, PUBLIC_URL + path, f"Instead: {name}", "")


def message(*files: OutgoingFile, text: str = "Here.") -> OutboundMessage:
    return OutboundMessage("out_1", OutboundKind.REPLY, text, files=files)


@asynccontextmanager
async def serving(simulator: Simulator, body: bytes, content_type: str, status: int = 200) -> AsyncIterator[None]:
    """Let the simulator fetch this from the gateway."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=content_type, status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    simulator.wire.connect_gateway(str(server.make_url("")), PUBLIC_URL)
    try:
        yield
    finally:
        await server.close()


@pytest.mark.parametrize(
    ("number", "country"),
    [
        ("+14155550101", "US"),
        ("+15551230001", "US"),
        ("+16135550101", "CA"),
        ("+18765550101", "JM"),
        ("+4915112345678", "DE"),
        ("not a number", ""),
    ],
)
def test_a_numbers_country_is_known(number: str, country: str) -> None:
    assert country_of(number) == country


def test_mms_is_for_types_sizes_and_countries_that_have_it() -> None:
    ours, theirs = Mms(("US", "CA"), "+14155550100"), "+16135550101"

    def carried(kind: str, size: int | None, peer: str = theirs, by: Mms = ours) -> bool:
        return by.carries(Media("", kind, "", size), peer)

    assert carried("image/png", MAX_MESSAGE)
    assert carried("application/pdf", MAX_OTHER)
    assert not carried("image/png", MAX_MESSAGE + 1)
    assert not carried("application/pdf", MAX_OTHER + 1)
    assert not carried("text/html", 10)
    assert not carried("image/png", None)
    assert not carried("image/png", 10, "+4915112345678")
    assert not carried("image/png", 10, by=Mms(("US", "CA"), "+4915112345678"))
    assert carried("image/png", 10, by=Mms(("US", "CA"), SERVICE))
    assert not carried("image/png", 10, by=Mms((), SERVICE))


def test_files_follow_the_text_as_many_to_a_message_as_may_be() -> None:
    many = [file_of(f"{number}.png") for number in range(11)]
    large = [file_of(f"large{number}.png", 3_000_000) for number in range(2)]
    parts = render(message(*many, *large))
    assert [len(part.data.get("media", [])) for part in parts] == [0, 10, 2, 1]  # type: ignore[arg-type]
    assert parts[0].text == "Here."
    assert parts[2].text == "10.png, large0.png"
    assert [part.text for part in render(message(file_of(), text=""))] == ["chart.png"]


async def test_twilio_fetches_the_file_and_the_person_sees_it(simulator: Simulator, sms: SmsNotification) -> None:
    png = picture("PNG")
    _, part = sms.render(message(file_of()))
    async with serving(simulator, png, "image/png"):
        await sms.send(part, target())
        await eventually(lambda: accepted(simulator)[-1]["status"] == "delivered")
    (media,) = accepted(simulator)[-1]["media"]
    provider: Any = simulator.providers["twilio"]
    assert media["content_type"] == "image/png"
    assert provider.file(media["url"].rpartition("/")[2]).data == png


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"refused", "text/plain", 404, 11200),
        (b"<html>", "text/html", 200, 12300),
        (b"<html>", "image/png", 200, 12300),
        (b"%PDF" + bytes(600_000), "application/pdf", 200, 11751),
    ],
)
async def test_a_file_that_twilio_cannot_use_fails_its_message(
    simulator: Simulator, sms: SmsNotification, body: bytes, content_type: str, status: int, code: int
) -> None:
    _, part = sms.render(message(file_of()))
    async with serving(simulator, body, content_type, status):
        await sms.send(part, target())
        await eventually(lambda: accepted(simulator)[-1]["status"] == "failed")
    assert accepted(simulator)[-1]["error_code"] == code


async def test_promise_14_a_file_that_twilio_refuses_is_told_of(sms: SmsNotification, simulator: Simulator) -> None:
    local = OutgoingFile("f1", "a.png", "image/png", 10, "http://localhost/files/a", "Instead: a.png", "")
    _, part = sms.render(message(local))
    receipt = await sms.send(part, target())
    assert (receipt.degraded, accepted(simulator)[-1]["text"]) == (True, "Instead: a.png")


def test_without_a_setting_nothing_goes_as_mms(sms: SmsNotification) -> None:
    assert not sms.carries(Media("", "image/png", "", 10), Address("sms", TWILIO.number, PERSON))
