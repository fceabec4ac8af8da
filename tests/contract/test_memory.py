"""What people say about their memory, over every channel: remember, what do you know, that's wrong, forget."""

import re
from collections.abc import AsyncIterator

import pytest

from agents import memory as tools
from core.json_types import Json
from core.memory.commands import NOTHING
from core.memory.momex import Momex
from core.tools.tool import AnyTool
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HOUSES
from tests.core.agents.harness import SetClock
from tests.core.builders import FakeModel, Step, says, wants
from tests.core.memory.harness import make_momex

LIST = {"sms": "MEMORY", "slack": "/valet memory", "telegram": "/memory"}
TOOLS: list[AnyTool] = [tools.remember, tools.list_memories, tools.correct_memory, tools.ask_to_forget, tools.forget]


@pytest.fixture
async def office(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Give an office that remembers."""
    async with open_approving(HOUSES[channel], database_url, SetClock()) as office:
        momex = make_momex(office.desk.store.database)
        office.more, office.options = TOOLS, {"momex": momex}
        yield office
        await momex.close()


async def talk(office: Approving, text: str, *script: Step) -> list[str]:
    """Say something that the model answers as scripted, let memory's jobs run; gives what tools have told it so far."""
    office.model = FakeModel(list(script))
    await office.say(marked(text))
    momex: Momex = office.options["momex"]
    while job := await momex.work.claim(None, "w"):
        await momex.work.run(job)
    return [str(one) for one in office.model.told()]


async def listed(office: Approving) -> str:
    """Ask in the channel's own exact words, without any model, and read the answer."""
    word, office.model = LIST[office.desk.house.name], FakeModel([])
    if word.startswith("/valet"):
        await office.desk.house.act("command", text=word)
        await office.desk.house.settled()
        await office.work()
    else:
        await office.say(word)
    return office.last()


async def test_a_person_has_something_remembered_reads_it_puts_it_right_and_has_it_forgotten(
    office: Approving,
) -> None:
    assert NOTHING.split(".")[0] in await listed(office)
    kept: Json = {"statement": "I row on Tuesdays."}
    await talk(office, "Remember that I row on Tuesdays", wants(("remember", kept)), says("I will."))
    assert "I row on Tuesdays." in await listed(office)
    told = await talk(office, "What do you know about me?", wants(("list_memories", {})), says("You row on Tuesdays."))
    [number] = re.findall(r"(\d+)\. I row on Tuesdays\.", told[-1])
    right: Json = {"number": int(number), "statement": "I row on Wednesdays."}
    await talk(office, "That's wrong, it's Wednesdays", wants(("correct_memory", right)), says("Wednesdays, then."))
    assert "Tuesdays" not in await listed(office)
    ask, go = wants(("ask_to_forget", {"what": "row"})), wants(("forget", {}))
    told = await talk(office, "Forget that I row", ask, go, says("You row on Wednesdays. Forget that?"))
    assert "I row on Wednesdays." in told[-2], "it is shown"
    assert told[-1].startswith("Nothing is waiting"), "the same turn cannot agree"
    assert "I row on Wednesdays." in await listed(office)
    told = await talk(office, "Yes, please", go, says("It is gone."))
    assert told[-1].startswith("Forgotten for good")
    after = await listed(office)
    assert "Wednesdays" not in after
    assert "row" not in after.lower().replace("tomorrow", "")
    found = await office.desk.store.column("select text from memories where text ~* 'wednesdays'")
    assert found == []
