"""The emulated Twilio, driven by the official library and checked against the published description."""

import asyncio
import base64
import json
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
import jsonschema
import pytest
from aiohttp import web
from smsutil import split
from twilio.base.exceptions import TwilioRestException
from twilio.http.async_http_client import AsyncTwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from simulator.app import Simulator, serve_simulator
from simulator.base import BadAction
from simulator.config import SimulatorConfig, SystemClock, TwilioConfig
from simulator.faults import FaultKind, Rule
from simulator.journal import Json
from simulator.twilio import forms
from simulator.twilio.segments import count_segments
from simulator.twilio.webhooks import overrides_of
from tests.simulator.conftest import PUBLIC_URL, FakeGateway

# The official library still authenticates in the way that aiohttp 3.14 warns of.
pytestmark = [
    pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'auth' parameter is deprecated:DeprecationWarning"),
]

SERVICE = "MG" + "a" * 32
EMPTY_SERVICE = "MG" + "b" * 32
TWILIO = TwilioConfig(numbers=("+14155550199",), services=((SERVICE, ("+14155550177",)), (EMPTY_SERVICE, ())))
OURS, ADA, GRACE = TWILIO.number, "+14155550101", "+14155550102"
AUTH = {"Authorization": aiohttp.encode_basic_auth(TWILIO.account_sid, TWILIO.auth_token)}
STATUS_URL = PUBLIC_URL + "/webhooks/sms/status?out=o1"
HOOK = "/webhooks/sms"


@pytest.fixture
def simulator_config() -> SimulatorConfig:
    return SimulatorConfig(public_url=PUBLIC_URL, pace=0.01, patience=0.1, twilio=TWILIO)


@pytest.fixture
async def client(simulator: Simulator) -> AsyncIterator[Client]:
    http_client = AsyncTwilioHttpClient(timeout=5)
    twilio = Client(TWILIO.account_sid, TWILIO.auth_token, http_client=http_client)
    twilio.api.base_url = simulator.twilio_url
    yield twilio
    await http_client.close()


async def until(check: Callable[[], object], seconds: float = 3.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.005)


async def say(simulator: Simulator, text: str, person: str = "ada", **more: Json) -> dict[str, Json]:
    told = await simulator.providers["twilio"].act(person, "say", {"text": text, "wait": True, **more})
    assert isinstance(told, dict)
    return told


def person_of(simulator: Simulator, key: str = "ada") -> dict[str, Any]:
    state = cast(dict[str, Any], simulator.providers["twilio"].state())
    return cast(dict[str, Any], state["people"][key])


def bubbles(simulator: Simulator, key: str = "ada") -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], person_of(simulator, key)["bubbles"])


def debugger(simulator: Simulator) -> list[tuple[int, str]]:
    entries = cast(dict[str, Any], simulator.providers["twilio"].state())["debugger"]
    return [(entry["code"], entry["detail"]) for entry in entries]


def answering(status: int = 200, body: str = "", kind: str = "text/xml") -> Callable[..., Awaitable[web.Response]]:
    async def respond(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, content_type=kind)

    return respond


# Sending


async def test_a_message_is_sent_and_its_statuses_are_told_in_signed_callbacks(
    simulator: Simulator, client: Client, gateway: FakeGateway
) -> None:
    message = await client.messages.create_async(to=ADA, from_=OURS, body="Hello 👋", status_callback=STATUS_URL)
    assert (message.status, message.direction, message.num_segments, message.price) == (
        "queued", "outbound-api", "1", None,
    )  # fmt: skip
    assert re.fullmatch("SM[0-9a-f]{32}", message.sid or "")
    await until(lambda: len(gateway.heard) == 3)
    assert [heard.form["MessageStatus"] for heard in gateway.heard] == ["queued", "sent", "delivered"]
    validator = RequestValidator(TWILIO.auth_token)
    for heard in gateway.heard:
        assert heard.url == "/webhooks/sms/status?out=o1"
        assert validator.validate(PUBLIC_URL + heard.url, heard.form, heard.headers["X-Twilio-Signature"])
        assert (heard.form["MessageSid"], heard.form["To"], heard.form["From"]) == (message.sid, ADA, OURS)
    assert re.fullmatch(r"\d{10}", gateway.heard[-1].form["RawDlrDoneDate"])
    fetched = await client.messages(message.sid).fetch_async()
    assert (fetched.status, fetched.price, fetched.error_code) == ("delivered", "-0.00830", None)
    assert fetched.date_sent is not None
    [bubble] = bubbles(simulator)
    assert (bubble["direction"], bubble["text"], bubble["status"], bubble["encoding"]) == (
        "out", "Hello 👋", "delivered", "UCS-2",
    )  # fmt: skip


