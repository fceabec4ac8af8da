"""The contract of the way in: proof, replay, acknowledgement, and who gets no answer."""

import asyncio
import hashlib
import hmac
import re
import time

import pytest
from multidict import CIMultiDict

from core.language.unseen import without_unseen
from core.messaging.chat_reader import chat_words
from core.messaging.inbound import Amendment
from core.messaging.messages import Command, IgnoredMessage, IgnoreReason, InboundMessage
from tests.contract.canaries import OTHER_SECRET, marked
from tests.contract.channel_harnesses import SlackHarness, SmsHarness, TelegramHarness
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.email_harness import EmailHarness, also_by_mail
from tests.contract.harness import ChannelHarness, Request, exempt, reply
from tests.eventually import eventually

ODD_TEXTS = {
    "right to left": "שלום עולם, مرحبا (123)",
    "zero width": "a\u200bb\u200cc\u2060d",
    "families": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽",
    "combining": "e\u0301 ñ Z͑ͫa",
    "beyond the basic plane": "𝒳𐍈",
    "mark-up": "<b>1 < 2 && 3 > 2</b> &lt; *x* _y_ `z`",
    "lines": "one\n\ntwo\n  three",
}


# Forgery


async def test_promise_12_a_forged_request_is_refused_and_reaches_nothing(harness: ChannelHarness) -> None:
    genuine = await harness.genuine()
    calls = harness.sink.calls
    forged = {
        "unsigned": genuine.without(harness.proof),
        "empty proof": genuine.with_headers(dict.fromkeys(harness.proof, "")),
        "another secret": harness.signed(genuine, OTHER_SECRET),
        "proof sent twice": genuine.twice(harness.proof[-1]),
        "proof not ASCII": genuine.with_headers({harness.proof[-1]: "é"}),
    }
    statuses = {name: await harness.post(request) for name, request in forged.items()}
    assert {name: status for name, status in statuses.items() if not 400 <= status < 500} == {}
    assert harness.sink.calls == calls


@exempt(telegram="Telegram signs no bodies: its secret is all the proof there is, so TLS alone guards the body")
async def test_promise_12_a_changed_body_is_refused_and_reaches_nothing(harness: ChannelHarness) -> None:
    genuine = await harness.genuine()
    calls = harness.sink.calls
    changed = Request(genuine.path, genuine.headers, genuine.body.replace(b"Lunch", b"Munch"))
    assert changed.body != genuine.body
    assert await harness.post(changed) == 403
    assert harness.sink.calls == calls
    assert await harness.post(harness.signed(changed)) == 200  # the proof was all that was missing


@exempt(
    sms="Twilio's signature has no time in it: a replay is known by its MessageSid",
    telegram="Telegram's secret has no time in it: a replay is known by its update_id",
)
async def test_promise_12_an_old_signature_is_refused(harness: ChannelHarness) -> None:
    assert isinstance(harness, SlackHarness)
    genuine, calls = await harness.genuine(), harness.sink.calls
    for age in (-310, 310):
        assert await harness.post(harness.signed(genuine, at=time.time() + age)) == 403
    assert harness.sink.calls == calls


