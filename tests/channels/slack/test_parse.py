"""From payloads to inbound types, without any provider."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.slack.body import decode_body
from channels.slack.interactions import Gesture
from channels.slack.messages import AppIdentity
from channels.slack.parse import HomeOpened, SlashCommand, Unhandled, parse
from channels.slack.text import typed_text
from channels.slack.verify import is_signed, sign
from core.errors import RequestRefused
from core.messaging.chat_reader import chat_words
from core.messaging.inbound import Amendment
from core.messaging.messages import Address, Command, IgnoredMessage, IgnoreReason, InboundMessage, Media
from tests.channels.slack.builders import APP, DM, PERSON, TEAM, TS, command, envelope, message, press, submission

OURS = AppIdentity(team=TEAM, app=APP, bot_user="U0BOT00001", bot_id="B0BOT00001")
UNKNOWN = AppIdentity()


def heard(**changes: Any) -> Any:
    return parse(envelope(message(**changes)), OURS)


@pytest.mark.parametrize("ours", [OURS, UNKNOWN], ids=["team known", "team unknown"])
def test_promise_2_a_message_carries_all_its_keys_and_its_conversation(ours: AppIdentity) -> None:
    parsed = parse(envelope(), ours)
    assert isinstance(parsed, InboundMessage)
    assert parsed.keys == ("event:Ev0EVENT001", "client:7a1e8ad8-4b4b-4b4b-8b8b-2f2f2f2f2f2f", f"ts:{DM}:{TS}")
    assert parsed.address == Address("slack", TEAM, DM)
    assert parsed.sent_at is not None
    assert (parsed.sent_at.timestamp(), parsed.provider_id) == (float(TS), TS)


def test_a_thread_is_named_by_its_root_never_by_a_reply() -> None:
    assert heard(ts="1794650009.000100", thread_ts=TS).address.thread == TS
    assert heard(thread_ts=TS).address.thread == ""
    assert heard(thread_ts="1794640000.000100", subtype="thread_broadcast").address.thread == "1794640000.000100"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bot_id": "B0BOT00001", "user": "U0BOT00001"}, IgnoreReason.OWN),
        ({"user": "U0BOT00001"}, IgnoreReason.OWN),
        ({"app_id": APP, "bot_id": "B0OTHER001"}, IgnoreReason.OWN),
        ({"bot_id": "B0OTHER001", "app_id": "A0OTHER001"}, IgnoreReason.BOT),
        ({"subtype": "bot_message", "user": None}, IgnoreReason.BOT),
        ({"user": "USLACKBOT"}, IgnoreReason.BOT),
        ({"subtype": "message_changed", "user": None, "message": {"user": PERSON}}, IgnoreReason.EDITED),
        ({"subtype": "message_changed", "user": None, "message": {"bot_id": "B0BOT00001"}}, IgnoreReason.OWN),
        (
            {
                "subtype": "message_deleted",
                "user": None,
                "deleted_ts": TS,
                "previous_message": {"bot_id": "B0OTHER001"},
            },
            IgnoreReason.BOT,
        ),
        (
            {"subtype": "message_deleted", "user": None, "deleted_ts": TS, "previous_message": {"user": "U0BOT00001"}},
            IgnoreReason.OWN,
        ),
        (
            {
                "subtype": "message_deleted",
                "user": None,
                "deleted_ts": TS,
                "channel": "C0GENERAL1",
                "channel_type": "channel",
            },
            IgnoreReason.GROUP,
        ),
        ({"subtype": "channel_join"}, IgnoreReason.UNSUPPORTED),
        ({"subtype": "a_newcomer"}, IgnoreReason.UNSUPPORTED),
        ({"text": " \n"}, IgnoreReason.EMPTY),
        ({"text": None}, IgnoreReason.EMPTY),
        ({"channel": "C0GENERAL1", "channel_type": "channel"}, IgnoreReason.GROUP),
        ({"channel": "G0GROUP001", "channel_type": "mpim"}, IgnoreReason.GROUP),
        ({"channel": "C0GENERAL1", "channel_type": None}, IgnoreReason.GROUP),
    ],
)
def test_promise_6_what_is_not_answered_says_why(changes: dict[str, Any], reason: IgnoreReason) -> None:
    parsed = heard(**changes)
    assert isinstance(parsed, IgnoredMessage)
    assert (parsed.reason, parsed.keys[0]) == (reason, "event:Ev0EVENT001")


LATER = "1794650060.000200"


def written(text: str = "Dinner?", **changes: Any) -> dict[str, Any]:
    """Return a message as it is after its author has changed it; None removes a field."""
    return message(
        text=text, **{"edited": {"user": PERSON, "ts": LATER}, "channel": None, "channel_type": None, **changes}
    )


def changed(record: dict[str, Any] | None = None, **changes: Any) -> Any:
    event = {
        "subtype": "message_changed",
        "user": None,
        "text": None,
        "client_msg_id": None,
        "hidden": True,
        "ts": LATER,
    }
    return heard(
        **{**event, "message": written() if record is None else record, "previous_message": message(), **changes}
    )


def test_an_edit_names_the_message_it_changes_and_has_keys_of_its_own() -> None:
    first, change = heard(), changed()
    assert isinstance(change, Amendment)
    assert change.message is not None
    assert (change.message.text, change.message.provider_id) == ("Dinner?", first.provider_id)
    assert (change.address, change.sender, change.sent_at) == (first.address, PERSON, first.sent_at)
    assert change.keys == ("event:Ev0EVENT001", f"edit:{DM}:{TS}:{LATER}")
    assert change.of == tuple(key for key in first.keys if key != "event:Ev0EVENT001")
    assert change.changed_at.timestamp() == float(LATER)


def test_an_edit_in_a_thread_stays_in_its_thread() -> None:
    assert changed(written(thread_ts="1794640000.000100")).address.thread == "1794640000.000100"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (written(edited=None), IgnoreReason.EDITED),
        (written(edited={"user": "U0ADMIN001", "ts": LATER}), IgnoreReason.EDITED),
        (written(text="", subtype="channel_topic"), IgnoreReason.EDITED),
        (written(bot_id="B0OTHER001"), IgnoreReason.BOT),
        (written(user="U0BOT00001"), IgnoreReason.OWN),
        (written(text=" "), IgnoreReason.EDITED),
    ],
)
def test_promise_6_what_its_author_did_not_write_anew_is_no_edit(record: dict[str, Any], reason: IgnoreReason) -> None:
    change = changed(record)
    assert isinstance(change, IgnoredMessage)
    assert (change.reason, change.reply, change.keys) == (reason, "", ("event:Ev0EVENT001",))


@pytest.mark.parametrize(
    "event",
    [
        {"subtype": "message_deleted", "deleted_ts": TS, "previous_message": message(), "event_ts": LATER},
        {"subtype": "message_changed", "message": {"subtype": "tombstone", "user": "USLACKBOT", "ts": TS},
         "previous_message": message(), "event_ts": LATER},
    ],
    ids=["deleted", "deleted with replies"],
)  # fmt: skip
def test_a_deletion_names_the_message_that_is_gone(event: dict[str, Any]) -> None:
    first, gone = heard(), heard(**{"user": None, "text": None, "client_msg_id": None, "ts": LATER, **event})
    assert isinstance(gone, Amendment)
    assert (gone.message, gone.sender, gone.address, gone.keys) == (None, PERSON, first.address, ("event:Ev0EVENT001",))
    assert gone.of == tuple(key for key in first.keys if key != "event:Ev0EVENT001")
    assert (gone.changed_at.timestamp(), gone.sent_at) == (float(LATER), first.sent_at)


def test_a_deletion_without_the_deleted_message_has_no_sender() -> None:
    gone = heard(subtype="message_deleted", deleted_ts=TS, user=None, text=None, client_msg_id=None)
    assert isinstance(gone, Amendment)
    assert (gone.sender, gone.of) == ("", (f"ts:{DM}:{TS}",))


def test_an_edit_has_only_its_own_key_so_that_it_hides_no_message() -> None:
    assert heard(subtype="message_changed", message={}).keys == ("event:Ev0EVENT001",)


def test_a_mention_in_a_channel_is_told_where_to_write_and_its_twin_is_not() -> None:
    mention = heard(type="app_mention", channel="C0GENERAL1", channel_type=None)
    twin = heard(channel="C0GENERAL1", channel_type="channel")
    assert "direct message" in mention.reply
    assert twin.reply == ""
    assert set(mention.keys) & set(twin.keys)


def test_another_team_or_app_is_not_ours() -> None:
    for body in (envelope(team_id="T0OTHER001"), envelope(api_app_id="A0OTHER001")):
        parsed = parse(body, OURS)
        assert isinstance(parsed, IgnoredMessage)
        assert (parsed.reason, parsed.address.account) == (IgnoreReason.OTHER_ACCOUNT, TEAM)
    for other in (command(team_id="T0OTHER001"), press(team={"id": "T0OTHER001"}), submission(api_app_id="A0OTHER1")):
        parsed = parse(other, OURS)
        assert isinstance(parsed, IgnoredMessage)
        assert parsed.reason is IgnoreReason.OTHER_ACCOUNT
    assert isinstance(parse(envelope(team_id="T0OTHER001"), UNKNOWN), InboundMessage)


def test_files_are_kept_as_references() -> None:
    file = {"url_private": "https://files.slack.com/1", "mimetype": "image/png", "name": "a.png", "size": 7}
    gone = {"id": "F2", "mode": "tombstone"}
    parsed = heard(subtype="file_share", text="", files=[file, gone])
    assert parsed.media == (Media("https://files.slack.com/1", "image/png", "a.png", 7),)


def test_a_passed_on_message_is_what_it_quotes() -> None:
    assert heard(text="", attachments=[{"text": "See you at &lt;noon&gt;", "is_share": True}]).text == (
        "See you at <noon>"
    )


@pytest.mark.parametrize(("text", "name"), [("new", "new"), (" HALT ", "stop"), ("Stop", "stop")])
def test_the_words_alone_are_commands(text: str, name: str) -> None:
    assert chat_words().read(heard(text=text).text, "slack") == Command(name)
    assert chat_words().read(heard(text=f"{text} it all").text, "slack") is None


@pytest.mark.parametrize(
    ("text", "content", "word"),
    [
        ("new", "/valet new", "new"),
        (" STOP ", "/valet stop", "stop"),
        ("", "/valet help", "help"),
        ("buy <milk> & tea", "buy <milk> & tea", None),
        ("new socks", "new socks", None),
    ],
)
def test_the_slash_command(text: str, content: str, word: str | None) -> None:
    parsed = parse(command(text=text), OURS)
    assert isinstance(parsed, SlashCommand)
    assert (parsed.message.text, parsed.message.command) == (content, Command(word) if word else None)
    assert parsed.message.keys == ("trigger:11.22.abc",)


def test_a_press_is_one_of_its_conversation() -> None:
    container = {"message_ts": TS, "channel_id": DM, "thread_ts": "1794640000.000100"}
    parsed = parse(press(container=container), OURS)
    assert isinstance(parsed, Gesture)
    pressed = parsed.press
    assert (pressed.address, pressed.sender) == (Address("slack", TEAM, DM, "1794640000.000100"), PERSON)
    assert pressed.keys == (f"action:1794650001.000200:{PERSON}:choice_0",)
    assert (pressed.token, pressed.provider_id, pressed.entered, parsed.trigger_id) == ("tok_1", TS, None, "1.2.3")


def test_a_press_in_the_home_names_no_conversation() -> None:
    parsed = parse(press(container={"type": "view", "view_id": "V1"}, team=None), OURS)
    assert isinstance(parsed, Gesture)
    assert (parsed.press.address.peer, parsed.press.provider_id, parsed.press.token) == ("", None, "tok_1")


BUTTON = {"type": "button", "action_id": "choice_0", "value": "tok_1", "action_ts": TS}


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (press(actions=[BUTTON | {"action_id": "approve"}]), IgnoreReason.UNSUPPORTED),
        (press(actions=[BUTTON | {"value": None}]), IgnoreReason.UNSUPPORTED),
        (press(actions=[BUTTON | {"value": "x" * 65}]), IgnoreReason.UNSUPPORTED),
        (press(actions=[BUTTON | {"value": "to\x00k"}]), IgnoreReason.UNSUPPORTED),
        (
            press(actions=[BUTTON | {"type": "static_select", "value": None, "selected_option": {"value": "tok_1"}}]),
            IgnoreReason.UNSUPPORTED,
        ),
        (press(container={"message_ts": TS, "channel_id": "C0GENERAL1"}), IgnoreReason.GROUP),
        (press(container={"message_ts": TS, "channel_id": "G0PRIVATE1"}), IgnoreReason.GROUP),
        (submission(view=submission()["view"] | {"callback_id": "edit"}), IgnoreReason.UNSUPPORTED),
        (submission(view=submission()["view"] | {"private_metadata": ""}), IgnoreReason.UNSUPPORTED),
    ],
)
def test_promise_6_a_gesture_that_is_no_button_or_form_of_ours_is_ignored(payload: Any, reason: IgnoreReason) -> None:
    parsed = parse(payload, OURS)
    assert isinstance(parsed, IgnoredMessage)
    assert (parsed.reason, parsed.sender) == (reason, PERSON)


def test_a_sent_form_is_a_press_with_what_was_entered() -> None:
    view = submission()["view"]
    values = {
        "when": {"when": {"type": "plain_text_input", "value": "3pm"}},
        "note": {"note": {"type": "plain_text_input", "value": None}},
        "seat": {"seat": {"type": "static_select", "selected_option": {"value": "window"}}},
        "meal": {"meal": {"type": "static_select", "selected_option": None}},
    }
    parsed = parse(submission(view=view | {"state": {"values": values}}), OURS)
    assert isinstance(parsed, Gesture)
    sent = parsed.press
    assert (sent.address, sent.sender) == (Address("slack", TEAM, ""), PERSON)
    assert (sent.keys, sent.token) == (("view:V0VIEW0001:1794650000.abcdef",), "tok_2")
    assert sent.entered == (("when", "3pm"), ("note", ""), ("seat", "window"), ("meal", ""))


def test_opening_the_app_and_unknown_kinds() -> None:
    opened = {"type": "app_home_opened", "user": PERSON, "tab": "home"}
    assert parse(envelope(opened), OURS) == HomeOpened(PERSON, "home", TEAM)
    assert parse(envelope({"type": "pin_added"}), OURS) == Unhandled("pin_added")
    assert parse({"type": "shortcut"}, OURS) == Unhandled("shortcut")


@pytest.mark.parametrize(
    ("escaped", "typed"),
    [
        ("a &amp;lt; b", "a &lt; b"),
        ("1 &lt; 2 &gt; 0 &amp;&amp; x", "1 < 2 > 0 && x"),
        ("see <https://example.com>", "see https://example.com"),
        ("see <http://example.com|example.com>", "see example.com"),
        ("see <http://evil.example/x|example.com>", "see example.com (http://evil.example/x)"),
        ("<mailto:a@b.co|a@b.co> or <tel:+1555|+1555>", "a@b.co or +1555"),
        ("<https://x.io/a?b=1&amp;c=2>", "https://x.io/a?b=1&c=2"),
        ("<@U123|ada> and <@U456> in <#C1|general>, <!here>", "@ada and @U456 in #general, @here"),
        ("<!date^1^{date}|Friday>", "Friday"),
    ],
)
def test_text_is_given_as_typed(escaped: str, typed: str) -> None:
    assert typed_text(escaped) == typed


@given(st.text())
def test_what_slack_escapes_comes_back(typed: str) -> None:
    assert typed_text(typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")) == typed


@given(st.binary(max_size=200), st.text(max_size=30) | st.none(), st.text(max_size=80) | st.none())
def test_promise_12_the_check_of_signatures_never_raises(body: bytes, stamp: str | None, given_: str | None) -> None:
    assert not is_signed("secret", body, stamp, given_, 1794650000.0)


@given(st.binary(max_size=200))
def test_a_right_signature_of_any_bytes_is_right(body: bytes) -> None:
    assert is_signed("secret", body, "1794650000", sign("secret", body, "1794650000"), 1794650299.0)
    assert not is_signed("secret", body, "1794650000", sign("secret", body, "1794650000"), 1794650301.0)
    assert not is_signed("", body, "1794650000", sign("", body, "1794650000"), 1794650000.0)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_BODIES = (envelope, press, submission, command)


@given(st.sampled_from(_BODIES), st.data())
def test_promise_12_a_corrupt_payload_is_parsed_or_refused_without_a_crash(make: Any, data: Any) -> None:
    body = make()
    name = data.draw(st.sampled_from(sorted(body)))
    inner = body[name]
    if isinstance(inner, dict) and data.draw(st.booleans()):
        inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(_json)
    else:
        body[name] = data.draw(_json)
    with suppress(RequestRefused):
        parse(body, OURS)


@given(st.binary(max_size=300), st.sampled_from(["application/json", "application/x-www-form-urlencoded"]))
def test_promise_12_any_bytes_are_decoded_or_refused(raw: bytes, kind: str) -> None:
    with suppress(RequestRefused):
        decode_body(raw, kind)