async def test_a_messaging_service_accepts_first_and_sends_from_its_pool(simulator: Simulator, client: Client) -> None:
    message = await client.messages.create_async(to=ADA, messaging_service_sid=SERVICE, body="hi")
    assert (message.status, message.from_, message.num_segments) == ("accepted", None, "0")
    await until(lambda: bubbles(simulator)[0]["status"] == "delivered")
    fetched = await client.messages(message.sid).fetch_async()
    assert (fetched.from_, fetched.messaging_service_sid, fetched.num_segments) == ("+14155550177", SERVICE, "1")


@pytest.mark.parametrize(
    ("mode", "status", "code"),
    [("off", "undelivered", 30003), ("filtered", "undelivered", 30007), ("failing", "failed", 30008)],
)
async def test_a_phone_that_takes_nothing_makes_the_message_fail(
    simulator: Simulator, client: Client, gateway: FakeGateway, mode: str, status: str, code: int
) -> None:
    await simulator.providers["twilio"].act("ada", "phone", {"mode": mode})
    message = await client.messages.create_async(to=ADA, from_=OURS, body="hi", status_callback=STATUS_URL)
    await until(lambda: bubbles(simulator)[0]["status"] == status)
    await until(lambda: gateway.heard and gateway.heard[-1].form.get("ErrorCode") == str(code))
    assert (await client.messages(message.sid).fetch_async()).error_code == code


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("reversed", ["delivered", "sent", "queued"]),
        ("twice", ["queued", "queued", "sent", "sent", "delivered", "delivered"]),
    ],
)
async def test_callbacks_can_come_in_any_order(
    simulator: Simulator, client: Client, gateway: FakeGateway, order: str, told: list[str]
) -> None:
    await simulator.providers["twilio"].act("ada", "callbacks", {"order": order})
    await client.messages.create_async(to=ADA, from_=OURS, body="hi", status_callback=STATUS_URL)
    await until(lambda: len(gateway.heard) == len(told))
    assert [heard.form["MessageStatus"] for heard in gateway.heard] == told


