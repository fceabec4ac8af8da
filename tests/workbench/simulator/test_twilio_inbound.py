"""Texting the emulated Twilio: webhooks, retries, TwiML, STOP, and the control API."""

import time
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from twilio.base.exceptions import TwilioRestException
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from tests.eventually import eventually, never
from tests.workbench.simulator.conftest import PUBLIC_URL, TWILIO, FakeGateway
from tests.workbench.simulator.twilio_harness import (
    ADA,
    GRACE,
    HOOK,
    MARKS,
    OURS,
    answering,
    bubbles,
    debugger,
    person_of,
    say,
)
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.base import BadAction
from workbench.simulator.config import SimulatorConfig, SystemClock
from workbench.simulator.journal import Json
from workbench.simulator.twilio.webhooks import overrides_of

pytestmark = MARKS


async def test_a_text_reaches_the_webhook_as_twilio_sends_it(simulator: Simulator, gateway: FakeGateway) -> None:
    sent = await say(simulator, "Grüße & = + %20 👋")
    [heard] = gateway.heard
    assert heard.path == HOOK
    assert heard.headers["Content-Type"].startswith("application/x-www-form-urlencoded")
    assert heard.form["Body"] == "Grüße & = + %20 👋"
    assert (heard.form["From"], heard.form["To"], heard.form["NumMedia"]) == (ADA, OURS, "0")
    assert heard.form["MessageSid"] == heard.form["SmsSid"] == heard.form["SmsMessageSid"] == sent["sid"]
    assert heard.form["AccountSid"] == TWILIO.account_sid
    assert "OptOutType" not in heard.form
    validator = RequestValidator(TWILIO.auth_token)
    assert validator.validate(PUBLIC_URL + HOOK, heard.form, heard.headers["X-Twilio-Signature"])
    assert not validator.validate(PUBLIC_URL + HOOK, {**heard.form, "Body": "x"}, heard.headers["X-Twilio-Signature"])
    assert sent["webhook"] == "200"


async def test_a_duplicate_is_the_same_message_as_a_new_request(simulator: Simulator, gateway: FakeGateway) -> None:
    sent = await say(simulator, "once")
    await simulator.providers["twilio"].act("ada", "duplicate", {"sid": sent["sid"], "times": 3, "wait": True})
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
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway, fragment: str, status: int, attempts: int
) -> None:
    gateway.respond = answering(status)
    [number] = await twilio_client.incoming_phone_numbers.list_async(phone_number=OURS)
    await number.update_async(sms_url=PUBLIC_URL + HOOK + fragment)
    sent = await say(simulator, "hi")
    assert len(gateway.heard) == attempts == sent["attempts"]
    assert len({heard.headers["I-Twilio-Idempotency-Token"] for heard in gateway.heard}) == 1
    assert debugger(simulator) == [(11200, str(status))]


async def test_a_refused_connection_is_retried_once_and_a_slow_answer_is_not(
    simulator: Simulator, gateway: FakeGateway
) -> None:
    async def silent(_: web.Request) -> web.Response:
        await never()
        return web.Response()

    gateway.respond = silent
    begun = time.monotonic()
    sent = await say(simulator, "slow")
    assert (sent["webhook"], sent["attempts"]) == ("timeout", 1)
    assert time.monotonic() - begun > 1.4  # 15 s at a tenth of the patience; the gateway never answers
    simulator.wire.connect_gateway("http://127.0.0.1:1", PUBLIC_URL)
    sent = await say(simulator, "nobody there")
    assert (sent["webhook"], sent["attempts"]) == ("connect_failed", 2)


async def test_slow_answers_are_tried_again_until_the_total_time_is_over(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway
) -> None:
    async def silent(_: web.Request) -> web.Response:
        await never()
        return web.Response()

    gateway.respond = silent
    [number] = await twilio_client.incoming_phone_numbers.list_async(phone_number=OURS)
    await number.update_async(sms_url=PUBLIC_URL + HOOK + "#rt=2000&tt=5000&rc=5&rp=rt")
    sent = await say(simulator, "slow")
    assert sent["attempts"] == 3


