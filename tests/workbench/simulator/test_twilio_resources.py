"""What the emulated account holds, and the published description that it follows."""

import base64
import inspect
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
import jsonschema
import pytest
from smsutil import split
from twilio.base.exceptions import TwilioRestException
from twilio.request_validator import RequestValidator
from twilio.rest import Client
from twilio.rest.messaging.v1.service import ServiceContext

from tests.eventually import eventually
from tests.workbench.simulator.conftest import PUBLIC_URL, SERVICE, TWILIO, FakeGateway
from tests.workbench.simulator.twilio_harness import (
    ADA,
    AUTH,
    GRACE,
    HOOK,
    MARKS,
    OURS,
    STATUS_URL,
    bubbles,
    say,
)
from workbench.simulator.app import Simulator
from workbench.simulator.journal import Json
from workbench.simulator.twilio import forms
from workbench.simulator.twilio.segments import count_segments
from workbench.simulator.twilio.services import UPDATE_SERVICE

pytestmark = MARKS


async def test_lists_are_filtered_and_paged_as_the_library_walks_them(
    simulator: Simulator, twilio_client: Client
) -> None:
    for number in range(7):
        await twilio_client.messages.create_async(to=ADA, from_=OURS, body=str(number))
    await twilio_client.messages.create_async(to=GRACE, from_=OURS, body="grace")
    await say(simulator, "in")
    await eventually(lambda: all(bubble["status"] in ("delivered", "received") for bubble in bubbles(simulator)))
    everything = await twilio_client.messages.list_async(page_size=3)
    assert [message.body for message in everything] == ["in", "grace", "6", "5", "4", "3", "2", "1", "0"]
    assert [message.body for message in await twilio_client.messages.list_async(to=OURS)] == ["in"]
    assert len(await twilio_client.messages.list_async(to=ADA, from_=OURS, page_size=2)) == 7
    assert len(await twilio_client.messages.list_async(to=ADA, limit=4, page_size=2)) == 4
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    assert len(await twilio_client.messages.list_async(date_sent_after=now - hour, date_sent_before=now + hour)) == 9
    assert await twilio_client.messages.list_async(date_sent_after=now + hour) == []
    assert await twilio_client.messages.list_async(date_sent_before=now - hour) == []
    first = await twilio_client.messages.page_async(page_size=2)
    second = await first.next_page_async()
    assert second is not None
    assert [message.body for message in second] == ["6", "5"]


async def test_a_finished_message_can_be_redacted_and_deleted(simulator: Simulator, twilio_client: Client) -> None:
    sent = await say(simulator, "a secret")
    message = twilio_client.messages(str(sent["sid"]))
    assert (await message.update_async(body="")).body == ""
    assert await message.delete_async()
    assert await twilio_client.messages.list_async() == []


async def test_a_numbers_webhook_is_set_and_used(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway
) -> None:
    [number] = await twilio_client.incoming_phone_numbers.list_async(phone_number=OURS)
    set_to = await number.update_async(sms_url=PUBLIC_URL + "/elsewhere?x=1#rc=2", sms_method="POST")
    assert set_to.sms_url == PUBLIC_URL + "/elsewhere?x=1#rc=2"
    await say(simulator, "hi")
    [heard] = gateway.heard
    assert heard.url == "/elsewhere?x=1"
    validator = RequestValidator(TWILIO.auth_token)
    signature = heard.headers["X-Twilio-Signature"]
    assert validator.validate(PUBLIC_URL + "/elsewhere?x=1", heard.form, signature)
    await number.update_async(sms_method="GET")
    await say(simulator, "hi again")
    got = gateway.heard[-1]
    assert (got.method, got.body) == ("GET", b"")
    assert validator.validate(PUBLIC_URL + got.url, {}, got.headers["X-Twilio-Signature"])
    assert (await twilio_client.balance.fetch_async()).currency == "USD"
    assert (await twilio_client.api.accounts(TWILIO.account_sid).fetch_async()).status == "active"


