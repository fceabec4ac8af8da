"""Reactions in Telegram as our inbound types."""

from datetime import UTC, datetime
from typing import Any

import pytest

from channels.telegram.parse import BotIdentity, parse_update
from core.errors import RequestRefused
from core.messaging.inbound import Inbound, Reaction
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason
from tests.channels.telegram.builders import BOT_ID, PERSON, message, update

UP = {"type": "emoji", "emoji": "👍"}
DOWN = {"type": "emoji", "emoji": "👎"}
CUSTOM = {"type": "custom_emoji", "custom_emoji_id": "5"}


def changed(**changes: Any) -> Inbound:
    change = {
        "chat": message()["chat"],
        "message_id": 18,
        "user": message()["from"],
        "date": 1_790_000_000,
        "old_reaction": [],
        "new_reaction": [UP],
        **changes,
    }
    body = {name: value for name, value in change.items() if value is not None}
    return parse_update(update(message_reaction=body), BotIdentity(str(BOT_ID))).inbound


def test_a_reaction_names_its_message_and_its_change() -> None:
    assert changed() == Reaction(
        Address("telegram", str(BOT_ID), str(PERSON)),
        str(PERSON),
        ("update:501",),
        added=("👍",),
        message="18",
        at=datetime.fromtimestamp(1_790_000_000, UTC),
    )


@pytest.mark.parametrize(
    ("old", "new", "added", "removed"),
    [
        ([UP], [], (), ("👍",)),
        ([UP], [DOWN], ("👎",), ("👍",)),
        ([UP], [UP, DOWN], ("👎",), ()),
        ([CUSTOM], [UP], ("👍",), ()),
        ([], [CUSTOM], (), ()),
        ([], [{"type": "paid"}], (), ()),
        ([], [{"type": "emoji", "emoji": "❤️"}], ("❤",), ()),
    ],
)
def test_what_changed_is_what_is_told(old: list[Any], new: list[Any], added: Any, removed: Any) -> None:
    reaction = changed(old_reaction=old, new_reaction=new)
    assert isinstance(reaction, Reaction)
    assert (reaction.added, reaction.removed) == (added, removed)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"user": {"id": PERSON + 1, "is_bot": False, "first_name": "Eve"}}, IgnoreReason.REACTION),
        ({"user": {"id": PERSON, "is_bot": True, "first_name": "Bot"}}, IgnoreReason.BOT),
        ({"user": None, "actor_chat": {"id": -5, "type": "channel", "title": "Us"}}, IgnoreReason.REACTION),
        ({"chat": {"id": -100500, "type": "supergroup", "title": "Us"}}, IgnoreReason.GROUP),
    ],
)
def test_what_is_not_the_persons_in_their_chat_is_ignored(changes: Any, reason: IgnoreReason) -> None:
    ignored = changed(**changes)
    assert isinstance(ignored, IgnoredMessage)
    assert ignored.reason is reason


@pytest.mark.parametrize(
    "changes",
    [
        {"chat": None},
        {"message_id": "18"},
        {"user": "ada"},
        {"old_reaction": None},
        {"new_reaction": "👍"},
        {"new_reaction": [{"type": "emoji", "emoji": 7}]},
        {"date": True},
    ],
)
def test_an_odd_change_is_refused(changes: Any) -> None:
    with pytest.raises(RequestRefused):
        changed(**changes)
