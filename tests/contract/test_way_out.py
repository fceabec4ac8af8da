"""The contract of the way out: what a person reads of what we owe, and what becomes of it when that fails."""

import re
import socket
import time
from datetime import timedelta

import pytest

from core.errors import Ambiguous, CredentialsRejected, OptedOut, RateLimited, Unavailable, Unreachable
from core.messaging.capabilities import Billed, SegmentBudget
from core.messaging.channels import Part
from jobs.delivery.lost_answers import MAX_RESENT
from tests.contract.canaries import PEOPLE, marked
from tests.contract.channel_harnesses import HARNESSES, SlackHarness, SmsHarness, TelegramHarness
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import ANSWER_SECONDS, NOWHERE, PUBLIC_URL, ChannelHarness, exempt, reply
from tests.eventually import eventually
from workbench.simulator.faults import FaultKind

FAMILY = "👩‍👩‍👧‍👦"
ODD_TEXTS = {
    "right to left": "שלום עולם, مرحبا (123)",
    "families": f"{FAMILY} 🏳️‍🌈 👍🏽",
    "joiners": "نمی\u200cخواهم क्\u200dष",
    "combining": "ñ Z͑ͫa दे",
    "beyond the basic plane": "𝒳𐍈",
    "NUL and the like": "a\x00b\x07c",
    "angles": "1 < 2 & 3 > 2",
}


# What is read