async def test_promise_12_proofs_are_compared_in_constant_time(
    harness: ChannelHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = await harness.genuine()
    compared: list[str] = []
    compare = hmac.compare_digest

    def spy(a: str | bytes, b: str | bytes) -> bool:
        compared.extend(value if isinstance(value, str) else value.decode() for value in (a, b))
        return compare(a, b)  # type: ignore[arg-type]

    monkeypatch.setattr(hmac, "compare_digest", spy)
    await harness.post(genuine)
    assert genuine.headers[harness.proof[-1]] in compared


# Replay


async def test_promise_2_replays_add_nothing(delivery: DeliveryHarness) -> None:
    genuine = await delivery.channel.genuine()
    assert await delivery.store.db.inbound.count() == 1
    for _ in range(2):
        await delivery.channel.redeliver()
    statuses = await asyncio.gather(*(delivery.channel.post(genuine) for _ in range(5)))
    assert {status // 100 for status in statuses} == {2}
    assert delivery.channel.sink.calls >= 8
    assert await delivery.store.db.inbound.count() == 1


async def test_promise_2_first_sights_that_meet_become_one(delivery: DeliveryHarness) -> None:
    delivery.channel.sink.failures = 50
    genuine = await delivery.channel.genuine()
    delivery.channel.sink.failures = 0
    statuses = await asyncio.gather(*(delivery.channel.post(genuine) for _ in range(8)))
    assert {status // 100 for status in statuses} == {2}
    assert await delivery.store.db.inbound.count() == 1


# Acknowledgement


async def test_promise_1_no_2xx_before_the_commit(harness: ChannelHarness) -> None:
    harness.sink.door = asyncio.Event()
    await harness.say(marked("hello"))
    await eventually(lambda: harness.sink.calls > 0)
    assert await harness.post(Request("/nowhere", CIMultiDict(), b"", 0)) == 404, "what came later is answered"
    assert harness.told == []
    harness.sink.door.set()
    await harness.settled()
    assert [answer.status for answer in harness.told] == [200]
    assert len(harness.sink.messages) == 1


async def test_promise_1_the_acknowledgement_waits_for_no_work(delivery: DeliveryHarness) -> None:
    # There is no worker here at all: what was said is kept, and waits.
    await delivery.meet()
    assert [answer.status for answer in delivery.channel.told] == [200]
    assert await delivery.store.db.inbound.column("state") == ["waiting"]
    assert await delivery.store.db.turns.count() == 0


async def test_promise_1_what_could_not_be_kept_comes_again_and_is_kept_once(delivery: DeliveryHarness) -> None:
    delivery.channel.sink.failures = 2
    await delivery.meet()
    assert [answer.status for answer in delivery.channel.told] == [503, 503, 200]
    assert await delivery.store.db.inbound.count() == 1


# Who gets no answer


@exempt(
    sms="a text tells nothing of who or what wrote it; short codes and names, which no person has, are the next case"
)
async def test_promise_6_bots_are_ignored_with_the_reason(harness: ChannelHarness) -> None:
    if isinstance(harness, SlackHarness):
        await harness.act("as_bot", text=marked("I am a bot"))
        await harness.settled()
    elif isinstance(harness, TelegramHarness):
        # Telegram says that bots never see other bots' messages; should one come, it is genuine.
        genuine = await harness.genuine()
        sender = {"id": 4711, "is_bot": True, "first_name": "Robot"}
        assert await harness.post(harness.changed(genuine, message_id=4711, **{"from": sender})) == 200
    assert reasons(harness)[-1:] == [IgnoreReason.BOT]


@exempt(slack="every sender in Slack is an account", telegram="every sender in Telegram is an account")
async def test_promise_6_unanswerable_senders_are_ignored_with_the_reason(harness: ChannelHarness) -> None:
    assert isinstance(harness, SmsHarness)
    genuine = await harness.genuine()
    for sender in (b"28849", b"MYBANK"):
        body = genuine.body.replace(b"%2B14155557701", sender)
        other = Request(genuine.path, genuine.headers, _other_sid(body, sender))
        assert await harness.post(harness.signed(other)) == 200
    assert reasons(harness) == [IgnoreReason.UNSUPPORTED] * 2


@exempt(
    sms="Twilio tells of incoming texts only; our own come as status callbacks, another route",
    telegram="Telegram never sends a bot its own messages",
)
async def test_promise_6_our_own_messages_are_ignored_with_the_reason(harness: ChannelHarness) -> None:
    await harness.meet()
    await harness.act("set", own_events=True)
    (part,) = harness.sender.render(reply(marked("My own words")))
    await harness.sender.send(part, harness.target())
    await harness.settled()
    assert reasons(harness) == [IgnoreReason.OWN]
    assert harness.sink.messages == []


@exempt(sms="a text once sent cannot be changed")
async def test_an_edit_is_handed_in_with_the_message_that_it_changes(harness: ChannelHarness) -> None:
    sent = await harness.wrote(marked("Lunch"))
    await harness.edited(sent, marked("Dinner"))
    message, change = harness.sink.kept
    assert isinstance(message, InboundMessage)
    assert isinstance(change, Amendment)
    assert change.message is not None
    assert (change.message.text, change.message.provider_id) == (marked("Dinner"), message.provider_id)
    assert set(change.of) <= set(message.keys)
    assert not set(change.keys) & set(message.keys)
    assert change.sent_at == message.sent_at
    assert change.sent_at is not None
    assert change.sent_at <= change.changed_at


@exempt(
    sms="a text once sent cannot be taken back",
    telegram="Telegram does not tell bots of deleted messages: what was sent is answered",
)
async def test_a_deletion_is_handed_in_with_the_keys_of_its_message(harness: ChannelHarness) -> None:
    sent = await harness.wrote(marked("Lunch"))
    await harness.act("delete", ts=sent["ts"])
    await harness.settled()
    message, change = harness.sink.kept
    assert isinstance(message, InboundMessage)
    assert isinstance(change, Amendment)
    assert (change.message, change.sender) == (None, message.sender)
    assert set(change.of) <= set(message.keys)


@exempt(sms="every text is between two numbers")
async def test_promise_6_what_is_said_in_a_group_is_ignored_with_the_reason(harness: ChannelHarness) -> None:
    if isinstance(harness, SlackHarness):
        await harness.act("mention", text=marked("hello"))
    else:
        await harness.act("group_say", text=marked("hello"), mention=True)
    await harness.settled()
    assert set(reasons(harness)) == {IgnoreReason.GROUP}
    assert harness.sink.messages == []


# What is said


@also_by_mail
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
async def test_odd_texts_come_in_as_they_were_said(harness: ChannelHarness, text: str) -> None:
    await harness.said(marked(text))
    # What nobody sees is left out of mail, whoever wrote it.
    said = without_unseen(text) if isinstance(harness, EmailHarness) else text
    assert [message.text for message in harness.sink.messages] == [marked(said)]


async def test_a_text_with_nul_is_kept(delivery: DeliveryHarness) -> None:
    # Postgres holds no NUL; the rest of the text is not lost with it.
    genuine = await delivery.channel.genuine()
    body = genuine.body.replace(b"Lunch", b"%00Dinner" if delivery.channel.name == "sms" else b"\\u0000Dinner")
    if isinstance(delivery.channel, SmsHarness):
        body = _other_sid(body, b"nul")
    elif isinstance(delivery.channel, TelegramHarness):
        body = delivery.channel.changed(Request("", genuine.headers, body), message_id=4711).body
    else:
        body = body.replace(b'"Ev', b'"EvX').replace(b'"ts": "1', b'"ts": "2').replace(b'"client_msg_id": "', b'"x": "')
    assert await delivery.channel.post(delivery.channel.signed(Request(genuine.path, genuine.headers, body))) == 200
    texts = await delivery.store.db.inbound.column("text", order="seq")
    assert texts[-1] == marked("Dinner on Friday?")


@also_by_mail
async def test_a_file_comes_in_as_a_reference(delivery: DeliveryHarness) -> None:
    await delivery.channel.send_file()
    (message,) = delivery.channel.sink.messages
    (media,) = message.media
    assert (message.text, bool(media.url), bool(media.content_type)) == (marked("Look"), True, True)
    assert await delivery.store.one("select media->0->>'url' from inbound") == media.url


@also_by_mail
async def test_the_persons_own_words_are_commands(harness: ChannelHarness) -> None:
    words: dict[str, dict[str, str]] = {
        "sms": {"NEW": "new", " halt ": "stop", "halt it": ""},
        "slack": {"new": "new", " halt ": "stop", "halt it": ""},
        "telegram": {"/new": "new", "/start": "start", "/stop": "stop", "new": ""},
        "email": {"NEW": "new", " halt ": "stop", "halt it": ""},
    }
    for text, command in words[harness.name].items():
        await harness.said(text)
        message = harness.sink.messages[-1]
        read = message.command or chat_words().read(message.text, harness.name)  # as the inbox does
        assert read == (Command(command) if command else None), text


def reasons(harness: ChannelHarness) -> list[IgnoreReason]:
    """Return why things were not answered."""
    return [item.reason for item in harness.sink.kept if isinstance(item, IgnoredMessage)]


def _other_sid(body: bytes, salt: bytes) -> bytes:
    return re.sub(rb"(SM|MM)[0-9a-f]{32}", b"SM" + hashlib.md5(salt).hexdigest().encode(), body)  # noqa: S324
