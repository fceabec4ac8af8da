"""What a person points at in Telegram: whose words it is, and what stands behind words.

Each row has the fields that core.telegram.org/bots/api#message describes, and the value with its reason.
"""

from typing import Any

import pytest

from channels.telegram.parse import BotIdentity, parse_update
from channels.telegram.text import linked_text
from core.messaging.messages import InboundMessage, Media, Origin
from core.messaging.pointed import Pointed, Whose, unread
from tests.channels.telegram.builders import BOT_ID, PERSON, Json, message, update

BOT = BotIdentity(str(BOT_ID), "simulator_valet_bot")
FILE = {"file_id": "BQAC", "file_unique_id": "AQ", "file_size": 9}
PDF = {**FILE, "mime_type": "application/pdf", "file_name": "plan.pdf"}
PLAN = Media("tg:BQAC", "application/pdf", "plan.pdf", 9)
VALET = {"id": BOT_ID, "is_bot": True, "first_name": "Valet"}
ADA = message()["from"]
EVE = {"id": 5, "is_bot": False, "first_name": "Eve"}
HIDDEN = {"type": "hidden_user", "date": 1, "sender_user_name": "Eve"}
CHECKLIST = {"title": "Trip", "tasks": [{"id": 1, "text": "Tickets"}, {"id": 2, "text": "Hotel", "completion_date": 9}]}
POLL = {"question": "When?", "options": [{"text": "Friday", "persistent_id": "a"}, {"text": "Monday"}]}
OWN, ASSISTANT, OTHERS = Whose.OWN, Whose.ASSISTANT, Whose.OTHERS


def taken(**changes: Any) -> InboundMessage:
    inbound = parse_update(update(message=message(**changes)), BOT).inbound
    assert isinstance(inbound, InboundMessage)
    return inbound


def earlier(sender: Json | None = VALET, **changes: Any) -> Json:
    return message(message_id=3, **{"from": sender, "text": "Lunch with Sam\non Friday", **changes})


def external(**changes: Any) -> Json:
    return {"origin": {"type": "channel", "date": 1, "chat": {"id": -1, "type": "channel"}, "message_id": 4}, **changes}


def user(sender: Json) -> Json:
    return {"origin": {"type": "user", "date": 1, "sender_user": sender}}


