"""Lists and their undo over each channel, as each has the word: typed, by a slash, and from a menu."""

from collections.abc import AsyncIterator

import pytest

from agents import lists
from core.tools.tool import Tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import also_by_mail
from tests.core.builders import says, wants

TYPED = {"sms": ("UNDO", "Undo."), "slack": ("undo", "Undo."), "telegram": ("/undo", "undo")}


def fold_quotes(text: str) -> str:
    """Return a text with plain quotes, and without markup and empty lines, as SMS has them."""
    return text.replace("\n\n", "\n").translate({ord("“"): '"', ord("”"): '"', ord("\\"): None})


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a person with the tools of lists."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.more = [tool for tool in vars(lists).values() if isinstance(tool, Tool)]
        yield system


@also_by_mail
async def test_a_list_is_made_shown_ticked_off_and_undone(system: Approving, channel: str) -> None:
    system.model.script[:] = [
        wants(("add_to_list", {"list_name": "the shopping list", "items": ["milk", "eggs"]})),
        wants(("tick_off", {"items": ["milk"]})),
        wants(("show_list", {})),
        lambda request: says(request.messages[-1].text),
    ]
    await system.say("put milk and eggs on the shopping list; milk is done")
    assert fold_quotes(system.last()) == '"shopping":\n1. milk (done)\n2. eggs'
    first, second = TYPED.get(channel, ("undo", "undo"))
    await system.say(first)
    assert fold_quotes(system.last()) == 'Undone. "shopping":\n1. milk\n2. eggs'
    await system.say(second)
    assert fold_quotes(system.last()).startswith('That is undone already: Ticked off on "shopping": milk.')
    assert 'write "undo 1"' in fold_quotes(system.last())
    await system.say("undo 1")
    assert fold_quotes(system.last()) == 'Undone: the list "shopping" is gone.'
    assert system.model.script == []
