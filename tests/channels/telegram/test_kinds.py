"""Every kind of Telegram message: read, answered with a sentence, or known to be nothing that anybody said."""

from typing import Any

import pytest

from channels.telegram.kinds import ABOUT, HAPPENED
from channels.telegram.parse import BotIdentity, parse_update
from core.messaging.inbound import Inbound
from core.messaging.messages import IgnoredMessage, IgnoreReason, InboundMessage, Media
from core.replies import ONLY_TEXT_AND_FILES
from tests.channels.telegram.builders import BOT_ID, Json, message, update
from tests.channels.telegram.described import described

BOT = BotIdentity(str(BOT_ID), "simulator_valet_bot")
FILE = {"file_id": "BQAC", "file_unique_id": "AQ", "file_size": 9}
MAP = {"latitude": 1.5, "longitude": 2.0}


OF_CHATS = {
    "new_chat_members",
    "left_chat_member",
    "new_chat_title",
    "new_chat_photo",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "pinned_message",
    "connected_website",
}
"""What happens to chats without anybody saying anything, though the description does not call it a service message."""


def parsed(**content: Any) -> Inbound:
    return parse_update(update(message=message(**{"text": None, **content})), BOT).inbound


def rich(*blocks: Json) -> Json:
    return {"rich_message": {"blocks": list(blocks)}}


def words(text: Any) -> Json:
    return {"type": "paragraph", "text": text}