POINTED: dict[str, tuple[Json, Pointed]] = {
    # Named by reports.
    "ours": ({"reply_to_message": earlier()}, Pointed("Lunch with Sam\non Friday", ASSISTANT)),
    "their own": ({"reply_to_message": earlier(ADA)}, Pointed("Lunch with Sam\non Friday", OWN)),
    "a part of ours": (
        {"reply_to_message": earlier(), "quote": {"text": "on Friday", "position": 15, "is_manual": True}},
        Pointed("Lunch with Sam\non Friday", ASSISTANT, "on Friday"),
    ),
    "a part of another chat's": (
        {"external_reply": external(), "quote": {"text": "Rates rise", "position": 0}},
        Pointed("Rates rise", OTHERS, "Rates rise"),
    ),
    "a file of another chat": (
        {"external_reply": external(document=PDF)},
        Pointed("", OTHERS, files=1),
    ),
    "a file": (
        {"reply_to_message": earlier(ADA, text=None, document=PDF, caption="Draft")},
        Pointed("Draft", OWN, files=1),
    ),
    "a photo": ({"reply_to_message": earlier(ADA, text=None, photo=[FILE])}, Pointed("", OWN, files=1)),
    # A forward is another's, although the person sent it.
    "what they forwarded": (
        {"reply_to_message": earlier(ADA, forward_origin=HIDDEN)},
        Pointed("Lunch with Sam\non Friday", OTHERS),
    ),
    # Named by no report.
    "a program's in their name": (
        {"reply_to_message": earlier(ADA, via_bot={"id": 9, "is_bot": True, "first_name": "B"})},
        Pointed("Lunch with Sam\non Friday", OTHERS),
    ),
    "somebody else's": ({"reply_to_message": earlier(EVE)}, Pointed("Lunch with Sam\non Friday", OTHERS)),
    "nobody's": ({"reply_to_message": earlier(None)}, Pointed("Lunch with Sam\non Friday", OTHERS)),
    "a channel's in their name": (
        {"reply_to_message": earlier(ADA, sender_chat={"id": -1, "type": "channel"})},
        Pointed("Lunch with Sam\non Friday", OTHERS),
    ),
    "ours in another topic": (
        {"external_reply": user(VALET), "quote": {"text": "Friday", "position": 0}},
        Pointed("Friday", ASSISTANT, "Friday"),
    ),
    "their own in another chat": (
        {"external_reply": user(ADA), "quote": {"text": "Friday", "position": 0}},
        Pointed("Friday", OWN, "Friday"),
    ),
    "links behind the words of ours": (
        {
            "reply_to_message": earlier(
                text="the page", entities=[{"type": "text_link", "offset": 4, "length": 4, "url": "https://a.example/"}]
            )
        },
        Pointed("the page (https://a.example/)", ASSISTANT),
    ),
    "a place": (
        {"reply_to_message": earlier(ADA, text=None, location={"latitude": 1.5, "longitude": 2})},
        Pointed("📍 1.500000, 2.000000", OWN),
    ),
    "a task of a checklist": (
        {"reply_to_message": earlier(EVE, text=None, checklist=CHECKLIST), "reply_to_checklist_task_id": 2},
        Pointed("Trip\n- [ ] Tickets\n- [x] Hotel", OTHERS, "Hotel"),
    ),
    "an option of a poll": (
        {"reply_to_message": earlier(EVE, text=None, poll=POLL), "reply_to_poll_option_id": "a"},
        Pointed("When?\n- Friday\n- Monday", OTHERS, "Friday"),
    ),
    "a story": (
        {"reply_to_story": {"chat": {"id": -1}, "id": 4}},
        Pointed("(something that cannot be shown here: story)", OTHERS),
    ),
    "a kind of the future": (
        {"reply_to_message": earlier(ADA, text=None, smell_note={"file_id": "x"})},
        Pointed("(something that cannot be shown here: smell note)", OWN),
    ),
    "a message that is gone": (
        {"reply_to_message": {"message_id": 3, "date": 0, "chat": {"id": PERSON, "type": "private"}}},
        Pointed("(something that cannot be shown here: an older message)", OTHERS),
    ),
    # What is wrong with it never costs the person's own words.
    "a file without an id": (
        {"reply_to_message": earlier(ADA, text=None, document={})},
        Pointed("(something that cannot be shown here: document)", OWN),
    ),
    "a place that is nowhere": (
        {"external_reply": external(location={"latitude": 99, "longitude": 0}), "quote": {"text": "here"}},
        Pointed("here", OTHERS, "here"),
    ),
    "a quote alone": ({"quote": {"text": "on Friday", "position": 1}}, Pointed("on Friday", OTHERS, "on Friday")),
}


@pytest.mark.parametrize(("changes", "point"), POINTED.values(), ids=POINTED.keys())
def test_what_a_person_points_at_comes_with_their_words_and_its_author(changes: Json, point: Pointed) -> None:
    inbound = taken(text="Move this one", **changes)
    assert (inbound.text, inbound.origin, inbound.points) == ("Move this one", Origin.OWN, (point,))
    assert len(inbound.pointed_media) == point.files


@pytest.mark.parametrize(
    "content",
    [
        {"hologram": {"of": "the future"}},
        {"paid_media": {"star_count": 1, "paid_media": [{"type": "preview"}]}},
    ],
)
def test_what_cannot_be_read_beside_a_caption_is_told_to_the_model(content: Json) -> None:
    inbound = taken(text=None, caption="Look", **content)
    assert (inbound.text, inbound.points) == ("Look", (unread(next(iter(content))),))
    assert taken(text="Hi", a_note_of_the_future=True).points == ()


def test_the_files_of_a_replied_message_are_kept_apart_from_what_was_sent() -> None:
    inbound = taken(text=None, voice=FILE, reply_to_message=earlier(ADA, text=None, document=PDF))
    assert [media.content_type for media in inbound.media] == ["audio/ogg"]
    assert inbound.pointed_media == (PLAN,)


def test_a_voice_note_that_is_answered_is_not_said_again() -> None:
    """A card would be decided by it, were it taken for what the person says now."""
    (media,) = taken(text="and this?", reply_to_message=earlier(ADA, text=None, voice=FILE)).pointed_media
    assert not media.voice


