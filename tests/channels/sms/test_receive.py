"""The webhooks as Twilio calls them: acknowledged after the commit, and only then."""

from urllib.parse import urlencode

import pytest
from twilio.request_validator import RequestValidator

from core.messaging.messages import InboundMessage, StatusUpdate
from tests.channels.memory_sink import MemorySink
from tests.channels.sms.builders import MESSAGE_SID, PUBLIC_URL, SID, TOKEN, Gateway, make_channel, webhook

STATUS = "/webhooks/sms/status"


async def test_promise_1_a_signed_text_is_accepted_and_answered_with_empty_twiml(gateway: Gateway) -> None:
    response = await gateway.post(webhook())
    assert response.status == 200
    assert response.content_type == "text/xml"
    assert (await response.text()).endswith("<Response/>")
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert inbound.text == "Lunch on Friday?"


async def test_a_request_signed_by_the_official_sdk_is_accepted(gateway: Gateway) -> None:
    fields = dict(webhook(Body="Grüße 👋 & more=less+1"))
    signed = RequestValidator(TOKEN).compute_signature(f"{PUBLIC_URL}/webhooks/sms", fields)
    response = await gateway.post(list(fields.items()), signed=signed)
    assert response.status == 200
    assert gateway.sink.calls == 1


async def test_promise_2_a_replay_is_the_inboxs_business_and_gets_200(gateway: Gateway) -> None:
    statuses = [(await gateway.post(webhook())).status for _ in range(3)]
    assert statuses == [200, 200, 200]
    assert gateway.sink.calls == 3
    assert len(gateway.sink.accepted) == 1


async def test_promise_1_without_the_store_the_answer_is_503(gateway: Gateway) -> None:
    gateway.sink.away = True
    assert (await gateway.post(webhook())).status == 503
    gateway.sink.away = False
    assert (await gateway.post(webhook())).status == 200


async def test_a_status_callback_reaches_the_sink_with_our_ref(gateway: Gateway) -> None:
    form = [("AccountSid", SID), ("MessageSid", MESSAGE_SID), ("MessageStatus", "delivered")]
    response = await gateway.post(form, path=f"{STATUS}?ref=part_01")
    assert response.status == 200
    (update,) = gateway.sink.accepted
    assert isinstance(update, StatusUpdate)
    assert update.ref == "part_01"


async def test_a_status_of_no_use_is_acknowledged_and_left(gateway: Gateway) -> None:
    form = [("AccountSid", SID), ("MessageSid", MESSAGE_SID), ("MessageStatus", "received")]
    assert (await gateway.post(form, path=STATUS)).status == 200
    assert gateway.sink.calls == 0


async def test_the_signature_covers_the_public_url_for_any_host_header(gateway: Gateway) -> None:
    body = urlencode(webhook()).encode()
    signed = RequestValidator(TOKEN).compute_signature(f"{PUBLIC_URL}/webhooks/sms", dict(webhook()))
    headers = {"X-Twilio-Signature": signed, "Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    assert (await gateway.send(body, headers=headers)).status == 200


async def test_promise_14_an_unforeseen_error_is_500_without_internals(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: object) -> object:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(gateway.sink, "accept", broken)
    response = await gateway.post(webhook())
    assert response.status == 500
    assert "secret" not in await response.text()


async def test_the_routes_are_the_fixed_ones() -> None:
    routes = {(route.method, route.path) for route in make_channel(MemorySink()).routes()}
    assert routes == {("POST", "/webhooks/sms"), ("POST", STATUS)}


async def test_twilios_body_decoding_survives_plus_and_percent(gateway: Gateway) -> None:
    await gateway.post(webhook(Body="1+1=2 100% & ü"))
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert inbound.text == "1+1=2 100% & ü"
