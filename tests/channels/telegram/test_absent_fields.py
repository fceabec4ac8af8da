"""Whatever Telegram's description calls optional may be absent or null: the update is taken, and nobody meets silence.

The table is the description itself (K16): each kind of message, and of each its optional fields at any depth.
"""

from typing import Any

import pytest

from channels.telegram.kinds import HAPPENED
from channels.telegram.parse import BotIdentity, parse_update
from core.messaging.inbound import Inbound
from core.messaging.messages import AddressChange, IgnoredMessage, IgnoreReason, InboundMessage, Press
from core.replies import ONLY_TEXT_AND_FILES
from tests.channels.telegram.builders import BOT_ID, PERSON, Gateway, Json, membership, message, press, update
from tests.channels.telegram.described import described, forms, optional_paths, without

BOT = BotIdentity(str(BOT_ID), "simulator_valet_bot")
FIELDS_OF_OTHER_PLACES = {"sender_chat", "chat"}


def parsed(sent: Json) -> Inbound:
    return parse_update(sent, BOT).inbound


def answered(inbound: Inbound) -> bool:
    return isinstance(inbound, InboundMessage) or getattr(inbound, "reply", "") == ONLY_TEXT_AND_FILES


def both(sent: Json, kind: str, path: tuple[str | int, ...]) -> Inbound:
    """Return what an update means without a field, which is the same where the field is null."""
    absent, null = (parsed({**sent, kind: without(sent[kind], path, null=null)}) for null in (False, True))
    assert absent == null, path
    return absent


@pytest.mark.whole("it needs the providers' descriptions")
def test_every_kind_of_message_is_taken_without_its_optional_fields() -> None:
    types = described()
    tried = 0
    for field in types["Message"]["fields"]:
        name, kind = field["name"], field["types"][0]
        if field["required"] or name in FIELDS_OF_OTHER_PLACES:
            continue
        words = "Lunch?" if name in {"entities", "from"} else None
        for content in [message()["from"]] if name == "from" else forms(types, kind):
            if name == "reply_to_message":
                content = {**message(), **content, "chat": message()["chat"]}
            sent = update(message=message(**{"text": words, name: content}))
            silent = name in HAPPENED
            for path in [*optional_paths(types, kind, content, (name,)), (name,)]:
                inbound = both(sent, "message", path)
                assert answered(inbound) or (silent and (path != (name,))), path
                tried += 1
    assert tried > 1000


@pytest.mark.whole("it needs the providers' descriptions")
def test_a_text_is_taken_without_the_optional_fields_of_sender_and_chat() -> None:
    types = described()
    (user,), (chat,) = forms(types, "User"), forms(types, "Chat")
    whole = message(**{"from": {**user, **message()["from"]}, "chat": {**chat, **message()["chat"]}})
    for path in optional_paths(types, "Message", whole):
        inbound = both(update(message=whole), "message", path)
        assert answered(inbound), path
        if path != ("text",):
            assert isinstance(inbound, InboundMessage)
            assert (inbound.text, inbound.sender) == ("Lunch on Friday?", str(PERSON)), path


@pytest.mark.whole("it needs the providers' descriptions")
@pytest.mark.parametrize(
    ("kind", "described_as", "sent"),
    [
        ("edited_message", "Message", update(edited_message=message())),
        ("callback_query", "CallbackQuery", press("token")),
        ("my_chat_member", "ChatMemberUpdated", membership("member")),
    ],
)
def test_the_other_updates_are_taken_without_their_optional_fields(kind: str, described_as: str, sent: Json) -> None:
    types = described()
    (whole,) = forms(types, described_as)
    whole = {**whole, **sent[kind]}
    for path in optional_paths(types, described_as, whole):
        both({"update_id": 501, kind: whole}, kind, path)


@pytest.mark.whole("it needs the providers' descriptions")
def test_an_update_whose_other_kinds_are_null_is_the_kind_that_it_has() -> None:
    nulls = {field["name"]: None for field in described()["Update"]["fields"] if not field["required"]}
    assert parsed({**nulls, **update()}) == parsed(update())
    assert isinstance(parsed({**nulls, **press("a" * 43)}), Press | IgnoredMessage)


