"""The contract of what one answer may ask a person to approve: a handful at once, and nothing that cannot be shown."""

from collections.abc import AsyncIterator

import pytest

from core.json_types import JsonObject
from core.llm.types import ModelAnswer
from core.loop.config import ReactLoopConfig
from core.replies import TOO_LONG_TO_APPROVE
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants

MANY = 60


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield an system that asks for approval on each channel."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as opened:
        yield opened


def mails(first: int, behind: int) -> ModelAnswer:
    """Ask for mails in one answer, each to somebody else."""
    asked: list[JsonObject] = [{"to": f"p{number}@example.com", "subject": "Hi"} for number in range(first, behind)]
    return wants(*(("send_mail", arguments) for arguments in asked))


async def test_promise_9_60_approvals_in_one_answer_are_asked_a_handful_at_once(system: Approving) -> None:
    system.model.script = [mails(0, MANY), mails(4, 6), says("All is sent.")]
    await system.say("mail everybody")
    assert await system.states() == ["pending"] * 4
    cards = [bubble for bubble in system.delivery.channel.bubbles() if "send mail" in bubble.text]
    assert len(cards) == 4
    # Each shows its own action in full, in the order of the calls.
    assert [f"p{number}@example.com" in card.text for number, card in enumerate(cards)] == [True] * 4

    await system.say("OK ALL")
    results = system.model.told()
    assert len(results) == ReactLoopConfig().max_calls_per_answer + 1
    assert results[0] == "Sent to p0@example.com."
    assert all(result.startswith("Not asked for: at most 4 actions") for result in results[4:24])
    # What the model asks for next has a card of its own, and nothing ran without one.
    assert sorted(map(str, await system.states())) == ["approved"] * 4 + ["pending"] * 2
    await system.say("OK ALL")
    assert [mail["to"] for mail in system.sent] == [f"p{number}@example.com" for number in range(6)]
    assert system.last() == "All is sent."


async def test_promise_9_a_changed_action_is_shown_again_next_to_a_full_batch(system: Approving) -> None:
    system.model.script = [mails(0, 5)]
    await system.say("mail everybody")
    codes = await system.delivery.store.db.approvals.column("code", order="created_at")
    edit: JsonObject = {"code": str(codes[0]), "decision": "edit", "changes": {"subject": "Hello"}}
    system.model.script = [wants(("decide_approvals", {"decisions": [edit]}))]
    await system.say(f"{codes[0]}: make the subject Hello")
    assert (await system.states()).count("pending") == 4
    assert "Hello" in system.last()


async def test_promise_9_what_cannot_be_shown_in_full_is_refused_to_the_model(system: Approving) -> None:
    long = wants(("send_mail", {"to": "sam@example.com", "subject": "Book", "body": "word " * 20_000}))
    system.model.script = [long, says("That is too long to be approved here.")]
    system.channels = {system.delivery.channel.name: system.delivery.channel.sender}
    await system.say("mail the book")
    assert await system.states() == []
    assert system.model.told() == [TOO_LONG_TO_APPROVE]
    assert system.last() == "That is too long to be approved here."
    assert system.sent == []