WRONG: list[tuple[dict[str, str], int]] = [
    ({"From": OURS, "Body": "x"}, 21604),
    ({"To": "", "From": OURS, "Body": "x"}, 21604),
    ({"To": "ada", "From": OURS, "Body": "x"}, 21211),
    ({"To": "4155550101", "From": OURS, "Body": "x"}, 21211),
    ({"To": "+1415555", "From": OURS, "Body": "x"}, 21211),
    ({"To": OURS, "From": OURS, "Body": "x"}, 21266),
    ({"To": ADA, "Body": "x"}, 21603),
    ({"To": ADA, "From": "+1", "Body": "x"}, 21212),
    ({"To": ADA, "From": "Valet", "Body": "x"}, 21606),
    ({"To": ADA, "From": "+14155550111", "Body": "x"}, 21660),
    ({"To": ADA, "MessagingServiceSid": "MG" + "c" * 32, "Body": "x"}, 21701),
    ({"To": ADA, "MessagingServiceSid": EMPTY_SERVICE, "Body": "x"}, 21703),
    ({"To": ADA, "From": OURS}, 21602),
    ({"To": ADA, "From": OURS, "Body": ""}, 21602),
    ({"To": ADA, "From": OURS, "Body": "x" * 1601}, 21617),
    ({"To": ADA, "From": OURS, "Body": "👋" * 801}, 21617),
    ({"To": ADA, "From": OURS, "Body": "x", "StatusCallback": "nowhere"}, 21609),
    ({"To": ADA, "From": OURS, "Body": "x", "StatusCallback": "http://localhost:3000/status"}, 21609),
    ({"To": ADA, "From": OURS, "Body": "x", "MediaUrl": "file:///etc/passwd"}, 21620),
    ({"To": ADA, "From": OURS, "Body": "x", "ValidityPeriod": "36001"}, 21624),
    ({"To": ADA, "From": OURS, "Body": "x", "MaxPrice": "cheap"}, 20001),
    ({"To": ADA, "From": OURS, "Body": "x", "RiskCheck": "perhaps"}, 20001),
    ({"To": ADA, "From": OURS, "Body": "x", "IdempotencyKey": "k"}, 20001),
    ({"To": ADA, "From": OURS, "Body": "x", "SendAt": "2030-01-01T00:00:00Z"}, 35118),
    ({"To": ADA, "From": OURS, "ContentSid": "HX" + "0" * 32, "Body": "x"}, 21655),
    ({"To": "+15005550001", "From": OURS, "Body": "x"}, 21211),
    ({"To": "+15005550002", "From": OURS, "Body": "x"}, 21612),
    ({"To": "+15005550004", "From": OURS, "Body": "x"}, 21610),
    ({"To": "+15005550009", "From": OURS, "Body": "x"}, 21614),
    ({"To": ADA, "From": "+15005550008", "Body": "x"}, 21611),
]


@pytest.mark.parametrize(("form", "code"), WRONG)
async def test_a_wrong_send_is_refused_in_twilios_words(
    simulator: Simulator, http: aiohttp.ClientSession, form: dict[str, str], code: int
) -> None:
    url = f"{simulator.twilio_url}/2010-04-01/Accounts/{TWILIO.account_sid}/Messages.json"
    async with http.post(url, data=form, headers=AUTH) as answer:
        body = await answer.json()
    assert (answer.status, body["code"], body["status"]) == (400, code, 400)
    assert body["more_info"] == f"https://www.twilio.com/docs/errors/{code}"
    assert body["message"]
    assert bubbles(simulator) == []


async def test_more_wrong_calls_are_refused(simulator: Simulator, client: Client, http: aiohttp.ClientSession) -> None:
    async def code_of(call: Coroutine[Any, Any, object]) -> tuple[int, int]:
        with pytest.raises(TwilioRestException) as refused:
            await call
        return refused.value.status, cast(int, refused.value.code)

    sent = await client.messages.create_async(to=ADA, from_=OURS, body="x")
    assert await code_of(client.messages(sent.sid).update_async(body="")) == (400, 20009)
    assert await code_of(client.messages(sent.sid).delete_async()) == (400, 20009)
    assert await code_of(client.messages(sent.sid).update_async(status="canceled")) == (400, 30409)
    assert await code_of(client.messages(sent.sid).update_async(body="other")) == (400, 20001)
    assert await code_of(client.messages("SM" + "0" * 32).fetch_async()) == (404, 20404)
    assert await code_of(client.calls("CA" + "0" * 32).fetch_async()) == (404, 20404)
    [number, *_] = await client.incoming_phone_numbers.list_async()
    assert await code_of(number.update_async(sms_url="nowhere")) == (400, 21402)
    assert await code_of(number.update_async(sms_method="PUT")) == (400, 21403)
    urls = [f"https://files.example.com/{number}.png" for number in range(11)]
    assert await code_of(client.messages.create_async(to=ADA, from_=OURS, media_url=urls)) == (400, 21623)
    url = f"{simulator.twilio_url}/2010-04-01/Accounts/{TWILIO.account_sid}/Messages.json"
    for query, code in [
        ("PageSize=1001", 20007), ("PageSize=x", 20001), ("Page=2", 20001), ("PageToken=PA1", 20001),
        ("DateSent=yesterday", 20001), ("Sender=x", 20001), ("To=1&To=2", 20001),
    ]:  # fmt: skip
        async with http.get(f"{url}?{query}", headers=AUTH) as answer:
            assert (await answer.json())["code"] == code, query


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Basic !!!",
        "Bearer " + base64.b64encode(f"{TWILIO.account_sid}:{TWILIO.auth_token}".encode()).decode(),
        "Basic " + base64.b64encode(f"{TWILIO.account_sid}:wrong".encode()).decode(),
        "Basic " + base64.b64encode(f"AC{'0' * 32}:{TWILIO.auth_token}".encode()).decode(),
        "Basic " + base64.b64encode(b"\xff\xfe").decode(),
    ],
)
async def test_wrong_credentials_are_refused(
    simulator: Simulator, http: aiohttp.ClientSession, header: str | None
) -> None:
    url = f"{simulator.twilio_url}/2010-04-01/Accounts/{TWILIO.account_sid}/Messages.json"
    headers = {"Authorization": header} if header else {}
    async with http.post(url, data={"To": ADA, "From": OURS, "Body": "x"}, headers=headers) as answer:
        assert answer.status == 401
        assert (await answer.json())["code"] == 20003
    assert bubbles(simulator) == []


