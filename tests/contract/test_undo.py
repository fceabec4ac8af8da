"""Lists and their undo over each channel, as each has the word: typed, by a slash, and from a menu."""

from collections.abc import AsyncIterator

import pytest

from abilities.lists import lists
from agents import person
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from core.tools.tool import Tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import also_by_mail
from tests.core.builders import says, wants
from tests.core.credentials.harness import new_key, store_with

TYPED = {"sms": ("UNDO", "Undo."), "slack": ("undo", "Undo."), "telegram": ("/undo", "undo")}


def fold_quotes(text: str) -> str:
    """Return a text with plain quotes, and without markup and empty lines, as SMS has them."""
    return text.replace("\n\n", "\n").translate({ord("“"): '"', ord("”"): '"', ord("\\"): None})


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a person with the tools of lists."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        rooms = (lists, person)
        system.more = [tool for room in rooms for tool in vars(room).values() if isinstance(tool, Tool)]
        store = system.delivery.store
        people = People(store.database, store.make_id, system.clock)
        linking = Linking(store.database, store_with(store.database, new_key()), store.make_id)
        system.people, system.options["people"] = PersonCommands(linking, people), people
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
    assert fold_quotes(system.last()).startswith('That has been undone already: Ticked off on "shopping": milk.')
    assert 'write "undo A"' in fold_quotes(system.last())
    await system.say("undo A")
    assert fold_quotes(system.last()) == 'Undone: the list "shopping" is gone.'
    assert system.model.script == []


async def test_a_preference_set_by_a_word_is_undone_by_a_word(system: Approving, channel: str) -> None:
    zone = "select timezone from tenants"
    system.model.script[:] = [says("Hello.")]
    await system.say("hello")
    before = await system.delivery.store.one(zone)  # Slack tells one
    await system.say("PREFS timezone Lisbon")
    await system.say("PREFS timezone Rome")
    await system.say(TYPED.get(channel, ("undo", ""))[0])
    assert fold_quotes(system.last()) == "Undone. It is again as it was: timezone: Europe/Lisbon."
    await system.say("undo A")
    assert await system.delivery.store.one(zone) == before
    assert len(system.model.requests) == 1, "the model is asked about the greeting only"
