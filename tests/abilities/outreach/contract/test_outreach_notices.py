"""What a person is told of their message to somebody that did not arrive: each once, with the reason."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from core.messaging.capabilities import SegmentBudget
from core.messaging.channels import Part, Receipt, Target
from notify.sms.send import SmsNotification
from operations.paths.trace import trace
from tests.abilities.outreach.contract.test_outreach import LATE, know, write
from tests.abilities.outreach.writing import Writing, open_writing
from tests.contract.harness import NOWHERE, PUBLIC_URL, exempt
from workbench.simulator.faults import FaultKind


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Writing]:
    """Yield Ada's assistant, which knows Grace."""
    async with open_writing(channel, database_url) as system:
        await know(system, "Grace Hopper", "grace")
        yield system


async def told(system: Writing) -> list[str]:
    """Return what Ada is told of her messages to Grace, without the answers of the assistant."""
    await system.delivery.deliver_later()
    await system.work()
    bubbles = [bubble.text.replace("\\", "") for bubble in system.delivery.channel.bubbles()]
    return [text for text in bubbles if text.startswith(("My message to", "Whether my message", "Grace Hopper wants"))]


async def lines(system: Writing) -> list[tuple[object, object]]:
    """Return what `trace` shows of the message to Grace, from its turn on."""
    store = system.delivery.store
    turn = await store.db.outbound.one("turn_id", kind="outreach")
    found = await trace(store.database, str(turn))
    return [(line["what"], line.get("kind") or line.get("state") or line.get("outcome")) for line in found]


@exempt(slack="Slack tells nothing of a delivery", telegram="Telegram tells nothing of a delivery")
async def test_a_text_that_the_phone_never_got_is_told(system: Writing) -> None:
    await system.delivery.channel.act("phone", "grace", mode="off")
    await write(system, "Grace")
    await system.decide("Approve")
    await system.delivery.channel.settled()
    notice = "My message to Grace Hopper by text message did not arrive."
    assert await told(system) == [notice]
    assert await told(system) == [notice], "once"
    assert ("queued", "outreach") in await lines(system)


@exempt(slack="Slack tells nothing of a delivery", telegram="Telegram tells nothing of a delivery")
async def test_a_receipt_that_comes_before_the_answer_is_told_as_well(
    system: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = system.delivery.channel
    send = SmsNotification.send

    async def answered_late(self: SmsNotification, part: Part, to: Target) -> Receipt:
        receipt = await send(self, part, to)
        await channel.settled()
        return receipt

    await channel.act("phone", "grace", mode="off")
    await write(system, "Grace")
    monkeypatch.setattr(SmsNotification, "send", answered_late)
    await system.decide("Approve")
    assert await told(system) == ["My message to Grace Hopper by text message did not arrive."]


@exempt(slack="has no prices", telegram="has no prices")
async def test_a_text_over_the_days_budget_is_told_and_not_sent(system: Writing) -> None:
    await write(system, "Grace", "x" * 800)
    used = int(str(await system.delivery.store.one("select sum(segments) from segment_days")))
    sender = cast(SmsNotification, system.delivery.channel.sender)
    sender.budget = SegmentBudget(person_day=used + 4)  # enough for what Ada is told
    await system.decide("Approve")
    assert system.read() == []
    assert await told(system) == [
        "My message to Grace Hopper by text message was not sent: I have sent as many texts as I may today."
    ]


@exempt(slack="nobody can block an app in Slack", telegram="a block reaches us at once, as the STOP of an answer does")
async def test_promise_8_a_stop_that_only_the_carrier_knows_is_told(system: Writing) -> None:
    channel = system.delivery.channel
    await write(system, "Grace")
    channel.simulator.wire.connect_gateway(NOWHERE, PUBLIC_URL)
    await channel.act("say", "grace", text="STOP")
    await channel.settled()
    channel.simulator.wire.connect_gateway(channel.gateway, PUBLIC_URL)
    await system.decide("Approve")
    assert LATE not in str(system.read())
    [notice] = await told(system)
    assert notice.startswith("My message to Grace Hopper")
    assert "asked for no more messages" in notice
    sent = len(channel.calls())
    await write(system, "Grace", "Hello?")
    assert "wants no messages from me" in system.model.told()[-1]
    assert len(channel.calls()) == sent + 1, "only what Ada is told"


@exempt(sms="Twilio's list tells", slack="the conversation's history tells")
async def test_promise_7_an_unknown_outcome_is_told_and_sent_no_more(system: Writing) -> None:
    await write(system, "Grace")
    system.delivery.channel.misbehave(FaultKind.RESET_AFTER, times=0)
    await system.decide("Approve")
    system.delivery.channel.simulator.wire.faults.clear()
    for _ in range(3):
        notices = await told(system)
    assert notices == ["Whether my message to Grace Hopper on Telegram arrived is not known."]
    assert [LATE in text for text in system.read()] == [True], "what was approved once is sent once"
