"""The channel against Twilio as emulated: webhooks as it sends them, its list, its settings."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from channels.sms.receive import SmsChannel
from core.errors import ConfigError, StoreUnavailable, Unavailable
from core.messaging.messages import IgnoredMessage, IgnoreReason, InboundMessage, ReachabilityChange
from tests.channels.memory_sink import MemorySink
from tests.channels.sms.builders import serve_channel
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock, TwilioConfig
from workbench.simulator.faults import FaultKind, Rule

SERVICE = "MG" + "e" * 32
POOLED, TOLL_FREE = "+14155550100", "+18885550123"
TWILIO = TwilioConfig(services=((SERVICE, ("+14155550100",)),))
PUBLIC_URL = "https://valet.example.com"
HOUR_AGO = timedelta(hours=1)
ADA = "+14155550101"
PIXEL = {"content_type": "image/png", "data": "aGVsbG8="}


def make_channel(api_url: str, sink: MemorySink, **changes: str) -> SmsChannel:
    values: dict[str, Any] = {
        "account_sid": TWILIO.account_sid,
        "auth_token": TWILIO.auth_token,
        "sender": TWILIO.number,
        "public_url": PUBLIC_URL,
        "api_url": api_url,
        **changes,
    }
    return SmsChannel(**values, sink=sink)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url=PUBLIC_URL, twilio=TWILIO, pace=0.01)
    async with serve_simulator(config, SystemClock()) as served:
        yield served


@pytest.fixture
def sink() -> MemorySink:
    return MemorySink()


@pytest.fixture
async def channel(simulator: Simulator, sink: MemorySink) -> AsyncIterator[SmsChannel]:
    made = make_channel(simulator.twilio_url, sink)
    await made.start()
    yield made
    await made.stop()


async def say(simulator: Simulator, text: str, **more: object) -> object:
    arguments = {"text": text, "wait": True, **more}
    return await simulator.providers["twilio"].act("ada", "say", arguments)  # type: ignore[arg-type]


async def test_promise_1_what_the_emulated_twilio_signs_and_sends_is_taken_in(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    async with serve_channel(channel, sink) as gateway:
        simulator.wire.connect_gateway(f"http://127.0.0.1:{gateway.port}", PUBLIC_URL)
        for text in ("Lunch?", "Grüße 👋 & more=less+1", "HELP", "STOP"):
            await say(simulator, text)
        await say(simulator, "", media=[PIXEL])
    first, second, third, fourth, fifth = sink.accepted
    assert isinstance(first, InboundMessage)
    assert (first.text, first.sender, first.address.account) == ("Lunch?", ADA, TWILIO.number)
    assert isinstance(second, InboundMessage)
    assert second.text == "Grüße 👋 & more=less+1"
    assert isinstance(third, IgnoredMessage)
    assert third.reason is IgnoreReason.CARRIER
    assert isinstance(fourth, ReachabilityChange)
    assert isinstance(fifth, InboundMessage)
    assert fifth.media[0].content_type == "image/png"


async def test_promise_2_a_text_that_twilio_sends_again_is_a_duplicate(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    async with serve_channel(channel, sink) as gateway:
        simulator.wire.connect_gateway(f"http://127.0.0.1:{gateway.port}", PUBLIC_URL)
        sent = await say(simulator, "once")
        again = {"sid": sent["sid"], "times": 3, "wait": True}  # type: ignore[index]
        await simulator.providers["twilio"].act("ada", "duplicate", again)
    assert sink.calls == 4
    assert len(sink.accepted) == 1


async def test_promise_3_what_was_missed_comes_in_by_the_list_in_order(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    texts = [f"text {number}" for number in range(7)]
    for text in texts:
        await say(simulator, text)
    await say(simulator, "", media=[PIXEL, PIXEL])
    assert await channel.catch_up(datetime.now(UTC) - HOUR_AGO) == 8
    messages = [inbound for inbound in sink.accepted if isinstance(inbound, InboundMessage)]
    assert [message.text for message in messages] == [*texts, ""]
    assert len(messages[-1].media) == 2
    assert messages[-1].media[0].url.startswith(f"{simulator.twilio_url}/2010-04-01/Accounts/")
    assert not messages[-1].media[0].url.endswith(".json")
    assert messages[0].sent_at is not None


async def test_promise_2_the_sweep_and_the_webhook_share_their_keys(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    await say(simulator, "missed")
    async with serve_channel(channel, sink) as gateway:
        simulator.wire.connect_gateway(f"http://127.0.0.1:{gateway.port}", PUBLIC_URL)
        await say(simulator, "seen")
        assert await channel.catch_up(datetime.now(UTC) - HOUR_AGO) == 1
        assert await channel.catch_up(datetime.now(UTC) - HOUR_AGO) == 0
    assert {getattr(inbound, "text", "") for inbound in sink.accepted} == {"missed", "seen"}


async def test_promise_3_several_pages_are_read(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.sms.catchup._PAGE_SIZE", 2)
    for number in range(5):
        await say(simulator, f"{number}")
    assert await channel.catch_up(datetime.now(UTC) - HOUR_AGO) == 5
    assert [getattr(inbound, "text", "") for inbound in sink.accepted] == list("01234")


async def test_the_sweep_leaves_out_what_is_older(simulator: Simulator, channel: SmsChannel, sink: MemorySink) -> None:
    await say(simulator, "old")
    assert await channel.catch_up(datetime.now(UTC) + HOUR_AGO) == 0
    assert sink.accepted == []


async def test_promise_1_a_sweep_that_cannot_be_kept_says_so(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    await say(simulator, "hi")
    sink.away = True
    with pytest.raises(StoreUnavailable):
        await channel.catch_up(datetime.now(UTC) - HOUR_AGO)


async def test_a_swept_text_that_breaks_us_is_recorded_and_those_after_it_come(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    for text in ("poison", "after it"):
        await say(simulator, text)
    sink.breaks_on = "poison"
    await channel.catch_up(datetime.now(UTC) - HOUR_AGO)
    broken, after = sink.accepted
    assert isinstance(broken, IgnoredMessage)
    assert broken.reason is IgnoreReason.BROKEN
    assert getattr(after, "text", "") == "after it"


async def test_no_swept_text_is_left_out_for_an_error_of_the_store(
    simulator: Simulator, channel: SmsChannel, sink: MemorySink
) -> None:
    await say(simulator, "poison")
    sink.breaks_on, sink.breaks_with = "poison", asyncpg.UndefinedFunctionError("a migration is missing")
    with pytest.raises(asyncpg.UndefinedFunctionError):
        await channel.catch_up(datetime.now(UTC) - HOUR_AGO)
    assert sink.accepted == []


@pytest.mark.parametrize("kind", [FaultKind.SERVER_ERROR, FaultKind.RATE_LIMIT])
async def test_a_sweep_that_twilio_refuses_is_unavailable(
    simulator: Simulator, channel: SmsChannel, kind: FaultKind
) -> None:
    simulator.wire.faults.add(Rule("twilio.messages.list", kind))
    with pytest.raises(Unavailable):
        await channel.catch_up(datetime.now(UTC) - HOUR_AGO)


async def test_a_stop_that_was_missed_still_counts(simulator: Simulator, channel: SmsChannel, sink: MemorySink) -> None:
    await say(simulator, "STOP")
    await channel.catch_up(datetime.now(UTC) - HOUR_AGO)
    (inbound,) = sink.accepted
    assert isinstance(inbound, ReachabilityChange)
    assert not isinstance(inbound, IgnoredMessage)


async def test_setup_points_the_number_at_us_with_retries_and_is_idempotent(channel: SmsChannel) -> None:
    changes = {change.what: change for change in await channel.setup()}
    assert changes["SmsUrl"].after == f"{PUBLIC_URL}/webhooks/sms#ct=1500&rt=2000&rc=5&rp=ct,rt,5xx"
    assert changes["SmsUrl"].before != changes["SmsUrl"].after
    assert await channel.setup() == ()
    assert all(check.ok for check in await channel.check())


async def test_setup_of_a_number_that_is_not_ours_is_one_clear_sentence(simulator: Simulator) -> None:
    other = make_channel(simulator.twilio_url, MemorySink(), sender="+14155559999")
    with pytest.raises(ConfigError, match="TWILIO_FROM is not a number of this Twilio account"):
        await other.setup()
    checks = {check.what: check for check in await other.check()}
    assert not checks["SMS sender"].ok
    assert "TWILIO_FROM" in checks["SMS sender"].fix
    await other.stop()


async def test_doctor_explains_wrong_credentials_and_an_unreachable_provider(simulator: Simulator) -> None:
    for api_url, token in ((simulator.twilio_url, "0" * 32), ("http://127.0.0.1:9", TWILIO.auth_token)):
        other = make_channel(api_url, MemorySink(), auth_token=token)
        (check,) = await other.check()
        assert not check.ok
        assert "TWILIO_AUTH_TOKEN" in check.fix
        assert token not in check.detail
        with pytest.raises(ConfigError):
            await other.setup()
        await other.stop()


async def test_doctor_reports_a_misdirected_webhook_and_missing_registration(
    simulator: Simulator, channel: SmsChannel
) -> None:
    await channel.setup()
    elsewhere = make_channel(simulator.twilio_url, MemorySink(), public_url="https://other.example")
    checks = {check.what: check for check in await elsewhere.check()}
    assert not checks["SMS webhook"].ok
    assert "PUBLIC_URL" in checks["SMS webhook"].fix
    assert "10DLC" in checks["SMS registration"].detail
    await elsewhere.stop()


@pytest.fixture
async def service(simulator: Simulator, sink: MemorySink) -> AsyncIterator[SmsChannel]:
    made = make_channel(simulator.twilio_url, sink, sender=SERVICE)
    yield made
    await made.stop()


async def test_setup_of_a_messaging_service_sets_its_urls_and_is_idempotent(service: SmsChannel) -> None:
    changes = {change.what: change for change in await service.setup()}
    assert changes["InboundRequestUrl"].after.startswith(f"{PUBLIC_URL}/webhooks/sms#ct=")
    assert changes["StatusCallback"].after == f"{PUBLIC_URL}/webhooks/sms/status"
    assert await service.setup() == ()
    assert all(check.ok for check in await service.check())


async def test_promise_3_catch_up_finds_texts_to_any_number_of_a_service_once(
    simulator: Simulator, service: SmsChannel, sink: MemorySink
) -> None:
    await service.setup()
    await say(simulator, "missed")
    assert await service.catch_up(datetime.now(UTC) - HOUR_AGO) == 1
    async with serve_channel(service, sink) as gateway:
        simulator.wire.connect_gateway(f"http://127.0.0.1:{gateway.port}", PUBLIC_URL)
        await say(simulator, "seen")
        assert await service.catch_up(datetime.now(UTC) - HOUR_AGO) == 0
    messages = [inbound for inbound in sink.accepted if isinstance(inbound, InboundMessage)]
    assert [message.text for message in messages] == ["missed", "seen"]
    assert {message.address.account for message in messages} == {SERVICE}


async def test_a_service_that_does_not_exist_is_told_to_the_operator(simulator: Simulator) -> None:
    other = make_channel(simulator.twilio_url, MemorySink(), sender="MG" + "0" * 32)
    with pytest.raises(ConfigError):
        await other.setup()
    assert not {check.what: check for check in await other.check()}["SMS sender"].ok
    await other.stop()


async def test_doctor_tells_what_twilios_debugger_says_of_our_webhook(
    simulator: Simulator, channel: SmsChannel
) -> None:
    await channel.setup()
    [quiet] = [check for check in await channel.check() if check.what == "SMS webhook's calls"]
    assert (quiet.ok, quiet.detail) == (True, "Twilio reports none that failed in 24 hours")
    await say(simulator, "is anybody there?")  # nobody is
    [told] = [check for check in await channel.check() if check.what == "SMS webhook's calls"]
    assert not told.ok
    assert re.fullmatch(r"1 failed in 24 hours by Twilio's debugger, the last at .* UTC \(errors 11200\)", told.detail)
    assert told.fix.startswith("see whether `web` runs")


@pytest.mark.parametrize(
    ("sender", "state", "ok", "told"),
    [
        (SERVICE, {}, True, "the service has an A2P 10DLC campaign"),
        (SERVICE, {"campaign": ""}, True, "the service has no A2P 10DLC campaign"),
        (SERVICE, {"campaign": "IN_PROGRESS"}, True, "not approved yet (in_progress)"),
        (SERVICE, {"campaign": "FAILED"}, False, "is failed: texts to the US are blocked"),
        (POOLED, {}, True, f"the number's service {SERVICE} has an A2P 10DLC campaign"),
        (POOLED, {"campaign": "FAILED"}, False, f"the A2P 10DLC campaign of the number's service {SERVICE} is failed"),
        ("+14155550199", {}, True, "the number is in no Messaging Service, so it has no A2P 10DLC campaign"),
        (TOLL_FREE, {}, True, "the toll-free number is not verified"),
        (TOLL_FREE, {"verification": "TWILIO_APPROVED"}, True, "the toll-free number is verified"),
        (TOLL_FREE, {"verification": "IN_REVIEW"}, True, "not verified yet (in_review)"),
        (TOLL_FREE, {"verification": "TWILIO_REJECTED"}, False, "verification was refused"),
        ("+4915112345678", {}, True, "the number is in no country of +1"),
    ],
)
async def test_doctor_tells_the_registration_of_each_kind_of_sender(
    sink: MemorySink, sender: str, state: dict[str, str], ok: bool, told: str
) -> None:
    twilio = replace(TWILIO, numbers=("+14155550199", TOLL_FREE, "+4915112345678"), **state)  # type: ignore[arg-type]
    config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url=PUBLIC_URL, twilio=twilio)
    async with serve_simulator(config, SystemClock()) as served:
        channel = make_channel(served.twilio_url, sink, sender=sender)
        [check] = [check for check in await channel.check() if check.what == "SMS registration"]
        await channel.stop()
    assert check.ok is ok
    assert told in check.detail
    assert bool(check.fix) is (not ok or " no A2P" in told or told.endswith("is not verified"))


async def test_doctor_tells_what_holds_where_twilio_tells_nothing(simulator: Simulator, channel: SmsChannel) -> None:
    simulator.wire.faults.add(Rule("twilio.services.list", FaultKind.SERVER_ERROR, times=9))
    [check] = [check for check in await channel.check() if check.what == "SMS registration"]
    assert check.ok
    assert check.detail.startswith("not told (")
    assert "30034" in check.detail