# Lists, numbers, media


async def test_lists_are_filtered_and_paged_as_the_library_walks_them(simulator: Simulator, client: Client) -> None:
    for number in range(7):
        await client.messages.create_async(to=ADA, from_=OURS, body=str(number))
    await client.messages.create_async(to=GRACE, from_=OURS, body="grace")
    await say(simulator, "in")
    await until(lambda: all(one["status"] in ("delivered", "received") for one in bubbles(simulator)))
    everything = await client.messages.list_async(page_size=3)
    assert [one.body for one in everything] == ["in", "grace", "6", "5", "4", "3", "2", "1", "0"]
    assert [one.body for one in await client.messages.list_async(to=OURS)] == ["in"]
    assert len(await client.messages.list_async(to=ADA, from_=OURS, page_size=2)) == 7
    assert len(await client.messages.list_async(to=ADA, limit=4, page_size=2)) == 4
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    assert len(await client.messages.list_async(date_sent_after=now - hour, date_sent_before=now + hour)) == 9
    assert await client.messages.list_async(date_sent_after=now + hour) == []
    assert await client.messages.list_async(date_sent_before=now - hour) == []
    first = await client.messages.page_async(page_size=2)
    second = await first.next_page_async()
    assert second is not None
    assert [one.body for one in second] == ["6", "5"]


async def test_a_finished_message_can_be_redacted_and_deleted(simulator: Simulator, client: Client) -> None:
    told = await say(simulator, "a secret")
    message = client.messages(str(told["sid"]))
    assert (await message.update_async(body="")).body == ""
    assert await message.delete_async()
    assert await client.messages.list_async() == []


async def test_a_numbers_webhook_is_set_and_used(simulator: Simulator, client: Client, gateway: FakeGateway) -> None:
    [found] = await client.incoming_phone_numbers.list_async(phone_number=OURS)
    set_to = await found.update_async(sms_url=PUBLIC_URL + "/elsewhere?x=1#rc=2", sms_method="POST")
    assert set_to.sms_url == PUBLIC_URL + "/elsewhere?x=1#rc=2"
    await say(simulator, "hi")
    [heard] = gateway.heard
    assert heard.url == "/elsewhere?x=1"
    validator = RequestValidator(TWILIO.auth_token)
    signature = heard.headers["X-Twilio-Signature"]
    assert validator.validate(PUBLIC_URL + "/elsewhere?x=1", heard.form, signature)
    await found.update_async(sms_method="GET")
    await say(simulator, "hi again")
    got = gateway.heard[-1]
    assert (got.method, got.body) == ("GET", b"")
    assert validator.validate(PUBLIC_URL + got.url, {}, got.headers["X-Twilio-Signature"])
    assert (await client.balance.fetch_async()).currency == "USD"
    assert (await client.api.accounts(TWILIO.account_sid).fetch_async()).status == "active"


