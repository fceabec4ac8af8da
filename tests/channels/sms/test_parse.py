"""What each kind of Twilio webhook becomes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.sms.parse import decode_form, parse_message, parse_status
from channels.sms.texts import OPTED_OUT_REPLY, Account, Text, read_text
from core.errors import RequestRefused
from core.messaging.chat_reader import chat_words
from core.messaging.messages import (
    Address,
    Command,
    DeliveryStatus,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    Media,
    ReachabilityChange,
    ReachabilityReason,
)
from tests.channels.sms.builders import MESSAGE_SID, NUMBER, PERSON, SID, webhook

ACCOUNT = Account(sid=SID, sender=NUMBER)
SERVICE = Account(sid=SID, sender="MG" + "e" * 32)


def one(**changes: str) -> object:
    (inbound,) = parse_message(tuple(webhook(**changes)), ACCOUNT)
    return inbound


def test_a_text_becomes_an_inbound_message_keyed_by_its_sid() -> None:
    assert one(Body=" Lunch 🍕\n") == InboundMessage(
        address=Address("sms", NUMBER, PERSON),
        sender=PERSON,
        keys=(MESSAGE_SID,),
        text=" Lunch 🍕\n",
        provider_id=MESSAGE_SID,
    )


def test_nul_is_left_out_because_postgres_takes_none() -> None:
    inbound = one(Body="a\x00b")
    assert isinstance(inbound, InboundMessage)
    assert inbound.text == "ab"


def test_a_messaging_service_is_the_account_for_all_its_numbers() -> None:
    fields = webhook(To="+15558887777", MessagingServiceSid=SERVICE.sender)
    (inbound,) = parse_message(tuple(fields), SERVICE)
    assert isinstance(inbound, InboundMessage)
    assert inbound.address == Address("sms", SERVICE.sender, PERSON)


@pytest.mark.parametrize("word", ["STOP", "stop", " Stop\n", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"])
def test_promise_8_a_stop_word_alone_is_no_text_for_the_model(word: str) -> None:
    assert one(Body=word) == ReachabilityChange(
        "sms", NUMBER, PERSON, False, ReachabilityReason.OPTED_OUT, (MESSAGE_SID,)
    )


@pytest.mark.parametrize("word", ["REVOKE", "optout"])
def test_promise_8_twilios_newer_stop_words_count_too(word: str) -> None:
    assert isinstance(one(Body=word), ReachabilityChange)


def test_promise_8_twilios_own_verdict_counts_for_any_word() -> None:
    assert one(Body="ARRET", OptOutType="STOP") == ReachabilityChange(
        "sms", NUMBER, PERSON, False, ReachabilityReason.OPTED_OUT, (MESSAGE_SID,)
    )
    assert one(Body="REVENIR", OptOutType="START") == ReachabilityChange(
        "sms", NUMBER, PERSON, True, ReachabilityReason.OPTED_IN, (MESSAGE_SID,)
    )


@pytest.mark.parametrize(
    "text",
    ["please stop the music", "cancel my 3pm", "the end", "start now", "S T O P", "don't stop", "stop7"],
)
def test_a_stop_or_start_word_among_others_is_an_ordinary_text(text: str) -> None:
    assert isinstance(one(Body=text), InboundMessage)


@pytest.mark.parametrize("word", ["START", "unstop"])
def test_a_start_word_lets_us_in_again(word: str) -> None:
    assert one(Body=word) == ReachabilityChange(
        "sms", NUMBER, PERSON, True, ReachabilityReason.OPTED_IN, (MESSAGE_SID,)
    )


@pytest.mark.parametrize("verdict", [{}, {"OptOutType": "START"}])
def test_yes_opts_in_and_is_also_the_answer_that_a_person_gave(verdict: dict[str, str]) -> None:
    change, message = parse_message(tuple(webhook(Body="Yes", **verdict)), ACCOUNT)
    assert change == ReachabilityChange(
        "sms", NUMBER, PERSON, True, ReachabilityReason.OPTED_IN, (f"{MESSAGE_SID}:started",)
    )
    assert isinstance(message, InboundMessage)
    assert message.text == "Yes"
    assert message.keys == (MESSAGE_SID,)


@pytest.mark.parametrize(
    "word", ["STOP.", " stop!! ", "Stop all", "opt-out", "(cancel)", "\u201cSTOP\u201d", "stop\U0001f6d1"]
)
def test_promise_8_a_stop_passed_through_by_twilio_is_confirmed_by_us(word: str) -> None:
    change = one(Body=word)
    assert isinstance(change, ReachabilityChange)
    assert (change.reachable, change.reply) == (False, OPTED_OUT_REPLY)


@pytest.mark.parametrize("word", ["HELP", "info"])
def test_help_is_answered_by_twilio_or_by_us_never_by_both(word: str) -> None:
    assert getattr(one(Body=word), "reason", None) is IgnoreReason.CARRIER
    (ours,) = parse_message(tuple(webhook(Body=word)), replace(ACCOUNT, carrier_answers=False))
    assert getattr(ours, "command", None) == Command("help")
    parsed = tuple(webhook(Body=word, OptOutType="HELP"))
    assert [type(i) for i in parse_message(parsed, replace(ACCOUNT, carrier_answers=False))] == [IgnoredMessage]
    assert getattr(one(Body=f"{word}!"), "command", None) == Command("help")


@pytest.mark.parametrize(("word", "name"), [("New", "new"), ("HALT ", "stop"), ("new.", "new"), ("Halt?", "stop")])
def test_our_own_words_are_commands_when_they_stand_alone(word: str, name: str) -> None:
    inbound = one(Body=word)
    assert isinstance(inbound, InboundMessage)
    assert chat_words().read(inbound.text, "sms") == Command(name)


@pytest.mark.parametrize("text", ["new idea", "help me", "OK 7K", "NO 7K", "ok"])
def test_other_texts_are_no_commands(text: str) -> None:
    inbound = one(Body=text)
    assert isinstance(inbound, InboundMessage)
    assert (inbound.command, chat_words().read(inbound.text, "sms")) == (None, None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"To": "+15558887777"}, IgnoreReason.OTHER_ACCOUNT),
        ({"Body": ""}, IgnoreReason.EMPTY),
        ({"Body": " \n"}, IgnoreReason.EMPTY),
        ({"From": "72345"}, IgnoreReason.UNSUPPORTED),
        ({"From": "MyBank"}, IgnoreReason.UNSUPPORTED),
        ({"From": "whatsapp:+15552223333"}, IgnoreReason.UNSUPPORTED),
        ({"From": "+0123456789"}, IgnoreReason.UNSUPPORTED),
    ],
)
def test_promise_6_what_gets_no_turn_has_a_reason(changes: dict[str, str], reason: IgnoreReason) -> None:
    inbound = one(**changes)
    assert isinstance(inbound, IgnoredMessage)
    assert inbound.reason is reason
    assert inbound.keys == (MESSAGE_SID,)


def test_media_is_kept_as_a_reference_and_clamped_to_ten() -> None:
    fields = {"NumMedia": "12", "Body": ""}
    for index in range(12):
        fields[f"MediaUrl{index}"] = f"https://api.twilio.com/2010-04-01/Media/ME{index}"
        fields[f"MediaContentType{index}"] = "image/jpeg"
    inbound = one(**fields)
    assert isinstance(inbound, InboundMessage)
    assert len(inbound.media) == 10
    assert inbound.media[0] == Media("https://api.twilio.com/2010-04-01/Media/ME0", "image/jpeg")


@pytest.mark.parametrize(
    "wrong",
    [
        {"NumMedia": "some"},
        {"NumMedia": "2"},
        {"MediaUrl0": "ftp://api.twilio.com/ME0"},
        {"MediaUrl0": "https://api.twilio.com/M E0"},
        {"MediaContentType0": "image/\u202ejpeg"},
        {"MediaContentType0": "x" * 256},
    ],
)
def test_media_that_is_not_well_formed_is_refused(wrong: dict[str, str]) -> None:
    fields = {"NumMedia": "1", "MediaUrl0": "https://api.twilio.com/ME0", "MediaContentType0": "x" * 255}
    assert isinstance(one(**fields), InboundMessage)
    with pytest.raises(RequestRefused):
        one(**fields | wrong)


def test_a_parameter_that_twilio_adds_one_day_is_let_through() -> None:
    assert isinstance(one(SomethingNew="1"), InboundMessage)


@pytest.mark.parametrize(
    ("ref", "status"),
    [
        ("accepted", DeliveryStatus.ACCEPTED),
        ("queued", DeliveryStatus.ACCEPTED),
        ("sending", DeliveryStatus.ACCEPTED),
        ("sent", DeliveryStatus.SENT),
        ("delivered", DeliveryStatus.DELIVERED),
        ("read", DeliveryStatus.READ),
        ("undelivered", DeliveryStatus.UNDELIVERED),
        ("failed", DeliveryStatus.FAILED),
        ("canceled", DeliveryStatus.FAILED),
    ],
)
def test_a_status_callback_carries_our_ref(ref: str, status: DeliveryStatus) -> None:
    form = (("AccountSid", SID), ("MessageSid", MESSAGE_SID), ("MessageStatus", ref), ("ErrorCode", "30003"))
    update = parse_status(form, (("ref", "part_01"),), ACCOUNT)
    assert update is not None
    assert (update.ref, update.provider_id, update.status) == ("part_01", MESSAGE_SID, status)
    assert (update.account, update.error_code) == (NUMBER, "30003")


@pytest.mark.parametrize("ref", ["received", "receiving", "teleported"])
def test_a_status_unrelated_to_our_parts_is_dropped(ref: str) -> None:
    form = (("AccountSid", SID), ("MessageSid", MESSAGE_SID), ("MessageStatus", ref))
    assert parse_status(form, (), ACCOUNT) is None


def test_promise_12_a_status_of_another_account_is_refused() -> None:
    form = (("AccountSid", "AC" + "0" * 32), ("MessageSid", MESSAGE_SID), ("MessageStatus", "delivered"))
    with pytest.raises(RequestRefused):
        parse_status(form, (("ref", "part_01"),), ACCOUNT)


@given(st.dictionaries(st.sampled_from([name for name, _ in webhook()]), st.text(max_size=30)))
@settings(deadline=None)
def test_promise_12_any_values_are_read_or_refused(changes: dict[str, str]) -> None:
    status = 200
    try:
        parse_message(tuple(webhook(**changes)), ACCOUNT)
    except RequestRefused as refused:
        status = refused.status
    assert status in (200, 400, 403)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_promise_12_any_bytes_are_decoded_or_refused(raw: bytes) -> None:
    status = 200
    try:
        decode_form(raw)
    except RequestRefused as refused:
        status = refused.status
    assert status in (200, 400)


def test_the_list_and_the_webhook_are_read_alike() -> None:
    text = Text(sid=MESSAGE_SID, sender=PERSON, to=NUMBER, body="Lunch on Friday?")
    assert read_text(text, ACCOUNT) == parse_message(tuple(webhook()), ACCOUNT)
    stopped = replace(text, body="STOP")
    assert read_text(stopped, ACCOUNT) == parse_message(tuple(webhook(Body="STOP")), ACCOUNT)


PICTURE = {
    "MessagingServiceSid": "MG" + "e" * 32,
    "NumMedia": "1",
    "MediaUrl0": "https://api.twilio.com/2010-04-01/Accounts/AC/Messages/MM/Media/ME",
    "MediaContentType0": "image/jpeg",
    "FromCountry": "US",
    "FromState": "CA",
    "FromZip": "94103",
    "ToCity": "",
    "ToState": "CA",
    "ToZip": "94103",
    "ProfileName": "Ada",
    "WaId": "15552223333",
    "OptOutType": "",
    "ReferralNumMedia": "0",
    "ButtonText": "",
    "Forwarded": "true",
}
IDENTIFYING = {"AccountSid", "MessageSid", "From", "To", "MediaUrl0"}
"""Without these, twilio.com/docs/messaging/guides/webhook-request describes no message."""


@pytest.mark.parametrize("value", [None, ""], ids=["absent", "empty"])
@pytest.mark.parametrize("name", sorted(dict(webhook(**PICTURE)).keys() - IDENTIFYING))
def test_a_picture_is_taken_without_any_field_that_may_be_left_out(name: str, value: str | None) -> None:
    fields = [(other, value if other == name else kept) for other, kept in webhook(**PICTURE)]
    (inbound,) = parse_message(tuple((other, kept) for other, kept in fields if kept is not None), ACCOUNT)
    assert isinstance(inbound, InboundMessage)
    assert inbound.text == ("" if name == "Body" else "Lunch on Friday?")
    assert len(inbound.media) == (name != "NumMedia")


@pytest.mark.parametrize("name", ["Body", *sorted(IDENTIFYING - {"MediaUrl0"})])
def test_a_text_without_what_makes_it_one_is_refused(name: str) -> None:
    with pytest.raises(RequestRefused):
        parse_message(tuple(pair for pair in webhook() if pair[0] != name), ACCOUNT)
