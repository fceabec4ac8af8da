"""Sending through the emulated Twilio: statuses, refusals, credentials, faults."""

import base64
import re
from collections.abc import Coroutine
from typing import Any, cast

import aiohttp
import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from tests.eventually import eventually
from tests.workbench.simulator.conftest import EMPTY_SERVICE, PUBLIC_URL, SERVICE, TWILIO, FakeGateway
from tests.workbench.simulator.twilio_harness import (
    ADA,
    AUTH,
    MARKS,
    OURS,
    STATUS_URL,
    bubbles,
)
from workbench.simulator.app import Simulator
from workbench.simulator.faults import FaultKind, Rule

pytestmark = MARKS


async def test_a_message_is_sent_and_its_statuses_are_told_in_signed_callbacks(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway
) -> None:
    message = await twilio_client.messages.create_async(to=ADA, from_=OURS, body="Hello 👋", status_callback=STATUS_URL)
    assert (message.status, message.direction, message.num_segments, message.price) == (
        "queued",
        "outbound-api",
        "1",
        None,
    )
    assert re.fullmatch("SM[0-9a-f]{32}", message.sid or "")
    await eventually(lambda: len(gateway.heard) == 3)
    assert [heard.form["MessageStatus"] for heard in gateway.heard] == ["queued", "sent", "delivered"]
    validator = RequestValidator(TWILIO.auth_token)
    for heard in gateway.heard:
        assert heard.url == "/webhooks/sms/status?out=o1"
        assert validator.validate(PUBLIC_URL + heard.url, heard.form, heard.headers["X-Twilio-Signature"])
        assert (heard.form["MessageSid"], heard.form["To"], heard.form["From"]) == (message.sid, ADA, OURS)
    assert re.fullmatch(r"\d{10}", gateway.heard[-1].form["RawDlrDoneDate"])
    fetched = await twilio_client.messages(message.sid).fetch_async()
    assert (fetched.status, fetched.price, fetched.error_code) == ("delivered", "-0.00830", None)
    assert fetched.date_sent is not None
    [bubble] = bubbles(simulator)
    assert (bubble["direction"], bubble["text"], bubble["status"], bubble["encoding"]) == (
        "out",
        "Hello 👋",
        "delivered",
        "UCS-2",
    )


async def test_a_messaging_service_accepts_first_and_sends_from_its_pool(
    simulator: Simulator, twilio_client: Client
) -> None:
    message = await twilio_client.messages.create_async(to=ADA, messaging_service_sid=SERVICE, body="hi")
    assert (message.status, message.from_, message.num_segments) == ("accepted", None, "0")
    await eventually(lambda: bubbles(simulator)[0]["status"] == "delivered")
    fetched = await twilio_client.messages(message.sid).fetch_async()
    assert (fetched.from_, fetched.messaging_service_sid, fetched.num_segments) == ("+14155550177", SERVICE, "1")


@pytest.mark.parametrize(
    ("mode", "status", "code"),
    [("off", "undelivered", 30003), ("filtered", "undelivered", 30007), ("failing", "failed", 30008)],
)
async def test_a_phone_that_takes_nothing_makes_the_message_fail(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway, mode: str, status: str, code: int
) -> None:
    await simulator.providers["twilio"].act("ada", "phone", {"mode": mode})
    message = await twilio_client.messages.create_async(to=ADA, from_=OURS, body="hi", status_callback=STATUS_URL)
    await eventually(lambda: bubbles(simulator)[0]["status"] == status)
    await eventually(lambda: gateway.heard and gateway.heard[-1].form.get("ErrorCode") == str(code))
    assert (await twilio_client.messages(message.sid).fetch_async()).error_code == code


@pytest.mark.parametrize(
    ("order", "statuses"),
    [
        ("reversed", ["delivered", "sent", "queued"]),
        ("twice", ["queued", "queued", "sent", "sent", "delivered", "delivered"]),
    ],
)
async def test_callbacks_can_come_in_any_order(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway, order: str, statuses: list[str]
) -> None:
    await simulator.providers["twilio"].act("ada", "callbacks", {"order": order})
    await twilio_client.messages.create_async(to=ADA, from_=OURS, body="hi", status_callback=STATUS_URL)
    await eventually(lambda: len(gateway.heard) == len(statuses))
    assert [heard.form["MessageStatus"] for heard in gateway.heard] == statuses


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


async def test_more_wrong_calls_are_refused(
    simulator: Simulator, twilio_client: Client, http: aiohttp.ClientSession
) -> None:
    async def code_of(call: Coroutine[Any, Any, object]) -> tuple[int, int]:
        with pytest.raises(TwilioRestException) as refused:
            await call
        return refused.value.status, cast(int, refused.value.code)

    sent = await twilio_client.messages.create_async(to=ADA, from_=OURS, body="x")
    assert await code_of(twilio_client.messages(sent.sid).update_async(body="")) == (400, 20009)
    assert await code_of(twilio_client.messages(sent.sid).delete_async()) == (400, 20009)
    assert await code_of(twilio_client.messages(sent.sid).update_async(status="canceled")) == (400, 30409)
    assert await code_of(twilio_client.messages(sent.sid).update_async(body="other")) == (400, 20001)
    assert await code_of(twilio_client.messages("SM" + "0" * 32).fetch_async()) == (404, 20404)
    assert await code_of(twilio_client.calls("CA" + "0" * 32).fetch_async()) == (404, 20404)
    [number, *_] = await twilio_client.incoming_phone_numbers.list_async()
    assert await code_of(number.update_async(sms_url="nowhere")) == (400, 21402)
    assert await code_of(number.update_async(sms_method="PUT")) == (400, 21403)
    urls = [f"https://files.example.com/{number}.png" for number in range(11)]
    assert await code_of(twilio_client.messages.create_async(to=ADA, from_=OURS, media_url=urls)) == (400, 21623)
    url = f"{simulator.twilio_url}/2010-04-01/Accounts/{TWILIO.account_sid}/Messages.json"
    for query, code in [
        ("PageSize=1001", 20007),
        ("PageSize=x", 20001),
        ("Page=2", 20001),
        ("PageToken=PA1", 20001),
        ("DateSent=yesterday", 20001),
        ("Sender=x", 20001),
        ("To=1&To=2", 20001),
    ]:
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
    simulator: Simulator,
    twilio_client: Client,
    http: aiohttp.ClientSession,
    kind: FaultKind,
    status: int,
    accepted: int,
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
    assert len(await twilio_client.messages.list_async()) == accepted
    await twilio_client.messages.create_async(to=ADA, from_=OURS, body="the next call is good")
    await eventually(lambda: len(simulator.wire.journal.calls(provider="twilio")) >= 3)
    [faulty] = [
        call for call in simulator.wire.journal.calls() if isinstance(call.answer, dict) and "fault" in call.answer
    ]
    assert faulty.status == status
