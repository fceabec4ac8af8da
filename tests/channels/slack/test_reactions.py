"""Slack's events about reactions as our inbound types."""

from typing import Any

import pytest

from channels.slack.messages import AppIdentity
from channels.slack.parse import Unhandled, parse
from core.errors import RequestRefused
from core.messaging.inbound import Reaction
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason
from tests.channels.slack.builders import APP, DM, PERSON, TEAM, TS, envelope

BOT = "U0BOT00001"
OURS = AppIdentity(team=TEAM, app=APP, bot_user=BOT, bot_id="B0BOT00001")
AT = "1794650007.000100"


def heard(**changes: Any) -> Any:
    event = {
        "type": "reaction_added",
        "user": PERSON,
        "reaction": "+1",
        "item_user": BOT,
        "item": {"type": "message", "channel": DM, "ts": TS},
        "event_ts": AT,
        **changes,
    }
    return parse(envelope({name: value for name, value in event.items() if value is not None}), OURS)


def test_a_reaction_names_its_message_and_has_two_keys() -> None:
    reaction = heard()
    assert isinstance(reaction, Reaction)
    assert (reaction.address, reaction.sender) == (Address("slack", TEAM, DM), PERSON)
    assert (reaction.added, reaction.removed, reaction.message) == (("👍",), (), TS)
    assert reaction.keys == ("event:Ev0EVENT001", f"reaction:reaction_added:{PERSON}:+1:{DM}:{TS}:{AT}")
    assert reaction.at is not None
    assert reaction.at.timestamp() == float(AT)


@pytest.mark.parametrize(
    ("name", "emoji"),
    [
        ("thumbsup", "👍"),
        ("+1::skin-tone-5", "👍"),
        ("thumbsdown", "👎"),
        ("heart", "❤"),
        ("party-parrot", ":party-parrot:"),
    ],
)
def test_a_name_is_its_emoji_where_it_means_something(name: str, emoji: str) -> None:
    assert heard(reaction=name).added == (emoji,)
    assert heard(type="reaction_removed", reaction=name).removed == (emoji,)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"user": BOT}, IgnoreReason.OWN),
        ({"user": None}, IgnoreReason.BOT),
        ({"bot_id": "B0OTHER001"}, IgnoreReason.BOT),
        ({"item": {"type": "message", "channel": "C0GENERAL1", "ts": TS}}, IgnoreReason.GROUP),
    ],
)
def test_what_is_no_persons_in_their_chat_is_ignored(changes: Any, reason: IgnoreReason) -> None:
    ignored = heard(**changes)
    assert isinstance(ignored, IgnoredMessage)
    assert ignored.reason is reason


def test_a_reaction_to_a_file_is_none_of_ours() -> None:
    assert heard(item={"type": "file", "file": "F0FILE0001"}) == Unhandled("reaction_added")


@pytest.mark.parametrize(
    "changes",
    [
        {"item": None},
        {"item": {"type": "message", "channel": DM}},
        {"reaction": ""},
        {"reaction": 7},
        {"event_ts": "now"},
    ],
)
def test_an_odd_event_is_refused(changes: Any) -> None:
    with pytest.raises(RequestRefused):
        heard(**changes)
