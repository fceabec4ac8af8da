"""HALT ALL over every channel: all stops, each person is told once, and all goes on by the code."""

import re

from abilities.halts.sentences import SENTENCES
from core.turns.orchestrator import Orchestrator
from tests.contract.canaries import marked
from tests.contract.delivery_harness import DeliveryHarness, work
from tests.contract.email_harness import EmailHarness, also_by_mail, only_by_mail
from tests.core.builders import FakeModel, says


async def worked(delivery: DeliveryHarness) -> None:
    """Run what waits, and send what is owed."""
    await work(delivery.store, delivery.runner, Orchestrator(FakeModel([says("At your service")] * 9)))


def read(delivery: DeliveryHarness, person: str) -> list[str]:
    """Return our messages as a person reads them."""
    return [bubble.text.strip() for bubble in delivery.channel.bubbles(person)]


@also_by_mail
async def test_an_owner_stops_all_and_each_message_is_answered_once_afterwards(delivery: DeliveryHarness) -> None:
    channel = delivery.channel
    await channel.said(marked("hello"))
    await delivery.store.db.tenants.change({"role": "owner"})
    await channel.said(marked("hello"), "grace")
    await worked(delivery)
    assert len(read(delivery, "ada")) == len(read(delivery, "grace")) == 1

    await channel.said("HALT ALL")
    for text in ("are you there?", "hello?"):
        await channel.said(marked(text), "grace")
    await worked(delivery)
    found = re.search(r"LIFT (\d{6})", read(delivery, "ada")[-1])
    assert found is not None
    assert read(delivery, "ada")[1:] == [SENTENCES["halted"].format(code=found[1])]
    assert read(delivery, "grace")[1:] == [SENTENCES["told"]]

    await channel.said(f"lift {found[1]}")
    await worked(delivery)
    assert read(delivery, "ada")[2:] == [SENTENCES["lifted"]]
    assert read(delivery, "grace")[2:] == ["At your service"]


@also_by_mail
async def test_a_member_stops_nobody_and_is_told_what_they_can_do(delivery: DeliveryHarness) -> None:
    await delivery.channel.said("HALT ALL")
    await worked(delivery)
    [answer] = read(delivery, "ada")
    assert answer.startswith("Only whoever runs me can stop all work.")
    assert await delivery.store.db.halt_words.column("outcome") == ["refused"]
    assert await delivery.store.db.halts.count() == 0


@only_by_mail
async def test_promise_12_a_mail_that_does_not_prove_its_sender_stops_nobody(delivery: DeliveryHarness) -> None:
    harness = delivery.channel
    assert isinstance(harness, EmailHarness)
    await harness.said(marked("hello"))
    await delivery.store.db.tenants.change({"role": "owner"})
    await harness.send(harness.letter("HALT ALL", Authentication_Results="mx.example.org; none"))
    await harness.settled()
    assert await delivery.store.db.ignored_messages.column("reason") == ["unproven"]
    assert await delivery.store.db.halts.count() == 0
    await harness.send(harness.letter("HALT ALL"))
    await harness.settled()
    assert await delivery.store.db.halts.count() == 1