async def test_a_long_text_is_read_whole_and_in_order(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    if isinstance(delivery.channel.sender, Billed):  # it would come in portions, which have tests of their own
        delivery.channel.sender.budget = SegmentBudget(message=1_000, person_day=10_000)
    words = [f"w{number:05d}" for number in range(4000)]
    text = "\n\n".join(" ".join(words[start : start + 50]) + f" {FAMILY}" for start in range(0, 4000, 50))
    queued = await delivery.enqueue(marked(text))
    await delivery.deliver()
    bubbles = delivery.channel.bubbles()
    assert len(bubbles) > 1
    assert re.findall(r"w\d{5}", "\n".join(bubble.text for bubble in bubbles)) == words
    assert sum(bubble.text.count(FAMILY) for bubble in bubbles) == 80, "a grapheme was cut"
    row = await delivery.row(queued)
    assert (row["state"], len(await delivery.outcomes(queued))) == ("sent", len(bubbles))


async def test_long_code_is_code_in_every_part(harness: ChannelHarness) -> None:
    lines = [f"line_{number:04d} = compute({number})  # {'x' * 30}" for number in range(400)]
    parts = harness.sender.render(reply("Before.\n\n```python\n" + "\n".join(lines) + "\n```\n\nAfter."))
    assert len(parts) > 1
    bubbles = await harness.read(parts)
    assert [line for bubble in bubbles for line in bubble.code.splitlines() if line.startswith("line_")] == lines
    assert [bubble.text.count("```") % 2 for bubble in bubbles] == [0] * len(bubbles)
    assert "Before." in bubbles[0].text
    assert "After." in bubbles[-1].text


@also_by_mail
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
async def test_odd_texts_are_read_as_they_were_written(harness: ChannelHarness, text: str) -> None:
    (bubble,) = await harness.read(harness.sender.render(reply(text)))
    assert bubble.text == re.sub(r"[\x00-\x08]", "", text)


@exempt(sms="a text has no formatting that could be refused")
async def test_promise_14_refused_formatting_loses_no_words(harness: ChannelHarness) -> None:
    words = marked("Every word of this < that & more")
    wrong = {
        "slack": {"blocks": [{"type": "no such block", "text": words}]},
        "telegram": {"entities": [{"type": "bold", "offset": 5000, "length": 4}]},
    }
    await harness.meet()
    receipt = await harness.sender.send(Part(words, wrong[harness.name]), harness.target())  # type: ignore[arg-type]
    assert receipt.degraded
    assert [bubble.text for bubble in harness.bubbles()] == [words]


# What fails


async def test_a_rate_limit_gives_the_providers_delay(harness: ChannelHarness) -> None:
    harness.misbehave(FaultKind.RATE_LIMIT, seconds=7)
    with pytest.raises(RateLimited) as limited:
        await harness.read(harness.sender.render(reply(marked("hello"))))
    assert limited.value.retry_after == timedelta(seconds=7)
    assert harness.bubbles() == []


async def test_delivery_never_comes_back_before_it_may(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    delivery.channel.misbehave(FaultKind.RATE_LIMIT, seconds=1)
    queued = await delivery.enqueue(marked("one"))
    await delivery.enqueue(marked("two"))
    begun = time.monotonic()

    async def is_sent() -> bool:
        await delivery.deliver()
        return str((await delivery.row(queued))["state"]) == "sent"

    await eventually(is_sent)
    assert time.monotonic() - begun >= 1.0
    await delivery.deliver()
    refused, *taken = delivery.channel.calls()
    assert min(call.at for call in taken) - refused.at >= 1.0
    assert [bubble.text for bubble in delivery.channel.bubbles()] == [marked("one"), marked("two")]


async def test_promise_8_who_is_gone_gets_nothing_more(delivery: DeliveryHarness) -> None:
    await delivery.meet("mortal")
    match delivery.channel:
        case SlackHarness():
            await delivery.channel.act("set", "mortal", disabled=True)
        case TelegramHarness():
            await delivery.channel.act("set", "mortal", deactivated=True)
        case _:
            assert PEOPLE[2].phone == "+15005550009"  # to this number Twilio refuses every text: 21614
    first = await delivery.enqueue(marked("hello"))
    await delivery.deliver()
    assert await delivery.outcomes(first) == ["rejected"]
    assert await delivery.identity_state() == "blocked"
    second = await delivery.enqueue(marked("hello again"))
    await delivery.deliver_later()
    assert [(await delivery.row(outbound_id))["state"] for outbound_id in (first, second)] == ["failed", "failed"]
    assert len(delivery.channel.calls()) == 1


@exempt(slack="nobody can block an app in Slack; a deactivated user is met when sending, as the case before shows")
async def test_promise_8_who_stops_us_gets_nothing_until_they_let_us_in_again(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    sms = delivery.channel.name == "sms"
    await (delivery.channel.act("say", text="STOP") if sms else delivery.channel.act("block"))
    await delivery.channel.settled()
    assert await delivery.identity_state() == ("stopped" if sms else "blocked")
    queued = await delivery.enqueue(marked("hello"))
    await delivery.deliver()
    assert (await delivery.row(queued))["state"] == "failed"
    await (delivery.channel.act("say", text="START") if sms else delivery.channel.act("unblock"))
    await delivery.channel.settled()
    assert await delivery.identity_state() == "active"
    assert delivery.channel.calls() == []
    again = await delivery.enqueue(marked("welcome back"))
    await delivery.deliver()
    assert (await delivery.row(again))["state"] == "sent"
    assert marked("welcome back") in [bubble.text for bubble in delivery.channel.bubbles()]


@exempt(slack="nobody can block an app in Slack")
async def test_promise_8_a_stop_that_never_reached_us_is_found_when_sending(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    if isinstance(delivery.channel, SmsHarness):
        delivery.channel.simulator.wire.connect_gateway(NOWHERE, PUBLIC_URL)
        await delivery.channel.act("say", text="STOP")
    else:
        await delivery.channel.act("set", held=True)
        await delivery.channel.act("block")
    for text in ("one", "two"):
        await delivery.enqueue(marked(text))
        await delivery.deliver_later()
    assert await delivery.identity_state() == ("stopped" if delivery.channel.name == "sms" else "blocked")
    assert len(delivery.channel.calls()) == 1
    assert await delivery.store.db.outbound.column("state") == ["failed", "failed"]


@exempt(telegram="bots cannot read what they sent: what is unknown is sent again, the next case")
@pytest.mark.parametrize("kind", [FaultKind.RESET_AFTER, FaultKind.SERVER_ERROR_AFTER, FaultKind.TIMEOUT_AFTER])
async def test_promise_7_a_lost_answer_is_found_and_nothing_is_doubled(
    delivery: DeliveryHarness, kind: FaultKind
) -> None:
    await delivery.meet()
    if delivery.channel.name == "sms":
        await delivery.channel.act("callbacks", order="none")  # they carry our id and would tell at once, the next case
    delivery.channel.misbehave(kind, seconds=ANSWER_SECONDS + 0.2)
    queued = await delivery.enqueue(marked("only once"))
    await delivery.deliver_hurried()
    assert (await delivery.row(queued))["state"] == "checking"
    await delivery.deliver_later()
    assert (await delivery.row(queued))["state"] == "sent"
    assert await delivery.outcomes(queued) == ["found"]
    await eventually(lambda: bool(delivery.channel.calls()))
    assert len(delivery.channel.calls()) == 1
    assert [bubble.text for bubble in delivery.channel.bubbles()] == [marked("only once")]


@exempt(slack="Slack calls nobody back about what was sent", telegram="Telegram calls nobody back either")
async def test_promise_7_a_callback_tells_of_a_lost_answer(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    delivery.channel.misbehave(FaultKind.RESET_AFTER)
    queued = await delivery.enqueue(marked("only once"))
    await delivery.deliver()

    async def is_sent() -> bool:
        return str((await delivery.row(queued))["state"]) == "sent"

    await eventually(is_sent, "the callback's word")
    assert len(delivery.channel.calls()) == 1
    assert delivery.channel.calls("twilio.messages.list") == []


@pytest.mark.parametrize("kind", [FaultKind.RESET_BEFORE, FaultKind.SERVER_ERROR])
async def test_promise_7_what_never_arrived_is_sent_again(delivery: DeliveryHarness, kind: FaultKind) -> None:
    await delivery.meet()
    delivery.channel.misbehave(kind)
    queued = await delivery.enqueue(marked("only once"))
    await delivery.deliver()
    assert (await delivery.row(queued))["state"] == "checking"
    await delivery.deliver_later()
    assert (await delivery.row(queued))["state"] == "sent"
    assert len(delivery.channel.calls()) == 2
    assert [bubble.text for bubble in delivery.channel.bubbles()] == [marked("only once")]


@exempt(
    sms="Twilio's list tells, so policy is never asked",
    slack="the conversation's history tells, so policy is never asked",
)
async def test_promise_7_an_unknown_part_is_sent_again_a_few_times_and_counted(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    delivery.channel.misbehave(FaultKind.RESET_AFTER, times=0)
    queued, copies = await delivery.enqueue(marked("a few times at most")), 1 + MAX_RESENT
    for _ in range(copies + 2):
        await delivery.deliver_later()
    row = await delivery.row(queued)
    assert (row["state"], row["ambiguities"]) == ("ambiguous", copies)
    assert len(delivery.channel.calls()) == copies
    assert [bubble.text for bubble in delivery.channel.bubbles()] == [marked("a few times at most")] * copies


@exempt(telegram="bots cannot read what they sent")
async def test_promise_7_while_the_lookup_fails_nothing_is_sent_again(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    if delivery.channel.name == "sms":
        await delivery.channel.act("callbacks", order="none")
    delivery.channel.misbehave(FaultKind.RESET_AFTER)
    lookup = {"sms": "twilio.messages.list", "slack": "slack.conversations.history"}[delivery.channel.name]
    delivery.channel.misbehave(FaultKind.SERVER_ERROR, times=2, endpoint=lookup)
    queued = await delivery.enqueue(marked("only once"))
    for _ in range(3):
        await delivery.deliver_later()
        assert (await delivery.row(queued))["state"] == "checking"
    await delivery.deliver_later()
    assert (await delivery.row(queued))["state"] == "sent"
    assert len(delivery.channel.calls()) == 1
    assert len(delivery.channel.bubbles()) == 1


async def test_every_failure_has_one_kind(harness: ChannelHarness) -> None:
    await harness.meet()
    (part,) = harness.sender.render(reply(marked("hello")))
    errors: dict[FaultKind, type[Exception]] = {}
    for kind in (FaultKind.RATE_LIMIT, FaultKind.SERVER_ERROR, FaultKind.RESET_BEFORE, FaultKind.RESET_AFTER):
        harness.misbehave(kind)
        with pytest.raises((RateLimited, Ambiguous)) as failure:
            await harness.sender.send(part, harness.target())
        errors[kind] = failure.type
    assert errors == {
        FaultKind.RATE_LIMIT: RateLimited,
        FaultKind.SERVER_ERROR: Ambiguous,
        FaultKind.RESET_BEFORE: Ambiguous,
        FaultKind.RESET_AFTER: Ambiguous,
    }


@pytest.mark.parametrize("why", ["refused", "no such host", "no TLS"])
async def test_a_provider_that_cannot_be_reached_has_taken_nothing(
    harness: ChannelHarness, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "no such host":
        monkeypatch.setattr(socket, "getaddrinfo", _no_such_host)
    plain = harness.simulator.url.removeprefix("http://")
    where = {"refused": NOWHERE, "no such host": "http://nowhere.invalid", "no TLS": f"https://{plain}"}[why]
    away = harness.make_sender(api_url=f"{where}/api/")
    (part,) = away.render(reply(marked("hello")))
    try:
        with pytest.raises(Unavailable):
            await away.send(part, harness.target())
    finally:
        await away.close()


def _no_such_host(*_: object, **__: object) -> list[object]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def test_show_working_never_raises(harness: ChannelHarness) -> None:
    await harness.said(marked("hello"))
    threads = (
        {"slack": (await harness.act("say", text=marked("root"))).get("ts", "")} if harness.name == "slack" else {}
    )
    address = harness.address()
    where = type(address)(address.channel, address.account, address.peer, threads.get(harness.name, ""))
    for kind in (FaultKind.RESET_BEFORE, FaultKind.SERVER_ERROR, FaultKind.RATE_LIMIT):
        harness.misbehave(kind, endpoint=f"{harness.provider}.*", times=2)
        await harness.sender.show_working(where)
    harness.simulator.wire.faults.clear()
    away = harness.make_sender(api_url=f"{NOWHERE}/api/")
    await away.show_working(where)
    await away.close()
    await harness.sender.show_working(where)


def test_what_each_error_means_is_said_in_one_tree() -> None:
    assert issubclass(OptedOut, Unreachable)
    assert not issubclass(CredentialsRejected, Unreachable)  # our own fault marks nobody
    assert set(HARNESSES) == {"sms", "slack", "telegram", "email"}
