"""All that a Slack message holds: its own words, also where they stand in no text, and what it points at.

Each row has the fields as Slack's client sends them, and the value with its reason.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from channels.slack.blocks import block_words
from channels.slack.kinds import ABOUT, HAPPENED, TYPED
from channels.slack.messages import AppIdentity, read_message
from core.messaging.chat_reader import chat_words
from core.messaging.messages import IgnoredMessage, IgnoreReason, InboundMessage, Media, Origin
from core.messaging.pointed import Pointed, Whose, unread
from core.replies import ONLY_TEXT_AND_FILES
from tests.channels.slack.builders import APP, DM, PERSON, TEAM, Obj, message

OURS = AppIdentity(team=TEAM, app=APP, bot_user="U0BOT00001", bot_id="B0BOT00001")
PNG = {
    "id": "F0FILE0001",
    "url_private": "https://files.slack.com/1",
    "mimetype": "image/png",
    "name": "a.png",
    "size": 7,
}
PICTURE = Media("https://files.slack.com/1", "image/png", "a.png", 7)
STUB = {"id": "F0CONNECT1", "created": 0, "mode": "file_access", "file_access": "check_file_info"}
STUBBED = Media("slack-file:F0CONNECT1", "")
OWN, ASSISTANT, OTHERS = Whose.OWN, Whose.ASSISTANT, Whose.OTHERS
UNREADABLE = "(something that cannot be shown here)"


def read(**changes: Any) -> InboundMessage | IgnoredMessage:
    return read_message(message(**changes), DM, OURS, direct=True)


def taken(**changes: Any) -> InboundMessage:
    inbound = read(**changes)
    assert isinstance(inbound, InboundMessage)
    return inbound


def rich(*pieces: Obj | str, kind: str = "rich_text_section") -> Obj:
    inner = [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in pieces]
    return {"type": "rich_text", "elements": [{"type": kind, "elements": inner}]}


def shared(**changes: Any) -> Obj:
    return {"is_share": True, "author_id": "U0EVE00001", "from_url": "https://t.slack.com/archives/C1/p1", **changes}


def held(*blocks: Obj, **more: Any) -> Obj:
    return {"message_blocks": [{"team": TEAM, "channel": "C1", "ts": "1.2", "message": {"blocks": [*blocks], **more}}]}


TABLE = {
    "type": "table",
    "rows": [
        [{"type": "raw_text", "text": "Hotel"}, {"type": "raw_text", "text": "90 €"}],
        [rich("Train\nto Rome"), rich({"type": "link", "url": "https://t.example", "text": "fares"})],
    ],
}
CELLS = "Hotel | 90 €\nTrain to Rome | fares (https://t.example)"
PASTED = {"id": 1, "blocks": [TABLE], "fallback": "[no preview available]"}

SHARES: dict[str, tuple[list[Obj], list[Pointed]]] = {
    # Named by reports.
    "one": ([shared(text="Noon &amp; not &lt;later&gt;")], [Pointed("Noon & not <later>", OTHERS)]),
    "two": ([shared(text="One"), shared(text="Two")], [Pointed("One", OTHERS), Pointed("Two", OTHERS)]),
    "with a file": ([shared(text="See this", files=[PNG])], [Pointed("See this", OTHERS, files=1)]),
    "a file alone": ([shared(files=[PNG], fallback="[no preview available]")], [Pointed("", OTHERS, files=1)]),
    "of blocks": ([shared(**held(rich("At noon")))], [Pointed("At noon", OTHERS)]),
    # Named by no report.
    "of text and a table": (
        [shared(text="Costs:", **held(rich("Costs:"), TABLE))],
        [Pointed(f"Costs:\n\n{CELLS}", OTHERS)],
    ),
    "their own": ([shared(text="Buy milk", author_id=PERSON)], [Pointed("Buy milk", OWN)]),
    "ours": ([shared(text="Shall I?", author_id="U0BOT00001")], [Pointed("Shall I?", ASSISTANT)]),
    "an app's": ([shared(text="Alert", author_id=None, bot_id="B0OTHER001")], [Pointed("Alert", OTHERS)]),
    "of fields": (
        [shared(pretext="Alert", title="Disk", fields=[{"title": "Used", "value": "97%"}])],
        [Pointed("Alert\nDisk\nUsed: 97%", OTHERS)],
    ),
    "by a link to a message": (
        [{"is_msg_unfurl": True, "author_id": "U0EVE00001", "text": "At noon"}],
        [Pointed("At noon", OTHERS)],
    ),
    "a file in the message that it holds": (
        [shared(**held(rich("This"), files=[PNG]), files=[PNG])],
        [Pointed("This", OTHERS, files=1)],
    ),
    "without anything that can be read": ([shared(fallback="[no preview available]")], [Pointed(UNREADABLE, OTHERS)]),
    # Whoever claims to be the person without being shared is not.
    "no share in the person's name": ([{"author_id": PERSON, "text": "yes"}], [Pointed("yes", OTHERS)]),
    # The page of a link: the person pointed at nothing but the link, which stands in the text.
    "a preview": ([{"from_url": "https://a.example", "title": "A", "text": "Page"}], []),
}


@pytest.mark.parametrize(("attachments", "points"), SHARES.values(), ids=SHARES.keys())
def test_what_is_shared_with_a_comment_comes_beside_the_persons_own_words(
    attachments: list[Obj], points: list[Pointed]
) -> None:
    inbound = taken(text="What about this?", attachments=attachments)
    assert (inbound.text, inbound.origin, inbound.points) == ("What about this?", Origin.OWN, tuple(points))
    assert len(inbound.pointed_media) == sum(point.files for point in points)
    assert inbound.media == ()


def test_files_of_the_person_and_of_what_they_share_are_kept_apart() -> None:
    theirs = {**PNG, "url_private": "https://files.slack.com/2", "subtype": "slack_audio"}
    inbound = taken(text="", files=[{**PNG, "subtype": "slack_audio"}], attachments=[shared(files=[theirs])])
    assert [media.voice for media in inbound.media] == [True]
    assert [(media.url, media.voice) for media in inbound.pointed_media] == [("https://files.slack.com/2", False)]
    assert inbound.origin is Origin.OWN


FORWARDED: dict[str, tuple[list[Obj], str, tuple[Media, ...]]] = {
    "its words": ([shared(text="One"), shared(**held(rich("Two")))], "One\n\nTwo", ()),
    "its file": ([shared(files=[PNG], fallback="[no preview available]")], "", (PICTURE,)),
    "a table of somebody's": ([shared(**held(TABLE))], CELLS, ()),
    "only a preview": ([{"from_url": "https://a.example", "title": "A", "text": "Page"}], "A\nPage", ()),
}


@pytest.mark.parametrize(("attachments", "text", "media"), FORWARDED.values(), ids=FORWARDED.keys())
def test_a_message_without_words_of_its_own_is_what_it_shares(
    attachments: list[Obj], text: str, media: tuple[Media, ...]
) -> None:
    inbound = taken(text="", attachments=attachments)
    assert (inbound.text, inbound.media, inbound.points, inbound.origin) == (text, media, (), Origin.FORWARDED)


TYPED_IN: dict[str, tuple[Obj, str]] = {
    # Named by reports.
    "a pasted table": ({"text": "Add these up", "attachments": [PASTED]}, f"Add these up\n\n{CELLS}"),
    "a table alone": ({"text": "", "attachments": [PASTED]}, CELLS),
    "a table among the blocks": ({"text": "Sum?", "blocks": [rich("Sum?"), TABLE]}, f"Sum?\n\n{CELLS}"),
    "blocks alone": ({"text": "", "blocks": [rich("Lunch on Friday?")]}, "Lunch on Friday?"),
    "blocks alone, with a text for phones": (
        {"text": "This content can't be displayed.", "blocks": [rich("Lunch?")]},
        "Lunch?",
    ),
    # Named by no report.
    "the text is not said twice": ({"text": "One &amp; two", "blocks": [rich("One & two")]}, "One & two"),
    "a section that the text has": (
        {"text": "*One* two", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "*One*  two"}}]},
        "*One* two",
    ),
    "a list and a quotation": (
        {
            "text": "",
            "blocks": [
                {
                    "type": "rich_text",
                    "elements": [
                        {
                            "type": "rich_text_list",
                            "style": "ordered",
                            "elements": [
                                {"type": "rich_text_section", "elements": [{"type": "text", "text": word}]}
                                for word in ("Milk", "Bread")
                            ],
                        },
                        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "To be\nor not"}]},
                    ],
                }
            ],
        },
        "1. Milk\n2. Bread\n> To be\n> or not",
    ),
    "people, a channel, an emoji and a date": (
        {
            "text": "",
            "blocks": [
                rich(
                    {"type": "user", "user_id": "U0EVE00001"},
                    " in ",
                    {"type": "channel", "channel_id": "C1"},
                    {"type": "emoji", "name": "wave", "unicode": "1f44b-1f3fd"},
                    {"type": "emoji", "name": "ours"},
                    {"type": "date", "timestamp": 1, "fallback": " Friday"},
                    {"type": "broadcast", "range": "here"},
                )
            ],
        },
        "@U0EVE00001 in #C1👋🏽:ours: Friday@here",
    ),
    "a block of the future": (
        {
            "text": "",
            "blocks": [{"type": "hologram", "scene": {"title": {"type": "plain_text", "text": "Hi &amp; bye"}}}],
        },
        "Hi & bye",
    ),
    "a table of numbers": (
        {
            "text": "",
            "blocks": [{"type": "data_table", "caption": "Costs", "rows": [[{"type": "raw_number", "value": 90}]]}],
        },
        "Costs\n90",
    ),
}


@pytest.mark.parametrize(("fields", "text"), TYPED_IN.values(), ids=TYPED_IN.keys())
def test_what_stands_in_no_text_is_read_as_the_persons_own(fields: Obj, text: str) -> None:
    inbound = taken(**fields)
    assert (inbound.text, inbound.origin, inbound.points) == (text, Origin.OWN, ())


@pytest.mark.parametrize(
    ("fields", "media"),
    [
        ({"files": [STUB]}, (STUBBED,)),
        # What a plan hides is asked for, so that it is told and not passed over.
        ({"files": [{"id": "F0HIDDEN01", "mode": "hidden_by_limit"}]}, (Media("slack-file:F0HIDDEN01", ""),)),
        ({"attachments": [shared(files=[STUB])]}, (STUBBED,)),
    ],
)
@pytest.mark.parametrize("text", ["", "And this?"])
def test_a_file_of_which_slack_tells_only_the_id_is_asked_for(fields: Obj, media: tuple[Media, ...], text: str) -> None:
    inbound = taken(text=text, **fields)
    assert (*inbound.media, *inbound.pointed_media) == media


UNREAD: dict[str, tuple[Obj, str]] = {
    "a share of nothing": ({"attachments": [shared(fallback="[no preview available]")]}, "attachment"),
    "a line": ({"blocks": [{"type": "divider"}]}, "divider"),
    "a block of nothing": ({"blocks": [{"type": "call", "call_id": "R1"}]}, "call"),
    "a file without an id": ({"files": [{"name": "a.png"}]}, "file"),
    "a piece of the future": ({"blocks": [rich({"type": "hologram"})]}, "rich_text"),
    "a field of the future": ({"hologram": {"of": "the future"}}, "hologram"),
    "a subtype of the future": ({"subtype": "a_newcomer", "text": "Hi"}, "a_newcomer"),
    "what an employer's keys hide": ({"subtype": "ekm_access_denied"}, "ekm_access_denied"),
}


@pytest.mark.parametrize(("fields", "kind"), UNREAD.values(), ids=UNREAD.keys())
def test_what_cannot_be_read_gets_a_sentence_for_its_kind(fields: Obj, kind: str) -> None:
    inbound = read(**{"text": "", **fields})
    assert isinstance(inbound, IgnoredMessage)
    assert (inbound.reason, inbound.reply, inbound.kind) == (IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES, kind)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"blocks": [rich("Look"), {"type": "call", "call_id": "R1"}]}, "call"),
        ({"files": [PNG, {"name": "a.png"}]}, "file"),
        ({"blocks": [{"type": "Tell Eve"}]}, "Tell Eve"),
    ],
)
def test_what_cannot_be_read_beside_words_is_told_to_the_model(fields: Obj, kind: str) -> None:
    inbound = taken(text="Look", **fields)
    assert (inbound.text, inbound.points) == ("Look", (unread(kind),))
    assert taken(text="Look", blocks=[rich("Look"), {"type": "divider"}]).points == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"text": " \n", "blocks": [rich(" \n")]},
        {"text": "", "files": [{"id": "F0FILE0001", "mode": "tombstone"}]},
        {"subtype": "channel_join"},
        {"subtype": "message_deleted", "user": None},
    ],
)
def test_where_nothing_was_said_nothing_is_answered(fields: Obj) -> None:
    inbound = read(**fields)
    assert isinstance(inbound, IgnoredMessage)
    assert inbound.reply == ""


def test_a_subtype_that_cannot_be_read_is_answered_in_direct_messages_only() -> None:
    inbound = read_message(message(subtype="a_newcomer"), DM, OURS, direct=False)
    assert isinstance(inbound, IgnoredMessage)
    assert inbound.reply == ""


def test_what_an_app_posts_in_the_persons_name_stays_the_apps() -> None:
    inbound = taken(text="", app_id="A0OTHER001", blocks=[rich("yes, do it")])
    assert (inbound.text, inbound.origin) == ("yes, do it", Origin.VIA_BOT)


def test_a_comment_is_a_command_whatever_it_is_about() -> None:
    message = taken(text="stop", attachments=[shared(text="Go on")])
    assert message.origin is Origin.OWN
    assert chat_words().read(message.text, "slack") is not None
    assert taken(text="Look", attachments=[shared(text="stop")]).command is None


def test_blocks_that_are_nested_beyond_reason_are_read_as_far_as_reason() -> None:
    block: Obj = {"type": "deep", "text": "bottom"}
    for _ in range(300):
        block = {"type": "deep", "text": "more", "blocks": [block]}
    assert "more" in block_words([block])
    element: Obj = {"type": "rich_text_list", "elements": [{"type": "rich_text_section", "elements": []}]}
    for _ in range(300):
        element = {"type": "rich_text_list", "elements": [element]}
    assert read(text="", blocks=[{"type": "rich_text", "elements": [element]}]).sender == PERSON


@pytest.mark.parametrize("odd", [5, "x", [5, None], [{"type": 5, "elements": 5, "rows": [5]}], {"type": "section"}])
def test_blocks_of_another_shape_cost_nothing_but_themselves(odd: Any) -> None:
    assert taken(text="Hi", blocks=odd, attachments=[shared(text="One", message_blocks=odd)]).text == "Hi"


def test_every_kind_of_block_of_a_message_gives_its_words() -> None:
    said = {"type": "plain_text", "text": "words"}
    blocks: dict[str, Obj] = {
        "actions": {"elements": [{"type": "button", "text": said}]},
        "context": {"elements": [{"type": "mrkdwn", "text": "words"}]},
        "context_actions": {"elements": [{"type": "feedback_buttons", "positive_button": {"text": said}}]},
        "header": {"text": said},
        "image": {"image_url": "https://a.example/1", "alt_text": "words"},
        "input": {"label": said, "element": {"type": "plain_text_input"}},
        "markdown": {"text": "words"},
        "rich_text": rich("words"),
        "section": {"fields": [{"type": "mrkdwn", "text": "words"}]},
        "table": {"rows": [[{"type": "raw_text", "text": "words"}]]},
        "card": {"title": said},
        "carousel": {"elements": [{"type": "card", "body": said}]},
        "plan": {"title": "words"},
        "task_card": {"task_id": "1", "details": rich("words")},
        "video": {"title": said, "video_url": "https://a.example/1", "alt_text": "words"},
    }
    for kind, fields in blocks.items():
        assert "words" in block_words([{"type": kind, **fields}]), kind


@pytest.mark.whole("it needs the providers' descriptions")
def test_no_field_of_a_message_that_slack_describes_is_met_with_silence() -> None:
    """A field tells of the message, or what is in it is read or answered; so is the next one."""
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS is not set: the providers' descriptions are elsewhere")
    described = json.loads((Path(folder) / "slack-web.openapi2.json").read_text())["definitions"]
    fields = set(described["objs_message"]["properties"])
    assert fields - ABOUT == {"comment", "file"}
    assert not HAPPENED & set(TYPED)
    for name in [*(fields - ABOUT), "the_next_field"]:
        inbound = read(text="", **{name: {"id": "F0FILE0001"}})
        assert (getattr(inbound, "reply", ""), getattr(inbound, "kind", "")) == (ONLY_TEXT_AND_FILES, name)
    filled: Obj = {"attachments": [{"id": 1, "fallback": "words"}], "blocks": [rich("words")], "files": [PNG]}
    for name, content in filled.items():
        assert isinstance(read(text="", **{name: content}), InboundMessage), name
    for name, rule in described["objs_message"]["properties"]["attachments"]["items"]["properties"].items():
        if rule["type"] == "string":
            inbound = read(text="", attachments=[{"id": 1, name: "words"}])
            assert isinstance(inbound, InboundMessage) or inbound.reply == ONLY_TEXT_AND_FILES, name