READ: dict[str, tuple[Json, str]] = {
    "a paragraph": (rich(words("Lunch on Friday")), "Lunch on Friday"),
    "a heading and bold words": (
        rich(
            {"type": "heading", "text": "Plan", "size": 1},
            words(["We meet ", {"type": "bold", "text": [{"type": "italic", "text": "at noon"}]}]),
        ),
        "Plan\nWe meet at noon",
    ),
    "a table": (
        rich(
            {
                "type": "table",
                "caption": "Costs",
                "cells": [
                    [{"text": "Hotel", "is_header": True, "align": "left"}, {"text": "90 €"}],
                    [{"text": "Train"}, {}],
                ],
            }
        ),
        "Hotel | 90 €\nTrain | \nCosts",
    ),
    # Named by no report.
    "a link, a number and a moment": (
        rich(
            words(
                [
                    {"type": "url", "text": "page", "url": "https://a.example/"},
                    {"type": "phone_number", "text": " +1 415", "phone_number": "+1 415"},
                    {"type": "date_time", "text": " soon", "unix_time": 1_790_000_000},
                ]
            )
        ),
        "page (https://a.example/) +1 415 soon (2026-09-21 14:13 UTC)",
    ),
    "a list with boxes": (
        rich(
            {
                "type": "list",
                "items": [
                    {"label": "1.", "blocks": [words("Milk"), words("two")]},
                    {"label": "2.", "blocks": [words("Bread")], "has_checkbox": True, "is_checked": True},
                ],
            }
        ),
        "1. Milk\n  two\n2. [x] Bread",
    ),
    "quotations": (
        rich(
            {"type": "blockquote", "blocks": [words("To be"), words("or not")], "credit": "Hamlet"},
            {"type": "pullquote", "text": "Stay hungry", "credit": {"type": "bold", "text": "S. J."}},
        ),
        "> To be\n> or not\n— Hamlet\nStay hungry\n— S. J.",
    ),
    "what unfolds, with a map and a formula": (
        rich(
            {
                "type": "details",
                "summary": "More",
                "blocks": [
                    {"type": "map", "location": MAP, "caption": {"text": "Here", "credit": "OSM"}},
                    {"type": "mathematical_expression", "expression": "a^2"},
                ],
            }
        ),
        "More\n📍 1.5, 2.0\nHere\nOSM\na^2",
    ),
    "an emoji of a set": (
        rich(words({"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "👍"})),
        "👍",
    ),
    "a block of the future": (rich({"type": "hologram", "text": "Hello"}), "Hello"),
    "a poll": (
        {"poll": {"question": "When?", "options": [{"text": "Friday"}, {"text": "Monday"}]}},
        "When?\n- Friday\n- Monday",
    ),
    "a checklist": (
        {"checklist": {"title": "Trip", "tasks": [{"id": 1, "text": "Tickets"}]}},
        "Trip\n- [ ] Tickets",
    ),
    "a die": ({"dice": {"emoji": "🎲", "value": 4}}, "🎲 4"),
}


@pytest.mark.parametrize(("content", "text"), READ.values(), ids=READ.keys())
def test_what_has_words_is_read(content: Json, text: str) -> None:
    inbound = parsed(**content)
    assert isinstance(inbound, InboundMessage)
    assert inbound.text == text


FILES: dict[str, tuple[Json, str]] = {
    "a live photo of before": ({"live_photo": FILE}, "video/mp4"),
    "a live photo": ({"live_photo": {**FILE, "photo": [{**FILE, "file_id": "other"}]}, "photo": [FILE]}, "image/jpeg"),
    "a live photo's still": ({"live_photo": {"file_id": "other", "photo": [FILE]}}, "image/jpeg"),
    "paid media": ({"paid_media": {"star_count": 1, "paid_media": [{"type": "photo", "photo": [FILE]}]}}, "image/jpeg"),
    "a rich message's voice note": (rich({"type": "voice_note", "voice_note": FILE}), "audio/ogg"),
    "a file deep in a rich message": (
        rich({"type": "list", "items": [{"blocks": [{"type": "collage", "blocks": [{"photo": [FILE]}]}]}]}),
        "image/jpeg",
    ),
}


@pytest.mark.parametrize(("content", "content_type"), FILES.values(), ids=FILES.keys())
def test_what_holds_files_is_read(content: Json, content_type: str) -> None:
    inbound = parsed(**content)
    assert isinstance(inbound, InboundMessage)
    assert inbound.media == (Media("tg:BQAC", content_type, size=9),)


@pytest.mark.parametrize(
    "content",
    [
        rich(),
        rich({"type": "divider"}, {"type": "anchor", "name": "top"}),
        {"suggested_post_info": {"state": "pending"}},
        {"paid_media": {"star_count": 1, "paid_media": [{"type": "preview"}]}},
        {"passport_data": {}},
        {"game": {"title": "Chess"}},
        {"story": {"id": 1}},
        {"hologram": {"of": "the future"}},
        {"sticker": {"file_id": "S"}},
        {"poll": {}},
    ],
    ids=str,
)
def test_what_cannot_be_read_gets_a_sentence_for_its_kind(content: Json) -> None:
    inbound = parsed(**content)
    assert isinstance(inbound, IgnoredMessage)
    assert (inbound.reason, inbound.reply) == (IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES)
    assert inbound.kind == next(iter(content))


def test_a_rich_message_nested_beyond_reason_is_read_as_far_as_reason() -> None:
    block: Json = words("deep")
    for _ in range(300):
        block = {"type": "details", "summary": "more", "blocks": [block]}
    inbound = parsed(**rich(block))
    assert isinstance(inbound, InboundMessage)
    assert "more" in inbound.text


@pytest.mark.whole("it needs the providers' descriptions")
def test_no_field_of_telegrams_description_is_met_with_silence() -> None:
    """A field is read, answered, tells of the message, or says what happened; the next one is answered."""
    types = described()
    fields = {field["name"]: field["description"].removeprefix("Optional. ") for field in types["Message"]["fields"]}
    replied = {field["name"] for field in types["ExternalReplyInfo"]["fields"]}
    assert not ABOUT & HAPPENED
    assert replied - {"origin"} <= set(fields)
    for name in [*fields, "the_next_kind"]:
        if name in ABOUT | HAPPENED:
            continue
        sent: Json = {"photo": [FILE]} if name == "photo" else {name: {**FILE, **MAP}}
        sent = {"contact": {"phone_number": "+1", "first_name": "Ben"}} if name == "contact" else sent
        inbound = parsed(**sent)
        assert isinstance(inbound, InboundMessage) or getattr(inbound, "reply", "") == ONLY_TEXT_AND_FILES, name
    for name, description in fields.items():
        if description.startswith(("Message is a", "Message contains")) and "service message" not in description:
            assert name not in ABOUT | HAPPENED, "that is what a person sent"
    told = {name for name, description in fields.items() if "ervice message" in description}
    assert (HAPPENED & set(fields)) - told == OF_CHATS


@pytest.mark.whole("it needs the providers' descriptions")
def test_every_rich_block_and_text_of_the_description_gives_its_words() -> None:
    types = described()
    silent = {"RichBlockDivider", "RichBlockAnchor", "RichTextAnchor"}  # a line, and places that links lead to
    for name in types["RichBlock"]["subtypes"]:
        block = _filled(types, name)
        inbound = parsed(**rich(block))
        said = isinstance(inbound, InboundMessage) and (inbound.text or inbound.media)
        assert bool(said) is (name not in silent), name
    for name in types["RichText"]["subtypes"]:
        if name.startswith("RichText"):
            inbound = parsed(**rich(words(_filled(types, name))))
            assert isinstance(inbound, InboundMessage) is (name not in silent), name


def _filled(types: Json, name: str) -> Json:
    """Return a value of a type with each of its required fields."""
    plain: Json = {
        "RichText": "words",
        "String": "words",
        "Integer": 1,
        "Boolean": True,
        "Location": MAP,
        "Array of RichBlock": [words("words")],
        "Array of RichBlockListItem": [{"label": "-", "blocks": [words("words")]}],
        "Array of Array of RichBlockTableCell": [[{"text": "words"}]],
        "Array of PhotoSize": [FILE],
        "User": message()["from"],
    }
    return {field["name"]: plain.get(field["types"][0], FILE) for field in types[name]["fields"] if field["required"]}
