"""What is said in a Slack channel, as an ability gets it: who is meant, and whose words never come in."""

from typing import Any

import pytest

from channels.slack.messages import AppIdentity
from channels.slack.parse import Unhandled, parse
from core.messaging.messages import IgnoredMessage, IgnoreReason, InGroup
from tests.channels.slack.builders import APP, PERSON, TEAM, TS, envelope, message

OURS = AppIdentity(team=TEAM, app=APP, bot_user="U0BOT00001", bot_id="B0BOT00001")


def in_channel(**changes: Any) -> IgnoredMessage:
    parsed = parse(envelope(message(channel="C0GENERAL1", channel_type="channel", **changes)), OURS)
    assert isinstance(parsed, IgnoredMessage)
    return parsed


@pytest.mark.parametrize(
    ("changes", "addressed", "text"),
    [
        ({"text": "Hello all", "blocks": []}, False, "Hello all"),
        ({"text": "<@U0BOT00001> what is 6 * 7?", "blocks": []}, True, "what is 6 * 7?"),
        ({"text": "<@U0BOT000012> hi", "blocks": []}, False, "@U0BOT000012 hi"),
        ({"text": "and then?", "blocks": [], "thread_ts": TS, "parent_user_id": "U0BOT00001"}, True, "and then?"),
        ({"text": "<@U0BOT00001> pay", "blocks": [], "app_id": "A0OTHER001"}, False, "pay"),
    ],
)
def test_a_mention_or_a_reply_to_us_is_for_us(changes: dict[str, Any], addressed: bool, text: str) -> None:
    group = in_channel(**changes).group
    assert group is not None
    assert group.message is not None
    assert (group.addressed, group.message.text, group.message.sender) == (addressed, text, PERSON)


def test_somebody_of_another_workspace_is_ignored_even_by_a_mention() -> None:
    assert in_channel(text="<@U0BOT00001> hello", blocks=[], user_team="T0OTHER001").group is None
    assert in_channel(text="<@U0BOT00001> hello", blocks=[], user_team=TEAM).group is not None


def test_a_mention_is_ours_before_slack_told_us_who_we_are() -> None:
    event = message(channel="C0GENERAL1", channel_type="channel", text="<@U0BOT00001> hello", blocks=[])
    mention = parse(envelope(event), AppIdentity())
    assert isinstance(mention, IgnoredMessage)
    assert mention.group is not None
    assert mention.group.message is not None
    assert (mention.group.addressed, mention.group.message.text) == (True, "hello")
    joined = parse(
        envelope({"type": "member_joined_channel", "user": "U0BOT00001", "channel": "C0GENERAL1"}), AppIdentity()
    )
    assert isinstance(joined, IgnoredMessage)
    assert joined.group == InGroup("", inside=True)


@pytest.mark.parametrize("subtype", ["message_changed", "message_deleted"])
def test_an_edit_or_a_deletion_in_a_channel_is_ignored(subtype: str) -> None:
    inner = {"type": "message", "user": PERSON, "text": "<@U0BOT00001> pay", "ts": TS}
    changed = {"subtype": subtype, "user": None, "message": inner, "previous_message": inner, "deleted_ts": TS}
    assert in_channel(**changed).group is None


def test_bots_are_ignored_even_by_a_mention() -> None:
    ignored = in_channel(text="<@U0BOT00001> hello", blocks=[], bot_id="B0OTHER001", app_id="A0OTHER001")
    assert (ignored.reason, ignored.group) == (IgnoreReason.BOT, None)


@pytest.mark.parametrize(("kind", "inside"), [("member_joined_channel", True), ("member_left_channel", False)])
def test_our_own_coming_and_going_is_told_and_nobody_elses(kind: str, inside: bool) -> None:
    event = {"type": kind, "user": "U0BOT00001", "channel": "C0GENERAL1", "team": TEAM}
    parsed = parse(envelope(event), OURS)
    assert isinstance(parsed, IgnoredMessage)
    assert parsed.group == InGroup("", inside=inside)
    assert isinstance(parse(envelope(event | {"user": PERSON}), OURS), Unhandled)


def test_a_channels_new_name_is_told() -> None:
    parsed = parse(envelope({"type": "channel_rename", "channel": {"id": "C0GENERAL1", "name": "lunch"}}), OURS)
    assert isinstance(parsed, IgnoredMessage)
    assert (parsed.address.peer, parsed.group) == ("C0GENERAL1", InGroup("lunch"))