def test_overrides_out_of_range_keep_their_defaults() -> None:
    read = overrides_of("https://x.example/a#ct=50&rt=15001&tt=9000&rc=5&rp=4xx,rt")
    assert (read.connect, read.read, read.total, read.retries) == (5.0, 15.0, 9.0, 5)
    assert sorted(read.policy) == ["4xx", "rt"]


async def test_the_fallback_is_called_when_the_webhook_failed(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway
) -> None:
    async def respond(request: web.Request) -> web.Response:
        return web.Response(status=500 if request.path == HOOK else 200)

    gateway.respond = respond
    [number] = await twilio_client.incoming_phone_numbers.list_async(phone_number=OURS)
    await number.update_async(sms_fallback_url=PUBLIC_URL + "/spare")
    sent = await say(simulator, "hi")
    assert sent["webhook"] == "200"
    [spare] = gateway.at("/spare")
    assert (spare.form["ErrorCode"], spare.form["Body"]) == ("11200", "hi")


@pytest.mark.parametrize(
    ("body", "kind", "texts"),
    [
        ("", "text/xml", []),
        ("<Response/>", "text/xml", []),
        (
            "<Response><Message>one</Message><Message><Body>two</Body></Message></Response>",
            "application/xml",
            ["one", "two"],
        ),
        ("ok", "text/plain", ["ok"]),
    ],
)
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
    sent = await say(simulator, "hi")
    assert sent["webhook"] == str(code)
    assert [entry[0] for entry in debugger(simulator)] == [code]


async def test_stop_blocks_answers_and_is_passed_on_and_start_undoes_it(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway
) -> None:
    await say(simulator, " stop ")
    assert (gateway.heard[0].form["Body"], gateway.heard[0].form["OptOutType"]) == (" stop ", "STOP")
    [_, reply] = bubbles(simulator)
    assert "unsubscribed" in reply["text"]
    assert person_of(simulator)["stopped"] == [OURS]
    with pytest.raises(TwilioRestException) as refused:
        await twilio_client.messages.create_async(to=ADA, from_=OURS, body="still there?")
    assert (refused.value.status, refused.value.code) == (400, 21610)
    await twilio_client.messages.create_async(to=ADA, from_="+14155550199", body="another sender")
    await twilio_client.messages.create_async(to=GRACE, from_=OURS, body="another person")
    gateway.respond = answering(200, "<Response><Message>no</Message></Response>")
    await say(simulator, "stop that please")
    assert "OptOutType" not in gateway.heard[-1].form
    assert (21610, "a reply to somebody who said STOP") in debugger(simulator)
    gateway.respond = None
    await say(simulator, "Start")
    assert gateway.heard[-1].form["OptOutType"] == "START"
    await twilio_client.messages.create_async(to=ADA, from_=OURS, body="welcome back")


async def test_an_account_may_answer_stop_itself(gateway: FakeGateway, simulator_config: SimulatorConfig) -> None:
    config = replace(simulator_config, gateway_url=gateway.url, twilio=replace(TWILIO, answers_stop=False))
    async with serve_simulator(config, SystemClock()) as simulator:
        await say(simulator, "STOP")
        assert len(bubbles(simulator)) == 1
        assert person_of(simulator)["stopped"] == []
        assert "OptOutType" not in gateway.heard[0].form


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
    await eventually(lambda: gateway.heard)
    await eventually(lambda: simulator.wire.journal.calls(about=sid))
    async with http.get(f"{simulator.url}/sim/state") as answer:
        [bubble] = (await answer.json())["twilio"]["people"]["grace"]["bubbles"]
    assert (bubble["id"], bubble["text"], bubble["segments"], bubble["price"]) == (sid, "hi", 1, "0.0083")
    await http.post(f"{simulator.url}/sim/reset")
    assert bubbles(simulator, "grace") == []
