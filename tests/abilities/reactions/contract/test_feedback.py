"""Reactions to answers over every channel: kept as feedback, by the provider's order, without a model."""

from collections.abc import AsyncIterator

import pytest

from operations.paths.trace import trace
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a system that has answered Ada."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.model.script = [says("The dentist is at nine.")]
        await system.say("what is on today?")
        yield system


async def feedback(system: Approving) -> list[tuple[str, bool, bool | None]]:
    """Return what is kept, as (emoji, given, liked)."""
    rows = await system.delivery.store.admin.fetch("select emoji, given, liked from feedback order by emoji")
    return [(row["emoji"], row["given"], row["liked"]) for row in rows]


async def react(system: Approving, emoji: str, *, taken_back: bool = False) -> None:
    """Let Ada react to the answer."""
    answer = system.delivery.channel.bubbles()[0]
    await system.delivery.channel.reacted(answer, emoji, taken_back=taken_back)
    await system.work()


async def test_a_thumb_on_an_answer_is_kept_and_shown_in_its_turns_trace(system: Approving) -> None:
    asked = len(system.model.requests)
    await react(system, "👍")
    assert await feedback(system) == [("👍", True, True)]
    assert (len(system.model.requests), len(system.delivery.channel.bubbles())) == (asked, 1), "nobody is answered"
    turn = str(await system.delivery.store.one("select id from turns"))
    lines = [line for line in await trace(system.delivery.store.database, turn) if line["what"] == "reaction"]
    assert [line["emoji"] for line in lines] == ["👍"]
    inbound = str(await system.delivery.store.one("select id from inbound where reason = 'reaction: kept'"))
    assert any(line["what"] == "received" for line in await trace(system.delivery.store.database, inbound))


async def test_a_reaction_that_is_taken_back_is_no_feedback_any_more(system: Approving) -> None:
    await react(system, "👎")
    await react(system, "👎", taken_back=True)
    assert await feedback(system) == [("👎", False, False)]


async def test_promise_2_a_repeated_reaction_is_kept_once(system: Approving) -> None:
    channel = system.delivery.channel
    await react(system, "👍")
    told = channel.told[-1]
    for _ in range(2):
        assert await channel.post(channel.signed(told)) == 200
    assert await system.delivery.store.one("select count(*) from inbound where reason = 'reaction: kept'") == 1


async def test_feedback_survives_answers_that_are_lost(channel: str, database_url: str) -> None:
    async with open_approving(HARNESSES[channel], database_url, StandingClock(), twice=True) as system:
        system.model.script = [says("The dentist is at nine.")]
        await system.say("what is on today?")
        await react(system, "👍")
        assert await feedback(system) == [("👍", True, True)]
