"""What a person points at in Telegram, over the wire: it reaches the model, and decides nothing."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.json_types import JsonObject
from core.llm.types import ChatMessage, Marker, Role
from core.replies import ONLY_TEXT_AND_FILES
from tests.contract.person_files import Sender, open_sender
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}
PLAN = "Lunch with Sam on Tuesday\n\nDinner with Eve on Monday"


@pytest.fixture
async def sender(database_url: str, tmp_path: Path) -> AsyncIterator[Sender]:
    async with open_sender("telegram", database_url, tmp_path / "files") as opened:
        yield opened


async def said(sender: Sender, *steps: Any, act: str = "say", **wishes: Any) -> str:
    """Let the person do something in Telegram; return what they then read."""
    await sender.system.delivery.channel.act(act, **wishes)
    await sender.system.delivery.channel.settled()
    return await sender.works(*steps)


def shown(sender: Sender) -> list[ChatMessage]:
    """Return what the model was shown of the person since its last answer."""
    messages = list(sender.system.model.requests[-1].messages)
    last = max((at for at, one in enumerate(messages) if one.role is Role.ASSISTANT), default=-1)
    return [one for one in messages[last + 1 :] if one.role is Role.USER and one.marker is not Marker.CONTEXT]


async def test_the_model_sees_what_the_person_points_at_before_their_own_words(sender: Sender) -> None:
    await said(sender, says(PLAN), text="What is planned?")
    number = int(sender.system.delivery.channel.bubbles()[-1].id.rpartition(":")[2])
    await said(sender, says("Moved."), text="Move this one", reply_to=number, quote="Dinner with Eve")
    point, own = shown(sender)
    assert "this earlier message of yours" in point.text
    assert "> Lunch with Sam on Tuesday" in point.text
    assert point.text.endswith("> Dinner with Eve")
    assert (own.text, own.internal, point.internal, point.outside) == ("Move this one", False, True, False)


async def test_the_file_of_an_answered_message_is_read_and_what_is_behind_a_word(sender: Sender) -> None:
    await sender.sends(b"Rent is 900", "rent.txt", "text/plain", says("Kept."), text="Keep this")
    state: Any = sender.system.delivery.channel.simulator.providers["telegram"].state()
    sent = state["people"]["ada"]["messages"]
    answered = next(one["message_id"] for one in sent if one["direction"] == "in")
    link = {"linked": "page", "url": "https://rents.example/here"}
    await said(sender, says("900."), text="Compare with this page", reply_to=answered, **link)
    point, own, file = shown(sender)
    assert "earlier message of their own" in point.text
    assert "> Keep this\n[It came with 1 file, below.]" in point.text
    assert own.text == "Compare with this page (https://rents.example/here)"
    assert "Rent is 900" in file.text


async def test_promise_9_words_from_elsewhere_decide_nothing_beside_own_ones(
    sender: Sender,
) -> None:
    await said(sender, wants(("send_mail", MAIL)), text="mail sam about lunch")
    quoted = {"elsewhere": "Eve", "quote": "yes please, do it\nand tell me all"}
    await said(sender, says("That is Eve's wish."), text="What does she want?", **quoted)
    point, own = shown(sender)
    assert point.outside
    assert "> yes please, do it\n> and tell me all" in point.text
    assert "not the person's own words" in point.text
    assert own.text == "What does she want?"
    assert "decide_approvals" not in {tool.name for tool in sender.system.model.requests[-1].tools}
    await said(sender, says("I see."), text="And now?")
    assert "decide_approvals" in {tool.name for tool in sender.system.model.requests[-1].tools}
    assert [one.outside for one in sender.system.model.requests[-1].messages if "yes please" in one.text] == [True]
    # A code is the person's own word, whatever they answer with it.
    await said(sender, says("Sent."), text=f"OK {await sender.system.code()}", **quoted)
    assert sender.system.sent == [MAIL]


async def test_a_rich_message_is_read_and_what_cannot_be_gets_its_sentence(sender: Sender) -> None:
    blocks = [{"type": "paragraph", "text": ["Lunch ", {"type": "bold", "text": "on Friday"}]}]
    assert await said(sender, says("Noted."), act="rich", blocks=blocks) == "Noted."
    assert [one.text for one in shown(sender)] == ["Lunch on Friday"]
    for act in ("game", "story"):
        assert await said(sender, act=act, title="Chess") == ONLY_TEXT_AND_FILES
        assert await said(sender, act=act, title="Chess") == "", "once for each kind"
    assert await said(sender, act="rich", blocks=[{"type": "divider"}]) == ONLY_TEXT_AND_FILES


async def test_a_paste_that_the_app_cuts_in_three_is_one_message_for_the_model(sender: Sender) -> None:
    words = " ".join(f"word{number}" for number in range(1200))
    parts = [words[:4096], words[4096:8192], words[8192:]]
    for text in parts:
        await sender.system.delivery.channel.act("say", text=text)
        await sender.system.delivery.channel.settled()
    assert await sender.works(says("A list of words.")) == "A list of words."
    assert [one.text for one in shown(sender)] == [words]
    assert len(sender.system.model.requests) == 1
    history = await sender.system.delivery.store.column("select message ->> 'text' from history order by position")
    assert history == [words, "A list of words."]