async def test_a_picture_sent_is_fetched_with_credentials_and_a_redirect(
    simulator: Simulator, gateway: FakeGateway, http: aiohttp.ClientSession, client: Client
) -> None:
    picture: Json = {"content_type": "image/png", "data": base64.b64encode(b"\x89PNG").decode()}
    told = await say(simulator, "", media=[picture])
    form = gateway.heard[0].form
    assert (form["NumMedia"], form["MediaContentType0"], form["Body"]) == ("1", "image/png", "")
    assert str(told["sid"]).startswith("MM")
    async with http.get(form["MediaUrl0"]) as answer:
        assert answer.status == 401
    async with http.get(form["MediaUrl0"], headers=AUTH, allow_redirects=False) as answer:
        assert answer.status == 307
        target = answer.headers["Location"]
    async with http.get(target) as answer:
        assert (await answer.read(), answer.content_type) == (b"\x89PNG", "image/png")
    [listed] = await client.messages(str(told["sid"])).media.list_async()
    assert listed.content_type == "image/png"


# Receiving


async def test_a_text_reaches_the_webhook_as_twilio_sends_it(simulator: Simulator, gateway: FakeGateway) -> None:
    told = await say(simulator, "Grüße & = + %20 👋")
    [heard] = gateway.heard
    assert heard.path == HOOK
    assert heard.headers["Content-Type"].startswith("application/x-www-form-urlencoded")
    assert heard.form["Body"] == "Grüße & = + %20 👋"
    assert (heard.form["From"], heard.form["To"], heard.form["NumMedia"]) == (ADA, OURS, "0")
    assert heard.form["MessageSid"] == heard.form["SmsSid"] == heard.form["SmsMessageSid"] == told["sid"]
    assert heard.form["AccountSid"] == TWILIO.account_sid
    assert "OptOutType" not in heard.form
    validator = RequestValidator(TWILIO.auth_token)
    assert validator.validate(PUBLIC_URL + HOOK, heard.form, heard.headers["X-Twilio-Signature"])
    assert not validator.validate(PUBLIC_URL + HOOK, {**heard.form, "Body": "x"}, heard.headers["X-Twilio-Signature"])
    assert told["webhook"] == "200"


async def test_a_duplicate_is_the_same_message_as_a_new_request(simulator: Simulator, gateway: FakeGateway) -> None:
    told = await say(simulator, "once")
    await simulator.providers["twilio"].act("ada", "duplicate", {"sid": told["sid"], "times": 3, "wait": True})
    assert len(gateway.heard) == 4
    assert len({heard.body for heard in gateway.heard}) == 1
    assert len({heard.headers["I-Twilio-Idempotency-Token"] for heard in gateway.heard}) == 4
    assert len(bubbles(simulator)) == 1


@pytest.mark.parametrize(
    ("fragment", "status", "attempts"),
    [
        ("", 500, 1),
        ("#rc=3&rp=ct,rt,5xx", 503, 4),
        ("#rc=5&rp=all", 404, 6),
        ("#rc=2&rp=5xx", 404, 1),
        ("#rc=9&rp=5xx", 500, 2),
        ("#rc=3&rp=5xx,everything", 500, 1),
    ],
)
async def test_a_refused_webhook_is_tried_again_only_as_its_fragment_says(
    simulator: Simulator, client: Client, gateway: FakeGateway, fragment: str, status: int, attempts: int
) -> None:
    gateway.respond = answering(status)
    [number] = await client.incoming_phone_numbers.list_async(phone_number=OURS)
    await number.update_async(sms_url=PUBLIC_URL + HOOK + fragment)
    told = await say(simulator, "hi")
    assert len(gateway.heard) == attempts == told["attempts"]
    assert len({heard.headers["I-Twilio-Idempotency-Token"] for heard in gateway.heard}) == 1
    assert debugger(simulator) == [(11200, str(status))]


async def test_no_connection_is_tried_once_more_by_default_and_a_slow_answer_is_not(
    simulator: Simulator, gateway: FakeGateway
) -> None:
    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(10)
        return web.Response()

    gateway.respond = slow
    begun = time.monotonic()
    told = await say(simulator, "slow")
    assert (told["webhook"], told["attempts"]) == ("timeout", 1)
    assert 1.4 < time.monotonic() - begun < 3  # 15 s at a tenth of the patience
    simulator.wire.connect_gateway("http://127.0.0.1:1", PUBLIC_URL)
    told = await say(simulator, "nobody there")
    assert (told["webhook"], told["attempts"]) == ("connect_failed", 2)


