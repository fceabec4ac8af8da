"""Many mails at once: strangers cost their headers, and a sender of slow mails holds up no other."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from channels.email import poll, receive
from channels.email.poll import BEGINNING, MailPoller
from core.http.peer import PERSON
from providers.email.client import OwnMailbox
from providers.email.messages import read_message, read_part_headers
from providers.email.types import MailMessage, StoredMail
from providers.email.wire import PART_HEADER
from tests.contract.canaries import marked
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.email_harness import EmailHarness, bounce, only_by_mail
from tests.contract.harness import ChannelHarness
from tests.eventually import eventually
from tests.patience import PATIENCE

pytestmark = only_by_mail


def post(harness: ChannelHarness) -> EmailHarness:
    assert isinstance(harness, EmailHarness)
    return harness


async def test_promise_12_a_flood_of_strangers_costs_their_headers(
    delivery: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, store = post(delivery.channel), delivery.store
    read: list[int] = []
    take = MailPoller._take_one

    async def counted(self: MailPoller, mailbox: OwnMailbox, stored: StoredMail) -> None:
        read.append(len(stored.data))
        await take(self, mailbox, stored)

    monkeypatch.setattr(MailPoller, "_take_one", counted)
    monkeypatch.setattr(OwnMailbox, "whole", None)  # no body is asked for
    text = marked("buy now ") * 10_000
    for number in range(120):  # more than twice what is read at once
        proof = "mx.example.org; spf=pass smtp.mailfrom=example.org"
        mail = harness.letter(text, Authentication_Results=proof, Message_ID=f"<{number}@example.org>")
        harness.arrive(mail.as_bytes())
    await harness.settled()
    assert (len(read), max(read)) == (120, BEGINNING)
    assert await store.column("select distinct reason from ignored_messages") == ["unproven"]
    for table in ("inbound", "outbound", "tenants"):
        assert await store.one(f"select count(*) from {table}") == 0  # noqa: S608
    kept = str(await store.everything())
    assert "buy now" not in kept


async def test_promise_12_a_sender_of_slow_mails_holds_up_no_other(
    delivery: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, store, released = post(delivery.channel), delivery.store, asyncio.Event()
    shares, reading, most = set[str](), 0, 0

    async def read_slowly(raw: bytes) -> MailMessage:
        nonlocal reading, most
        if b"slow" in raw:
            shares.add(PERSON.get())
            reading += 1
            most = max(most, reading)
            try:
                await released.wait()
            finally:
                reading -= 1
        return await read_message(raw)

    monkeypatch.setattr(receive, "read_message", read_slowly)
    await delivery.meet()
    for number in range(20):
        await harness.send(harness.letter(marked(f"slow {number}"), "grace", Message_ID=f"<{number}@example.org>"))
    await harness.say(marked("quick"))
    quick = [marked("hello"), marked("quick")]

    async def is_quick() -> bool:
        return sorted(map(str, await store.db.inbound.column("text"))) == quick

    await eventually(is_quick, "the other person's mail")
    # Read again after a restart, which finds the position before the first mail of all.
    await harness.channel.stop()
    harness.channel = harness.make_channel()
    await harness.channel.start()
    calls = harness.sink.calls
    await eventually(lambda: harness.sink.calls > calls, "the quick mail once more")
    assert await is_quick()
    assert await store.one("select poll_offset & 4294967295 from channel_state where channel = 'email'") == 1
    released.set()
    await harness.settled()
    slow = [marked(f"slow {number}") for number in range(20)]
    assert [message.text for message in harness.sink.messages if "slow" in message.text] == slow
    assert sorted(map(str, await store.db.inbound.column("text"))) == sorted([*quick, *slow])
    assert (shares, most) == ({harness.mail.address("grace")}, 1)


async def test_promise_8_a_bounce_counts_before_a_later_mail(
    delivery: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, order = post(delivery.channel), list[str]()

    async def read_report(raw: bytes, names: Sequence[str]) -> Sequence[Mapping[str, Sequence[str]]]:
        found = await read_part_headers(raw, names)
        order.append("report")
        return found

    async def read_mail(raw: bytes) -> MailMessage:
        order.append("mail")
        return await read_message(raw)

    await delivery.meet()
    await delivery.enqueue(marked("hello"))
    await delivery.deliver()
    (sent,) = harness.got()
    await harness.channel.stop()
    harness.arrive(bounce(str(sent["Message-ID"]), str(sent[PART_HEADER]), harness.mail.address("ada")))
    await harness.say(marked("I am back"))
    monkeypatch.setattr(poll, "REPORT_PATIENCE", PATIENCE)
    monkeypatch.setattr(receive, "read_part_headers", read_report)
    monkeypatch.setattr(receive, "read_message", read_mail)
    harness.channel = harness.make_channel()
    await harness.channel.start()
    await harness.settled()
    assert order == ["report", "mail"]
    assert await delivery.identity_state() == "active"
