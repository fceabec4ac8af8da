"""Notes, memories and calendars of a household over every channel: what is said for all, all have, and nobody else."""

from collections.abc import AsyncIterator

import pytest

from abilities.lists import shared_notes
from abilities.memory import shared_tools
from abilities.memory.momex import Momex
from core.tools.tool import Tool
from tests.abilities.household.living import Living
from tests.abilities.memory.harness import make_momex
from tests.contract.email_harness import also_by_mail
from tests.core.builders import FakeModel, says

_MODULES = (shared_notes, shared_tools)


@pytest.fixture
async def home(system: Living) -> AsyncIterator[Living]:
    """Yield the assistant of Ada and Grace, who live together, and of Lena, who does not."""
    momex = make_momex(system.delivery.store.database)
    system.more += [tool for module in _MODULES for tool in vars(module).values() if isinstance(tool, Tool)]
    system.options["momex"] = momex
    await system.delivery.store.db.tenants.change({"language": "en", "language_from": ""})
    await system.ask("household create Rose Cottage")
    await system.joins("grace")
    yield system
    await momex.close()


async def recalled(home: Living, person: str, question: str) -> str:
    """Return all that the model reads when somebody asks something."""
    home.model = FakeModel([says("Let me see.")])
    await home.ask(question, person)
    return "\n".join(message.text for request in home.model.requests for message in request.messages)


@also_by_mail
async def test_a_note_for_all_is_read_and_forgotten_by_any_of_them(home: Living) -> None:
    noted = await home.call("ada", "add_shared_note", text="The plumber is Mr. Rossi.")
    assert noted == "Noted for “Rose Cottage” as number 1: The plumber is Mr. Rossi."
    shown = await home.call("grace", "show_shared_notes")
    assert "1. The plumber is Mr. Rossi." in shown
    assert "written by others" in shown
    assert "There are no shared notes." in await home.call("lena", "show_shared_notes")
    assert "You share no notes" in await home.call("lena", "add_shared_note", text="Mine.")
    gone = await home.call("grace", "forget_shared_note", number=1)
    assert "Rossi" not in gone
    assert "There are no shared notes." in await home.call("ada", "show_shared_notes")
    assert "number 1" not in await home.call("grace", "forget_shared_note", number=7)
    await home.ask("undo", "grace")
    assert "1. The plumber is Mr. Rossi." in await home.call("ada", "show_shared_notes")


@also_by_mail
async def test_what_is_remembered_for_all_is_recalled_for_each(home: Living) -> None:
    said = await home.call("ada", "remember_for_us", statement="The spare key is with Mrs Lindqvist.")
    assert said == "Remembered for “Rose Cottage”: The spare key is with Mrs Lindqvist."
    for person in ("ada", "grace"):
        read = await recalled(home, person, "who has the spare key?")
        # What one said is no statement of the other's.
        assert 'outside content said: "The spare key is with Mrs Lindqvist."' in read
    assert "Lindqvist" not in await recalled(home, "lena", "who has the spare key?")
    shown = await home.call("grace", "list_shared_memories")
    assert "1. The spare key is with Mrs Lindqvist." in shown
    assert "one of you told me" in shown
    assert "You share no memory" in await home.call("lena", "list_shared_memories")


async def test_what_is_remembered_for_all_is_taken_back_by_who_said_it(home: Living) -> None:
    await home.call("ada", "remember_for_us", statement="The spare key is with Mrs Lindqvist.")
    await home.ask("undo")
    assert "Lindqvist" not in await recalled(home, "grace", "who has the spare key?")
    assert "I remember nothing" in await home.call("grace", "list_shared_memories")


async def test_what_is_remembered_for_all_is_forgotten_on_a_card(home: Living) -> None:
    await home.call("ada", "remember_for_us", statement="The spare key is with Mrs Lindqvist.")
    [line] = [one for one in (await home.call("ada", "list_shared_memories")).splitlines() if "Lindqvist" in one]
    await home.call("ada", "forget_for_us", memories=[line])
    card = home.card()
    assert "Lindqvist" in card.text
    assert "Lindqvist" in await home.call("grace", "list_shared_memories")
    home.model = FakeModel([says("Gone.")])
    if home.delivery.channel.has_buttons:
        await home.press("Approve", card)
        await home.work()
    else:
        await home.decide("Approve")
    assert "I remember nothing" in await home.call("grace", "list_shared_memories")


async def test_who_leaves_reads_no_more_of_what_was_said_for_all(home: Living) -> None:
    await home.call("grace", "remember_for_us", statement="The spare key is with Mrs Lindqvist.")
    await home.call("grace", "add_shared_note", text="The plumber is Mr. Rossi.")
    await home.ask("household leave", "grace")
    momex: Momex = home.options["momex"]
    found = await momex.search(home.tenants["grace"], "who has the spare key?")
    assert [one.memory.text for one in found.found if "household" in one.memory.collection] == []
    assert "Rossi" not in await home.call("grace", "show_shared_notes")
    assert "You share no memory" in await home.call("grace", "list_shared_memories")
    # What Grace could undo before is no longer hers to change; it stays with Ada.
    assert "in no household" in await home.ask("undo", "grace")
    assert "Lindqvist" in await home.call("ada", "list_shared_memories")
    assert "Rossi" in await home.call("ada", "show_shared_notes")


@also_by_mail
async def test_a_member_says_how_much_of_their_calendar_the_others_see(home: Living) -> None:
    assert "shows" not in await home.ask("household", "grace")
    assert "see when you are busy now, and nothing else" in await home.ask("household calendar busy")
    assert "Ada" in (shown := await home.ask("household", "grace"))
    assert "shows when they are busy" in shown
    assert "see the times and titles in your calendars now" in await home.ask("haushalt kalender titel")
    assert "shows their calendar" in await home.ask("household", "grace")
    assert "see nothing of your calendars now" in await home.ask("household calendar off")
    assert "shows" not in await home.ask("household", "grace")
    assert "You are in no household." in await home.ask("household calendar busy", "lena")
    home.model = FakeModel([says("Let me see.")])
    assert "Let me see." in await home.ask("household calendar for next week")
