"""Updates as our inbound types."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telegram import Update

from channels.http.middleware import json_object
from channels.telegram.parse import (
    ONLY_DIRECT,
    BotIdentity,
    parse_update,
)
from core.errors import RequestRefused
from core.messaging.inbound import Amendment, Inbound
from core.messaging.messages import (
    Address,
    AddressChange,
    Command,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    Media,
    Press,
    ReachabilityChange,
    ReachabilityReason,
)
from core.replies import ONLY_TEXT_AND_FILES
from tests.channels.telegram.builders import BOT_ID, PERSON, Json, command, membership, message, press, update
from tests.examples import examples

BOT = BotIdentity(str(BOT_ID), "simulator_valet_bot")
HERE = Address("telegram", str(BOT_ID), str(PERSON))
GROUP = {"id": -100500, "type": "supergroup", "title": "Us"}
FILE = {"file_id": "BQAC", "file_unique_id": "AQ", "file_size": 9}


def parsed(given_update: Json) -> Inbound:
    return parse_update(given_update, BOT).inbound


def taken(given_update: Json) -> InboundMessage:
    inbound = parsed(given_update)
    assert isinstance(inbound, InboundMessage)
    return inbound


def ignored(given_update: Json) -> IgnoredMessage:
    inbound = parsed(given_update)
    assert isinstance(inbound, IgnoredMessage)
    return inbound


def test_a_text_in_a_private_chat() -> None:
    assert taken(update()) == InboundMessage(
        address=HERE,
        sender=str(PERSON),
        keys=("update:501", f"message:{PERSON}:17"),
        text="Lunch on Friday?",
        sent_at=datetime.fromtimestamp(1_790_000_000, tz=UTC),
        sender_name="Ada Lovelace",
        sender_language="en",
        provider_id="17",
    )


def test_promise_2_the_same_message_under_another_update_id_shares_a_key() -> None:
    assert set(taken(update(1)).keys) & set(taken(update(2)).keys)


def test_the_identity_is_the_number_never_a_name() -> None:
    renamed = message()
    renamed["from"] = {**renamed["from"], "username": "admin", "first_name": "700100002"}
    assert taken(update(message=renamed)).sender == str(PERSON)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/start", Command("start")),
        ("/start abc-123_x", Command("start", "abc-123_x")),
        ("/New", Command("new")),
        ("/stop@Simulator_Valet_Bot now please", Command("stop", "now please")),
        ("/help\nall of it", Command("help", "all of it")),
    ],
)
def test_a_command_at_the_start(text: str, expected: Command) -> None:
    inbound = taken(command(text))
    assert inbound.command == expected
    assert inbound.text == text


def test_a_slash_that_telegram_does_not_mark_is_text() -> None:
    assert taken(update(message=message(text="/ or \\"))).command is None
    later = [{"type": "bot_command", "offset": 4, "length": 5}]
    assert taken(update(message=message(text="see /help", entities=later))).command is None


def test_a_command_for_another_bot_is_not_ours() -> None:
    assert ignored(command("/start@other_bot")).reason is IgnoreReason.OTHER_ACCOUNT
    unnamed = parse_update(command("/start@other_bot"), BotIdentity(str(BOT_ID))).inbound
    assert isinstance(unnamed, InboundMessage)


@pytest.mark.parametrize(
    ("fields", "media"),
    [
        (
            {"photo": [{**FILE, "file_size": 1}, {**FILE, "file_id": "BIG"}]},
            Media("tg:BIG", "image/jpeg", size=9),
        ),
        ({"document": {**FILE, "file_name": "a.pdf", "mime_type": "application/pdf"}}, None),
        ({"voice": {**FILE, "duration": 1}}, Media("tg:BQAC", "audio/ogg", size=9, voice=True)),
        ({"audio": {**FILE, "file_name": "song.mp3"}}, Media("tg:BQAC", "audio/mpeg", "song.mp3", 9)),
        ({"video": FILE}, Media("tg:BQAC", "video/mp4", size=9)),
        ({"video_note": FILE}, Media("tg:BQAC", "video/mp4", size=9, voice=True)),
        ({"animation": FILE, "document": FILE}, Media("tg:BQAC", "video/mp4", size=9)),
    ],
)
def test_files_are_kept_as_references(fields: Json, media: Media | None) -> None:
    inbound = taken(update(message=message(text=None, caption="Look", **fields)))
    assert inbound.text == "Look"
    assert inbound.media == (media or Media("tg:BQAC", "application/pdf", "a.pdf", 9),)


PARIS: Json = {"latitude": 48.85837, "longitude": 2.29448}
EIFFEL_TOWER: Json = {"location": PARIS, "title": "Eiffel Tower", "address": "5 Av. A. France"}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"location": PARIS}, "📍"),
        # What others send has no place of the person's, so that it stays words.
        ({"location": PARIS, "forward_date": 1_789_000_000}, "📍 48.858370, 2.294480"),
        (
            {"location": PARIS, "venue": EIFFEL_TOWER, "forward_date": 1_789_000_000},
            "📍 48.858370, 2.294480, Eiffel Tower, 5 Av. A. France",
        ),
        ({"sticker": {"file_id": "S", "emoji": "👍"}}, "👍"),
    ],
)
def test_a_place_and_a_sticker_are_words(fields: Json, text: str) -> None:
    inbound = taken(update(message=message(text=None, **fields)))
    assert (inbound.text, inbound.media) == (text, ())


@pytest.mark.parametrize(
    ("fields", "card", "name"),
    [
        (
            {"phone_number": "14155557704", "first_name": "Grace", "last_name": "Hopper", "user_id": 7},
            "N:Hopper;Grace;;;\r\nFN:Grace Hopper\r\nTEL;TYPE=CELL:+14155557704",
            "Grace Hopper.vcf",
        ),
        # Nothing tells the country of an address book's number.
        (
            {"phone_number": "0171 2345", "first_name": "Ben"},
            "N:;Ben;;;\r\nFN:Ben\r\nTEL;TYPE=CELL:0171 2345",
            "Ben.vcf",
        ),
        (
            {"phone_number": "+1", "first_name": "A;\r\nTEL:+666", "user_id": 7},
            "N:;A\\; TEL:+666;;;\r\nFN:A\\; TEL:+666\r\nTEL;TYPE=CELL:+1",
            "A;\r\nTEL:+666.vcf",
        ),
    ],
)
def test_a_contact_is_a_file_of_one_card(fields: Json, card: str, name: str) -> None:
    inbound = taken(update(message=message(text=None, contact=fields)))
    text = f"BEGIN:VCARD\r\nVERSION:3.0\r\n{card}\r\nEND:VCARD\r\n"
    assert inbound.media == (Media(f"tg-card:{text}", "text/vcard", name, len(text)),)


def test_a_contact_of_the_address_book_brings_its_own_card() -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nTEL:+1\nEMAIL:ben@example.org\nEND:VCARD"
    fields = {"phone_number": "+1", "first_name": "Ben", "vcard": card}
    inbound = taken(update(message=message(text=None, contact=fields)))
    assert inbound.media == (Media(f"tg-card:{card}", "text/vcard", "Ben.vcf", len(card)),)


@pytest.mark.parametrize(
    "contact", ["Ben", {"phone_number": 1, "first_name": "Ben"}, {"phone_number": "+1", "first_name": ["Ben"]}]
)
def test_a_contact_of_other_types_is_refused(contact: Json) -> None:
    with pytest.raises(RequestRefused):
        parsed(update(message=message(text=None, contact=contact)))


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ({"latitude": 91, "longitude": 0}, "latitude is no number of degrees"),
        ({"latitude": "1", "longitude": 0}, "latitude is no number of degrees"),
        ({"latitude": True, "longitude": 0}, "latitude is no number of degrees"),
        ({"latitude": float("nan"), "longitude": 0}, "latitude is no number of degrees"),
        ({"latitude": 1}, "longitude is no number of degrees"),
        ({"latitude": 1, "longitude": 2, "horizontal_accuracy": -1}, "accuracy is no number of metres"),
        ({"latitude": 1, "longitude": 2, "live_period": 0}, "live_period is not a number"),
    ],
)
def test_a_place_that_is_nowhere_is_refused(place: Json, why: str) -> None:
    sent = message(text=None, location=place)
    for came in (update(message=sent), update(edited_message=sent)):
        with pytest.raises(RequestRefused, match=why):
            parsed(came)


def test_a_file_without_a_caption_has_no_text() -> None:
    assert taken(update(message=message(text=None, voice=FILE))).text == ""


def test_a_topic_is_a_conversation_of_its_own() -> None:
    assert taken(update(message=message(is_topic_message=True, message_thread_id=5))).address.thread == "5"
    assert taken(update(message=message(message_thread_id=5))).address.thread == ""


@pytest.mark.parametrize(
    ("changes", "reason", "reply"),
    [
        ({"chat": GROUP}, IgnoreReason.GROUP, ONLY_DIRECT),
        ({"chat": {**GROUP, "type": "group"}, "text": None, "photo": [FILE]}, IgnoreReason.GROUP, ONLY_DIRECT),
        ({"chat": GROUP, "text": None, "new_chat_title": "We"}, IgnoreReason.UNSUPPORTED, ""),
        ({"chat": GROUP, "text": None, "migrate_from_chat_id": -5}, IgnoreReason.UNSUPPORTED, ""),
        ({"chat": GROUP, "from": None, "sender_chat": GROUP}, IgnoreReason.GROUP, ""),
        ({"from": {"id": 5, "is_bot": True, "first_name": "B"}}, IgnoreReason.BOT, ""),
        ({"from": {"id": BOT_ID, "is_bot": True, "first_name": "V"}}, IgnoreReason.OWN, ""),
        ({"text": " \n"}, IgnoreReason.EMPTY, ""),
        ({"text": None, "poll": {}}, IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES),
        ({"text": None, "sticker": {"file_id": "S"}}, IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES),
        ({"text": None, "pinned_message": {}}, IgnoreReason.UNSUPPORTED, ""),
        ({"text": None}, IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES),
    ],
)
def test_promise_6_what_is_not_answered_is_ignored_with_a_reason(
    changes: Json, reason: IgnoreReason, reply: str
) -> None:
    inbound = ignored(update(message=message(**changes)))
    assert (inbound.reason, inbound.reply) == (reason, reply)
    assert "update:501" in inbound.keys


def test_an_edit_names_the_message_it_changes_and_does_not_hide_it() -> None:
    first = taken(update(501))
    change = parse_update(update(502, edited_message=message(edit_date=1_790_000_001, text="Dinner?")), BOT).inbound
    assert isinstance(change, Amendment)
    assert change.message is not None
    assert (change.message.text, change.message.provider_id, change.sender) == (
        "Dinner?",
        first.provider_id,
        first.sender,
    )
    assert (change.keys, change.of) == (("update:502",), tuple(key for key in first.keys if key != "update:501"))
    assert (change.changed_at, change.sent_at) == (datetime.fromtimestamp(1_790_000_001, UTC), first.sent_at)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"edit_date": 1_790_000_001, "text": None, "sticker": {"file_id": "S"}},
        {"edit_date": 1_790_000_001, "from": {"id": 5, "is_bot": True, "first_name": "B"}},
        {"edit_date": 1_790_000_001, "chat": {"id": -100, "type": "group", "title": "G"}},
    ],
)
def test_promise_6_what_no_person_wrote_anew_is_ignored_as_an_edit(changes: Json) -> None:
    edited = ignored(update(502, edited_message=message(**changes)))
    assert (edited.reason, edited.reply, edited.keys) == (IgnoreReason.EDITED, "", ("update:502",))


@pytest.mark.parametrize(
    "kinds",
    [
        {"channel_post": message()},
        {"edited_channel_post": message()},
        {"poll": {"id": "1"}},
        {"inline_query": {}},
        {"a_kind_of_the_future": 5},
        {"business_message": message()},
    ],
)
def test_kinds_that_we_do_not_handle_are_recorded(kinds: Json) -> None:
    inbound = ignored(update(**kinds))
    assert (inbound.reason, inbound.keys) == (IgnoreReason.UNSUPPORTED, ("update:501",))


@pytest.mark.parametrize(("status", "reachable"), [("kicked", False), ("left", False), ("member", True)])
def test_promise_8_blocked_and_unblocked(status: str, reachable: bool) -> None:
    reason = ReachabilityReason.UNBLOCKED if reachable else ReachabilityReason.BLOCKED
    assert parsed(membership(status)) == ReachabilityChange(
        "telegram", str(BOT_ID), str(PERSON), reachable, reason, ("update:501",)
    )


def test_joining_a_group_says_once_that_it_answers_in_direct_chats_only() -> None:
    assert ignored(membership("member", "group")).reply == ONLY_DIRECT
    assert ignored(membership("kicked", "group")).reply == ""


def test_a_group_that_moved() -> None:
    moved = update(message=message(chat={**GROUP, "type": "group"}, text=None, migrate_to_chat_id=-1002))
    assert parsed(moved) == AddressChange(
        "telegram", str(BOT_ID), "-100500", "-1002", ("update:501", "message:-100500:17")
    )


def test_a_press_is_one_of_its_chat() -> None:
    parsed = parse_update(press("tok"), BOT)
    assert parsed.inbound == Press(
        address=HERE, sender=str(PERSON), keys=("update:501", "callback:4382"), token="tok", provider_id="18"
    )
    assert parsed.query == "4382"


def test_a_press_on_a_message_that_the_bot_cannot_read_any_more_counts() -> None:
    gone = {"chat": {"id": PERSON, "type": "private"}, "message_id": 18, "date": 0}
    inbound = parsed(press("tok", message=gone))
    assert isinstance(inbound, Press)
    assert (inbound.sender, inbound.provider_id) == (str(PERSON), "18")


def test_a_press_in_a_topic_is_one_of_its_conversation() -> None:
    topic = {**press()["callback_query"]["message"], "is_topic_message": True, "message_thread_id": 5}
    inbound = parsed(press(message=topic))
    assert isinstance(inbound, Press)
    assert inbound.address.thread == "5"


def test_the_presser_is_the_number_never_a_name() -> None:
    named = {**message()["from"], "username": "admin", "first_name": "700100002"}
    pressed = press()
    pressed["callback_query"]["from"] = named
    inbound = parsed(pressed)
    assert isinstance(inbound, Press)
    assert inbound.sender == str(PERSON)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"message": None, "inline_message_id": "x"}, IgnoreReason.UNSUPPORTED),
        ({"message": message(chat=GROUP)}, IgnoreReason.GROUP),
        ({"message": message()}, IgnoreReason.UNSUPPORTED),
        ({"from": {"id": 5, "is_bot": False, "first_name": "B"}}, IgnoreReason.UNSUPPORTED),
        ({"from": {**message()["from"], "is_bot": True}}, IgnoreReason.UNSUPPORTED),
        ({"data": None, "game_short_name": "chess"}, IgnoreReason.UNSUPPORTED),
        ({"data": "x" * 65}, IgnoreReason.UNSUPPORTED),
        ({"data": "to\x00k"}, IgnoreReason.UNSUPPORTED),
    ],
)
def test_promise_6_a_press_on_an_unknown_button_is_ignored_but_answered(changes: Json, reason: IgnoreReason) -> None:
    parsed = parse_update(press(**changes), BOT)
    assert isinstance(parsed.inbound, IgnoredMessage)
    assert (parsed.inbound.reason, parsed.query) == (reason, "4382")
    assert parsed.inbound.sender.isdigit()


@pytest.mark.parametrize(("author", "expected"), [(BOT_ID, "18"), (PERSON, ""), (None, "")])
def test_a_reply_names_the_message_of_ours_that_it_answers(author: int | None, expected: str) -> None:
    sender = {"id": author, "is_bot": author == BOT_ID, "first_name": "X"} if author else None
    replied = message(message_id=18, **{"from": sender})
    assert taken(update(message=message(reply_to_message=replied))).reply_to == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PATHS = [
    ("update_id",),
    *(
        (kind, *rest)
        for kind in ("message",)
        for rest in (
            ("message_id",),
            ("from",),
            ("from", "id"),
            ("from", "is_bot"),
            ("chat",),
            ("chat", "id"),
            ("chat", "type"),
            ("date",),
            ("text",),
            ("entities",),
            ("photo",),
            ("document",),
            ("voice",),
            ("caption",),
            ("migrate_to_chat_id",),
            ("is_topic_message",),
            ("message_thread_id",),
            ("reply_to_message",),
            ("reply_to_message", "from"),
            ("reply_to_message", "message_id"),
        )
    ),
    *(
        ("callback_query", *rest)
        for rest in (
            ("id",),
            ("from",),
            ("from", "id"),
            ("from", "is_bot"),
            ("message",),
            ("message", "chat"),
            ("data",),
            ("message", "chat", "id"),
            ("message", "chat", "type"),
            ("message", "from"),
            ("message", "from", "id"),
            ("message", "message_id"),
            ("message", "is_topic_message"),
            ("inline_message_id",),
        )
    ),
]


@given(st.sampled_from(PATHS), json_values)
@examples(400)
def test_promise_12_any_field_may_be_anything_and_is_read_or_refused(path: tuple[str, ...], value: Any) -> None:
    spoiled: Any = press() if path[0] == "callback_query" else update(message=message(reply_to_message=message()))
    place = spoiled
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    try:
        parse_update(spoiled, BOT)
    except RequestRefused:
        return


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_promise_12_any_bytes_are_an_object_or_refused(raw: bytes) -> None:
    try:
        assert isinstance(json_object(raw), dict)
    except RequestRefused:
        return


@given(
    number=st.integers(1, 2**40),
    sender=st.integers(1, 2**52),
    text=st.text(min_size=1, max_size=50),
    date=st.integers(0, 2**32),
)
@settings(deadline=None)
def test_our_reading_is_that_of_ptbs_update(number: int, sender: int, text: str, date: int) -> None:
    content = message(message_id=number, text=text, date=date, chat={"id": sender, "type": "private"})
    content["from"]["id"] = sender
    ours = parsed(update(message=content))
    theirs = Update.de_json(update(message=content), None).effective_message
    assert theirs is not None
    assert theirs.from_user is not None
    if isinstance(ours, InboundMessage):
        assert (ours.text, ours.sent_at) == (theirs.text, theirs.date)
        assert (ours.provider_id, ours.sender) == (str(theirs.message_id), str(theirs.from_user.id))
        assert ours.sender_name == theirs.from_user.full_name
    else:
        assert not (theirs.text or "").strip()


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("a" * 4096, ""),
        ("a" * 4095, "\n"),
        ("a" * 2049, "\n"),
        ("a" * 2048, None),
        ("🙂" * 2048, ""),
        ("🙂" * 1024, None),
        ("Lunch?", None),
    ],
    ids=["whole", "one less", "more than half", "half", "of pairs", "half of pairs", "short"],
)
def test_a_text_as_long_as_apps_cut_it_may_go_on_in_the_next(text: str, goes_on: str | None) -> None:
    assert taken(update(message=message(text=text))).goes_on == goes_on


def test_links_in_a_text_do_not_make_it_one_that_was_cut() -> None:
    link = {"type": "text_link", "offset": 0, "length": 4, "url": f"https://example.com/{'a' * 4000}"}
    assert taken(update(message=message(text="page", entities=[link]))).goes_on is None


@pytest.mark.parametrize(
    "changes",
    [
        {"forward_origin": {"type": "hidden_user", "sender_user_name": "Eve", "date": 1}},
        {"text": None, "caption": "a" * 4096, "photo": [FILE]},
        {"entities": [{"type": "bot_command", "offset": 0, "length": 4}], "text": "/new " + "a" * 4000},
    ],
    ids=["forwarded", "a caption", "a command"],
)
def test_only_the_persons_own_plain_text_may_go_on(changes: Json) -> None:
    assert taken(update(message=message(**{"text": "a" * 4096, **changes}))).goes_on is None