@pytest.mark.parametrize(
    "changes",
    [
        {},
        # The first message of a topic stands for the topic (core.telegram.org/bots/api#forumtopiccreated).
        {
            "reply_to_message": earlier(text=None, forum_topic_created={"name": "Work"}),
            "is_topic_message": True,
            "message_thread_id": 3,
        },
        {"reply_to_message": None, "quote": None},
    ],
)
def test_a_message_that_points_at_nothing_has_no_points(changes: Json) -> None:
    assert taken(**changes).points == ()


LINKED: dict[str, tuple[str, list[Json], str]] = {
    "a linked word": ("read this", [{"offset": 5, "length": 4, "url": "https://a.example/x"}], "read this ({0})"),
    "two, one in a bold word": (
        "one two",
        [
            {"offset": 0, "length": 3, "url": "https://a.example/x"},
            {"type": "bold", "offset": 4, "length": 3},
            {"offset": 4, "length": 3, "url": "https://b.example/"},
        ],
        "one ({0}) two (https://b.example/)",
    ),
    # Offsets count UTF-16 units: the emoji has two.
    "after an emoji": ("🎉 this!", [{"offset": 3, "length": 4, "url": "https://a.example/x"}], "🎉 this ({0})!"),
    # Named by no report.
    "an address that says itself": (
        "a.example/x",
        [{"offset": 0, "length": 11, "url": "https://a.example/x"}],
        "a.example/x",
    ),
    "an address that says another": (
        "https://bank.example",
        [{"offset": 0, "length": 20, "url": "https://a.example/x"}],
        "https://bank.example ({0})",
    ),
    "a mail address": (
        "write",
        [{"offset": 0, "length": 5, "url": "mailto:a@b.example"}],
        "write (mailto:a@b.example)",
    ),
    "a moment": (
        "see you soon",
        [{"type": "date_time", "offset": 8, "length": 4, "unix_time": 1_790_000_000}],
        "see you soon (2026-09-21 14:13 UTC)",
    ),
    "a moment after all calendars": (
        "soon",
        [{"type": "date_time", "offset": 0, "length": 4, "unix_time": 2**52}],
        "soon",
    ),
    "half an emoji": ("🎉", [{"offset": 0, "length": 1, "url": "https://a.example/x"}], "🎉"),
    "beyond the end": ("short", [{"offset": 3, "length": 90, "url": "https://a.example/x"}], "short"),
    "no address": ("short", [{"offset": 0, "length": 5}], "short"),
    "no offset": ("short", [{"length": 5, "url": "https://a.example/x"}], "short"),
    "no entity": ("short", [], "short"),
}


@pytest.mark.parametrize(("text", "entities", "read"), LINKED.values(), ids=LINKED.keys())
@pytest.mark.parametrize("names", [("text", "entities"), ("caption", "caption_entities")])
def test_what_stands_behind_words_is_read_with_them(
    text: str, entities: list[Json], read: str, names: tuple[str, str]
) -> None:
    said, marked = names
    fields = {"text": None, said: text, marked: [{"type": "text_link", **entity} for entity in entities]}
    inbound = taken(**fields, **({} if said == "text" else {"photo": [FILE]}))
    assert inbound.text == read.format("https://a.example/x")


@pytest.mark.parametrize("entities", [None, 5, "x", [5, None], {"type": "text_link"}])
def test_entities_of_another_shape_change_nothing(entities: Any) -> None:
    assert linked_text("Hello", entities) == "Hello"


def test_a_forwarded_post_comes_with_the_addresses_of_its_links() -> None:
    link = {"type": "text_link", "offset": 0, "length": 4, "url": "https://a.example/x"}
    inbound = taken(text="here", entities=[link], forward_origin=HIDDEN)
    assert (inbound.text, inbound.origin) == ("here (https://a.example/x)", Origin.FORWARDED)


def test_a_command_keeps_its_argument() -> None:
    command = {"type": "bot_command", "offset": 0, "length": 6}
    link = {"type": "text_link", "offset": 7, "length": 4, "url": "https://a.example/x"}
    inbound = taken(text="/start here", entities=[command, link])
    assert inbound.command is not None
    assert (inbound.command.name, inbound.command.argument) == ("start", "here (https://a.example/x)")