TAKEN: dict[str, tuple[Json, str]] = {
    "a contact without a first name": ({"contact": {"phone_number": "+1415"}}, "FN:+1415"),
    "a contact whose names are null": (
        {"contact": {"phone_number": "+1415", "first_name": None, "last_name": None, "vcard": None}},
        "FN:+1415",
    ),
    "a contact with a last name alone": ({"contact": {"phone_number": "+1415", "last_name": "Byron"}}, "FN:Byron"),
    "a contact without a number": ({"contact": {"phone_number": "", "first_name": "Ben"}}, "FN:Ben"),
}


@pytest.mark.parametrize(("content", "line"), TAKEN.values(), ids=TAKEN.keys())
def test_a_contact_is_taken_with_what_it_has(content: Json, line: str) -> None:
    inbound = parsed(update(message=message(text=None, **content)))
    assert isinstance(inbound, InboundMessage)
    (card,) = inbound.media
    assert line in card.url.splitlines()
    assert card.name.removesuffix(".vcf") == line.removeprefix("FN:")


def test_the_largest_size_of_a_photo_is_known_without_file_sizes() -> None:
    sizes = [{"file_id": name, "width": side, "height": side} for name, side in (("S", 90), ("L", 1280), ("M", 320))]
    inbound = parsed(update(message=message(text=None, photo=sizes)))
    assert isinstance(inbound, InboundMessage)
    assert [file.url for file in inbound.media] == ["tg:L"]


def test_a_private_chat_names_its_person_where_the_sender_is_left_out() -> None:
    chat = {**message()["chat"], "last_name": None}
    inbound = parsed(update(message={**message(chat=chat), "from": None}))
    assert isinstance(inbound, InboundMessage)
    assert (inbound.sender, inbound.sender_name) == (str(PERSON), "Ada")


@pytest.mark.parametrize("nothing", [{}, {"text": None}, {"photo": []}, {"contact": {}}, {"poll": None}], ids=str)
def test_a_message_with_nothing_in_it_gets_a_sentence(nothing: Json) -> None:
    inbound = parsed(update(message={**message(text=None), **nothing}))
    assert isinstance(inbound, IgnoredMessage)
    assert (inbound.reason, inbound.reply) == (IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES)


def test_a_moved_group_is_still_told_from_a_message() -> None:
    moved = {**message(text=None), "chat": {"id": -5, "type": "group"}, "migrate_to_chat_id": -6}
    assert isinstance(parsed(update(message={**moved, "caption": None})), AddressChange)


NULL: dict[str, Any] = {
    "a text": {"text": "Hi", "caption": None, "entities": None, "reply_to_message": None, "migrate_to_chat_id": None},
    "a photo": {"photo": [{"file_id": "P", "width": 9, "height": 9, "file_size": None}], "caption": None, "text": None},
    "a document": {"document": {"file_id": "D", "file_name": None, "mime_type": None, "thumbnail": None}},
    "a voice note": {"voice": {"file_id": "V", "duration": 1, "mime_type": None}, "photo": None, "animation": None},
    "a place": {"location": {"latitude": 1.5, "longitude": 2.0, "live_period": None}, "venue": None},
    "a contact": {"contact": {"phone_number": "+1", "first_name": "Ben", "last_name": None, "vcard": None}},
}


@pytest.mark.parametrize("content", NULL.values(), ids=NULL.keys())
async def test_an_update_with_null_fields_is_taken_over_the_wire(gateway: Gateway, content: Json) -> None:
    sender = {**message()["from"], "last_name": None, "language_code": None}
    sent = {**message(text=None), "from": sender, **content}
    everything = {"update_id": 5, "edited_message": None, "callback_query": None, "my_chat_member": None}
    assert (await gateway.post({**everything, "message": sent})).status == 200
    (inbound,) = gateway.sink.accepted
    assert isinstance(inbound, InboundMessage)
    assert inbound.text or inbound.media
