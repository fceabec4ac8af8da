"""A mere thanks: answered by a reaction where the person wants it and the channel can, else like any other text."""

from collections.abc import AsyncIterator

import pytest

from abilities.reactions.thanks import Thanks
from core.messaging.capabilities import Reacting
from core.people.preferences import PreferenceStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says
from workbench.simulator.faults import FaultKind

CAN = {"slack": "+1", "telegram": "👍"}
"""The channels that can react, and the reaction as the provider names it."""
SET = {"slack": "slack.reactions.add", "telegram": "telegram.setMessageReaction"}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a system in which Ada has talked."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        thanks = Thanks({channel: system.delivery.channel.sender})
        system.options = {"services": {Thanks: lambda _tenant, _turn: thanks}}
        system.model = FakeModel([says("Hello.")])
        await system.say("hello")
        yield system


async def turn_on(system: Approving) -> None:
    """Turn the preference on, as /prefs does."""
    store = system.delivery.store
    await PreferenceStore(store.database).set(await store.db.person(), "thanks", "on")


async def thank(system: Approving, words: str) -> tuple[list[str], int]:
    """Let Ada thank; return the reactions to what she wrote, and how many answers she got."""
    before = len(system.delivery.channel.bubbles())
    system.model = FakeModel([says("You are welcome.")])
    await system.say(words)
    return system.delivery.channel.reactions(), len(system.delivery.channel.bubbles()) - before


async def test_it_is_answered_by_a_reaction_without_a_model_if_switched_on(system: Approving, channel: str) -> None:
    assert isinstance(system.delivery.channel.sender, Reacting) is (channel in CAN)
    await turn_on(system)
    if channel in CAN:
        assert await thank(system, "Thank you!! 🙏") == ([CAN[channel]], 0)
        assert system.model.requests == []
        assert await system.delivery.store.column("select reason from turns order by started_at desc limit 1") == [
            "reaction"
        ]
    else:
        assert await thank(system, "Thank you!! 🙏") == ([], 1)


@pytest.mark.parametrize("words", ["thanks", "gracias!", "Vielen Dank.", "merci beaucoup", "Obrigada", "谢谢！"])
async def test_it_is_understood_in_six_languages(database_url: str, words: str) -> None:
    async with open_approving(HARNESSES["telegram"], database_url, StandingClock()) as system:
        thanks = Thanks({"telegram": system.delivery.channel.sender})
        system.options = {"services": {Thanks: lambda _tenant, _turn: thanks}}
        system.model = FakeModel([says("Hello.")])
        await system.say("hello")
        await turn_on(system)
        assert await thank(system, words) == (["👍"], 0)


async def test_it_is_a_text_like_any_other_unless_switched_on(system: Approving) -> None:
    assert await thank(system, "thanks") == ([], 1)
    assert await system.delivery.store.column("select command from inbound where text = 'thanks'") == [None]


async def test_more_than_thanks_is_read_by_the_model(system: Approving) -> None:
    await turn_on(system)
    for words in ("thanks, and book it", "thanks for nothing", "no thanks"):
        assert (await thank(system, words))[1] == 1, words


async def test_it_is_answered_in_words_if_the_reaction_cannot_be_set(system: Approving, channel: str) -> None:
    await turn_on(system)
    if channel not in CAN:
        return
    system.delivery.channel.misbehave(FaultKind.SERVER_ERROR, times=5, endpoint=SET[channel])
    assert await thank(system, "thanks") == ([], 1)
