"""What people say about their memory, over every channel: remember, what do you know, that's wrong, forget."""

import re
from collections.abc import AsyncIterator

import pytest

from agents import memory as tools
from core.json_types import Json
from core.memory.commands import NOTHING
from core.memory.momex import Momex
from core.tools.tool import AnyTool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, Step, says, wants
from tests.core.memory.harness import make_momex

LIST = {"sms": "MEMORY", "slack": "/valet memory", "telegram": "/memory"}
TOOLS: list[AnyTool] = [tools.remember, tools.list_memories, tools.correct_memory, tools.ask_to_forget, tools.forget]


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield an system that remembers."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        momex = make_momex(system.delivery.store.database)
        system.more, system.options = TOOLS, {"momex": momex}
        yield system
        await momex.close()


async def talk(system: Approving, text: str, *script: Step) -> list[str]:
    """Say something that the model answers as scripted, let memory's jobs run; gives what tools have told it so far."""
    system.model = FakeModel(list(script))
    await system.say(marked(text))
    momex: Momex = system.options["momex"]
    while job := await momex.work.claim(None, "w"):
        await momex.work.run(job)
    return [str(result) for result in system.model.told()]


async def listed(system: Approving) -> str:
    """Ask in the channel's own exact words, without any model, and read the answer."""
    word, system.model = LIST[system.delivery.channel.name], FakeModel([])
    if word.startswith("/valet"):
        await system.delivery.channel.act("command", text=word)
        await system.delivery.channel.settled()
        await system.work()
    else:
        await system.say(word)
    return system.last()


async def test_a_person_stores_reads_corrects_and_forgets_a_memory(
    system: Approving,
) -> None:
    assert NOTHING.split(".")[0] in await listed(system)
    kept: Json = {"statement": "I row on Tuesdays."}
    await talk(system, "Remember that I row on Tuesdays", wants(("remember", kept)), says("I will."))
    assert "I row on Tuesdays." in await listed(system)
    results = await talk(
        system, "What do you know about me?", wants(("list_memories", {})), says("You row on Tuesdays.")
    )
    [number] = re.findall(r"(\d+)\. I row on Tuesdays\.", results[-1])
    right: Json = {"number": int(number), "statement": "I row on Wednesdays."}
    await talk(system, "That's wrong, it's Wednesdays", wants(("correct_memory", right)), says("Wednesdays, then."))
    assert "Tuesdays" not in await listed(system)
    ask, go = wants(("ask_to_forget", {"what": "row"})), wants(("forget", {}))
    results = await talk(system, "Forget that I row", ask, go, says("You row on Wednesdays. Forget that?"))
    assert "I row on Wednesdays." in results[-2], "it is shown"
    assert results[-1].startswith("Nothing is waiting"), "the same turn cannot agree"
    assert "I row on Wednesdays." in await listed(system)
    results = await talk(system, "Yes, please", go, says("It is gone."))
    assert results[-1].startswith("Forgotten for good")
    after = await listed(system)
    assert "Wednesdays" not in after
    assert "row" not in after.lower().replace("tomorrow", "")
    texts = await system.delivery.store.column("select text from memories where text ~* 'wednesdays'")
    assert texts == []