async def test_slow_answers_are_tried_again_until_the_total_time_is_over(
    simulator: Simulator, client: Client, gateway: FakeGateway
) -> None:
    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(10)
        return web.Response()

    gateway.respond = slow
    [number] = await client.incoming_phone_numbers.list_async(phone_number=OURS)
    await number.update_async(sms_url=PUBLIC_URL + HOOK + "#rt=2000&tt=5000&rc=5&rp=rt")
    begun = time.monotonic()
    told = await say(simulator, "slow")
    assert told["attempts"] == 3
    assert time.monotonic() - begun < 1


def test_overrides_out_of_range_keep_their_defaults() -> None:
    read = overrides_of("https://x.example/a#ct=50&rt=15001&tt=9000&rc=5&rp=4xx,rt")
    assert (read.connect, read.read, read.total, read.retries) == (5.0, 15.0, 9.0, 5)
    assert sorted(read.policy) == ["4xx", "rt"]


async def test_the_fallback_is_called_when_the_webhook_failed(
    simulator: Simulator, client: Client, gateway: FakeGateway
) -> None:
    async def respond(request: web.Request) -> web.Response:
        return web.Response(status=500 if request.path == HOOK else 200)

    gateway.respond = respond
    [number] = await client.incoming_phone_numbers.list_async(phone_number=OURS)
    await number.update_async(sms_fallback_url=PUBLIC_URL + "/spare")
    told = await say(simulator, "hi")
    assert told["webhook"] == "200"
    [spare] = gateway.at("/spare")
    assert (spare.form["ErrorCode"], spare.form["Body"]) == ("11200", "hi")


@pytest.mark.parametrize(
    ("body", "kind", "texts"),
    [
        ("", "text/xml", []),
        ("<Response/>", "text/xml", []),
        ("<Response><Message>one</Message><Message><Body>two</Body></Message></Response>", "application/xml",
         ["one", "two"]),
        ("ok", "text/plain", ["ok"]),
    ],
)  # fmt: skip
async def test_twiml_answers_are_sent(
    simulator: Simulator, gateway: FakeGateway, body: str, kind: str, texts: list[str]
) -> None:
    gateway.respond = answering(200, body, kind)
    await say(simulator, "hi")
    assert [bubble["text"] for bubble in bubbles(simulator) if bubble["direction"] == "out"] == texts


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [("<Response>", "text/xml", 12100), ("<p/>", "text/xml", 12100), ("{}", "application/json", 12300)],
)
async def test_unusable_answers_are_in_the_debugger(
    simulator: Simulator, gateway: FakeGateway, body: str, kind: str, code: int
) -> None:
    gateway.respond = answering(200, body, kind)
    told = await say(simulator, "hi")
    assert told["webhook"] == str(code)
    assert [entry[0] for entry in debugger(simulator)] == [code]


# STOP


async def test_stop_blocks_answers_and_is_passed_on_and_start_undoes_it(
    simulator: Simulator, client: Client, gateway: FakeGateway
) -> None:
    await say(simulator, " stop ")
    assert (gateway.heard[0].form["Body"], gateway.heard[0].form["OptOutType"]) == (" stop ", "STOP")
    [_, reply] = bubbles(simulator)
    assert "unsubscribed" in reply["text"]
    assert person_of(simulator)["stopped"] == [OURS]
    with pytest.raises(TwilioRestException) as refused:
        await client.messages.create_async(to=ADA, from_=OURS, body="still there?")
    assert (refused.value.status, refused.value.code) == (400, 21610)
    await client.messages.create_async(to=ADA, from_="+14155550199", body="another sender")
    await client.messages.create_async(to=GRACE, from_=OURS, body="another person")
    gateway.respond = answering(200, "<Response><Message>no</Message></Response>")
    await say(simulator, "stop that please")
    assert "OptOutType" not in gateway.heard[-1].form
    assert (21610, "a reply to somebody who said STOP") in debugger(simulator)
    gateway.respond = None
    await say(simulator, "Start")
    assert gateway.heard[-1].form["OptOutType"] == "START"
    await client.messages.create_async(to=ADA, from_=OURS, body="welcome back")


