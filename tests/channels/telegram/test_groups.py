"""What is said in a Telegram group, as an ability gets it: who is meant, and by which words."""

from typing import Any

import pytest

from channels.telegram.parse import BotIdentity, parse_update
from core.messaging.messages import IgnoredMessage, IgnoreReason, InGroup
from tests.channels.telegram.builders import BOT_ID, PERSON, membership, message, update

BOT = BotIdentity(str(BOT_ID), "simulator_valet_bot")
GROUP = {"id": -100500, "type": "supergroup", "title": "Us"}
OURS = {"message_id": 3, "date": 1, "chat": GROUP, "from": {"id": BOT_ID, "is_bot": True, "first_name": "V"}}


def in_group(**changes: Any) -> InGroup:
    inbound = parse_update(update(message=message(chat=GROUP, **changes)), BOT).inbound
    assert isinstance(inbound, IgnoredMessage)
    assert inbound.group is not None
    return inbound.group


def slash(text: str) -> dict[str, Any]:
    return {"text": text, "entities": [{"type": "bot_command", "offset": 0, "length": len(text.split()[0])}]}


@pytest.mark.parametrize(
    ("changes", "addressed", "text"),
    [
        ({"text": "Hello all"}, False, "Hello all"),
        ({"text": "@simulator_valet_bot, what is 6 * 7?"}, True, "what is 6 * 7?"),
        ({"text": "what is it, @Simulator_Valet_Bot?"}, True, "what is it, ?"),
        ({"text": "@simulator_valet_bottle is another"}, False, "@simulator_valet_bottle is another"),
        ({"text": "mail ann@simulator_valet_bot"}, False, "mail ann@simulator_valet_bot"),
        ({"text": "and then?", "reply_to_message": OURS}, True, "and then?"),
        (slash("/new@simulator_valet_bot"), True, "/new@simulator_valet_bot"),
        (slash("/new"), True, "/new"),
        (slash("/new@other_bot"), False, "/new@other_bot"),
        (slash("/roll"), False, "/roll"),
        ({"text": "@simulator_valet_bot pay", "forward_date": 1}, False, "pay"),
    ],
)
def test_a_mention_a_reply_or_a_command_of_ours_is_for_us(changes: dict[str, Any], addressed: bool, text: str) -> None:
    group = in_group(**changes)
    assert group.message is not None
    assert (group.addressed, group.message.text) == (addressed, text)
    assert (group.title, group.message.sender, group.message.address.peer) == ("Us", str(PERSON), "-100500")


def test_a_new_title_comes_without_words() -> None:
    assert in_group(text=None, new_chat_title="Us two") == InGroup("Us")


@pytest.mark.parametrize(("status", "inside"), [("member", True), ("administrator", True), ("kicked", False)])
def test_our_own_coming_and_going_is_told(status: str, inside: bool) -> None:
    inbound = parse_update(membership(status, "group"), BOT).inbound
    assert isinstance(inbound, IgnoredMessage)
    assert (inbound.reason, inbound.group and inbound.group.inside) == (IgnoreReason.GROUP, inside)