async def test_a_services_webhook_stands_over_its_numbers_own(
    simulator: Simulator, twilio_client: Client, gateway: FakeGateway
) -> None:
    service = await twilio_client.messaging.v1.services(SERVICE).fetch_async()
    assert (service.inbound_request_url, service.use_inbound_webhook_on_number) == (None, False)
    changed = await service.update_async(inbound_request_url=PUBLIC_URL + "/pool#rc=1", status_callback=STATUS_URL)
    assert changed.inbound_request_url == PUBLIC_URL + "/pool#rc=1"
    [sender] = await twilio_client.messaging.v1.services(SERVICE).phone_numbers.list_async()
    assert sender.phone_number == "+14155550177"
    await say(simulator, "hi", to="+14155550177")
    [heard] = gateway.heard
    assert (heard.path, heard.form["MessagingServiceSid"]) == ("/pool", SERVICE)
    await twilio_client.messages.create_async(to=ADA, messaging_service_sid=SERVICE, body="x")
    await eventually(lambda: len(gateway.at("/webhooks/sms/status")) == 3)
    await service.update_async(use_inbound_webhook_on_number=True)
    await say(simulator, "hi", to="+14155550177")
    assert gateway.at(HOOK)
    for call, code in [
        (service.update_async(inbound_request_url="x"), 21402),
        (service.update_async(inbound_method="PUT"), 21403),
        (twilio_client.messaging.v1.services("MG" + "d" * 32).fetch_async(), 20404),
    ]:
        with pytest.raises(TwilioRestException) as refused:
            await call
        assert refused.value.code == code


async def test_a_picture_sent_is_fetched_with_credentials_and_a_redirect(
    simulator: Simulator, gateway: FakeGateway, http: aiohttp.ClientSession, twilio_client: Client
) -> None:
    picture: Json = {"content_type": "image/png", "data": base64.b64encode(b"\x89PNG").decode()}
    sent = await say(simulator, "", media=[picture])
    form = gateway.heard[0].form
    assert (form["NumMedia"], form["MediaContentType0"], form["Body"]) == ("1", "image/png", "")
    assert str(sent["sid"]).startswith("MM")
    async with http.get(form["MediaUrl0"]) as answer:
        assert answer.status == 401
    async with http.get(form["MediaUrl0"], headers=AUTH, allow_redirects=False) as answer:
        assert answer.status == 307
        target = answer.headers["Location"]
    async with http.get(target) as answer:
        assert (await answer.read(), answer.content_type) == (b"\x89PNG", "image/png")
    [listed] = await twilio_client.messages(str(sent["sid"])).media.list_async()
    assert listed.content_type == "image/png"


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
        listed = {parameter["name"] for parameter in call["parameters"] if parameter["in"] == "query"}
    else:
        listed = set(call["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]["properties"])
    assert listed == names


def test_service_parameters_are_those_of_the_official_library() -> None:
    taken = inspect.signature(ServiceContext.update_async).parameters.keys() - {"self"}
    assert {"".join(word.capitalize() for word in name.split("_")) for name in taken} == UPDATE_SERVICE


async def test_answers_are_those_of_the_published_description(
    simulator: Simulator, twilio_client: Client, http: aiohttp.ClientSession
) -> None:
    schemas = _nullable(described()["components"])["schemas"]
    picture: Json = {"content_type": "image/png", "data": ""}
    sid = (await say(simulator, "", media=[picture]))["sid"]
    await twilio_client.messages.create_async(to=ADA, messaging_service_sid=SERVICE, body="x")
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
        for item in body[key] if key else [body]:
            assert set(item) == set(wanted["properties"])
            jsonschema.validate(item, {**wanted, "components": {"schemas": schemas}})


def _nullable(node: Any) -> Any:
    """Turn OpenAPI's nullable into JSON Schema's."""
    if isinstance(node, list):
        return [_nullable(item) for item in node]
    if not isinstance(node, dict):
        return node
    turned = {name: _nullable(value) for name, value in node.items()}
    if turned.pop("nullable", False) and isinstance(turned.get("type"), str):
        turned["type"] = [turned["type"], "null"]
    return turned