async def test_an_account_may_answer_stop_itself(gateway: FakeGateway, simulator_config: SimulatorConfig) -> None:
    config = replace(simulator_config, gateway_url=gateway.url, twilio=replace(TWILIO, answers_stop=False))
    async with serve_simulator(config, SystemClock()) as simulator:
        await say(simulator, "STOP")
        assert len(bubbles(simulator)) == 1
        assert person_of(simulator)["stopped"] == []
        assert "OptOutType" not in gateway.heard[0].form


# Faults, segments, actions


@pytest.mark.parametrize(
    ("kind", "status", "accepted"),
    [
        (FaultKind.RATE_LIMIT, 429, 0),
        (FaultKind.SERVER_ERROR, 503, 0),
        (FaultKind.SERVER_ERROR_AFTER, 503, 1),
        (FaultKind.TIMEOUT_BEFORE, 0, 0),
        (FaultKind.TIMEOUT_AFTER, 0, 1),
        (FaultKind.RESET_BEFORE, 0, 0),
        (FaultKind.RESET_AFTER, 0, 1),
    ],
)
async def test_each_fault_says_truly_whether_the_call_took_effect(
    simulator: Simulator, client: Client, http: aiohttp.ClientSession, kind: FaultKind, status: int, accepted: int
) -> None:
    simulator.wire.faults.add(Rule("twilio.messages.create", kind, seconds=0.3))
    url = f"{simulator.twilio_url}/2010-04-01/Accounts/{TWILIO.account_sid}/Messages.json"
    form = {"To": ADA, "From": OURS, "Body": "x"}
    got = 0
    try:
        limit = aiohttp.ClientTimeout(total=0.2 if "timeout" in kind else 2)
        async with http.post(url, data=form, headers=AUTH, timeout=limit) as answer:
            got = answer.status
            body = await answer.json()
            assert body["code"] == {429: 20429, 503: 20503}[got]
            assert ("Retry-After" in answer.headers) == (got == 429)
    except TimeoutError:
        assert "timeout" in kind
    except aiohttp.ClientError:
        assert "reset" in kind
    assert got == status
    assert len(await client.messages.list_async()) == accepted
    await client.messages.create_async(to=ADA, from_=OURS, body="the next call is good")
    await until(lambda: len(simulator.wire.journal.calls(provider="twilio")) >= 3)
    [faulty] = [
        call for call in simulator.wire.journal.calls() if isinstance(call.answer, dict) and "fault" in call.answer
    ]
    assert faulty.status == status


TEXTS = [
    *("a", "a" * 160, "a" * 161, "a" * 306, "a" * 307, "é" * 160, "“quoted”", "ê", "\n\r"),
    *("€" * 80, "€" * 81, "a" * 152 + "€" + "a" * 20, "[x]" * 60),
    *("ç" * 70, "ç" * 71, "👋" * 35, "👋" * 36, "a" * 66 + "👋" + "b" * 10),
]


@pytest.mark.parametrize("text", TEXTS)
def test_segments_are_counted_as_smsutil_counts_them(text: str) -> None:
    theirs = split(text)
    ours = count_segments(text)
    assert ours.count == max(1, len(theirs.parts))
    assert (ours.encoding == "GSM-7") == (theirs.encoding == "gsm0338")


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("say", {}),
        ("say", {"text": 5}),
        ("say", {"text": "x" * 1601}),
        ("say", {"text": "x", "to": "+14155550000"}),
        ("say", {"text": "x", "media": "cat.png"}),
        ("say", {"text": "x", "media": [{"content_type": "image/png", "data": "***"}]}),
        ("duplicate", {"sid": "SM1"}),
        ("phone", {"mode": "wet"}),
        ("callbacks", {"order": "random"}),
        ("sing", {}),
    ],
)
async def test_what_a_person_cannot_do_is_said(simulator: Simulator, action: str, arguments: dict[str, Json]) -> None:
    with pytest.raises(BadAction, match=r"\.$"):
        await simulator.providers["twilio"].act("ada", action, arguments)


async def test_a_text_over_the_control_api_and_a_reset(
    simulator: Simulator, http: aiohttp.ClientSession, gateway: FakeGateway
) -> None:
    async with http.post(f"{simulator.url}/sim/twilio/say", json={"person": "grace", "text": "hi"}) as answer:
        sid = (await answer.json())["sid"]
    await until(lambda: gateway.heard)
    await until(lambda: simulator.wire.journal.calls(about=sid))
    async with http.get(f"{simulator.url}/sim/state") as answer:
        [bubble] = (await answer.json())["twilio"]["people"]["grace"]["bubbles"]
    assert (bubble["id"], bubble["text"], bubble["segments"], bubble["price"]) == (sid, "hi", 1, "0.0083")
    await http.post(f"{simulator.url}/sim/reset")
    assert bubbles(simulator, "grace") == []


# The published description


def described() -> dict[str, Any]:
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS is not set: the providers' published descriptions are not at hand")
    return cast(dict[str, Any], json.loads((Path(folder) / "twilio-api-v2010.openapi.json").read_text()))


ACCOUNTS = "/2010-04-01/Accounts/{AccountSid}"


@pytest.mark.parametrize(
    ("path", "method", "names"),
    [
        ("/Messages.json", "post", forms.CREATE_MESSAGE),
        ("/Messages.json", "get", forms.LIST_MESSAGES),
        ("/Messages/{Sid}.json", "post", forms.UPDATE_MESSAGE),
        ("/Messages/{MessageSid}/Media.json", "get", forms.LIST_MEDIA),
        ("/IncomingPhoneNumbers.json", "get", forms.LIST_NUMBERS),
        ("/IncomingPhoneNumbers/{Sid}.json", "post", forms.UPDATE_NUMBER),
    ],
)
def test_parameters_are_those_of_the_published_description(path: str, method: str, names: frozenset[str]) -> None:
    call = described()["paths"][ACCOUNTS + path][method]
    if method == "get":
        listed = {one["name"] for one in call["parameters"] if one["in"] == "query"}
    else:
        listed = set(call["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]["properties"])
    assert listed == names


async def test_answers_are_those_of_the_published_description(
    simulator: Simulator, client: Client, http: aiohttp.ClientSession
) -> None:
    schemas = _nullable(described()["components"])["schemas"]
    picture: Json = {"content_type": "image/png", "data": ""}
    sid = (await say(simulator, "", media=[picture]))["sid"]
    await client.messages.create_async(to=ADA, messaging_service_sid=SERVICE, body="x")
    for path, key, schema in [
        ("/Messages.json", "messages", "message"),
        (f"/Messages/{sid}/Media.json", "media_list", "message.media"),
        ("/IncomingPhoneNumbers.json", "incoming_phone_numbers", "incoming_phone_number"),
        ("/Balance.json", "", "balance"),
        (".json", "", ""),
    ]:
        url = f"{simulator.twilio_url}/2010-04-01/Accounts/{TWILIO.account_sid}{path}"
        async with http.get(url, headers=AUTH) as answer:
            body = await answer.json()
        wanted = schemas[f"api.v2010.account.{schema}".rstrip(".")]
        for one in body[key] if key else [body]:
            assert set(one) == set(wanted["properties"])
            jsonschema.validate(one, {**wanted, "components": {"schemas": schemas}})


def _nullable(node: Any) -> Any:
    """Turn OpenAPI's nullable into JSON Schema's."""
    if isinstance(node, list):
        return [_nullable(one) for one in node]
    if not isinstance(node, dict):
        return node
    turned = {name: _nullable(value) for name, value in node.items()}
    if turned.pop("nullable", False) and isinstance(turned.get("type"), str):
        turned["type"] = [turned["type"], "null"]
    return turned
