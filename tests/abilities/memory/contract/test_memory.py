"""What people say about their memory, over every channel: remember, what do you know, that's wrong, forget."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from abilities.memory import tools
from abilities.memory.commands import NOTHING
from abilities.memory.forgetting import Forgetter
from abilities.memory.momex import Momex
from core.json_types import Json
from core.llm.types import ModelAnswer, ModelRequest
from core.replies import with_note
from core.tools.tool import AnyTool
from tests.abilities.memory.harness import make_momex
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, Step, says, wants

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
    await talk(system, "Forget that I row", wants(("ask_to_forget", {"what": "row"})), forget_all, says("It is gone."))
    [card] = await system.delivery.store.column("select arguments -> 'memories' from approvals")
    shown = [line.partition(". ")[2].partition(" (")[0] for line in json.loads(str(card))]
    assert shown == ["I row on Tuesdays.", "I row on Wednesdays."], "an answer from memories is not another memory"
    assert all(text in system.card().text for text in shown), "the card shows exactly what is to go"
    assert "I row on Wednesdays." in await listed(system), "nothing is forgotten before the yes"
    other: Json = {"statement": "I row with Ottilie."}
    await talk(system, "Remember that I row with Ottilie", wants(("remember", other)), says("I will."))
    system.model = FakeModel([says("It is gone.")])
    await system.decide("Approve")
    await talk(system, "Thanks", says("Any time."))
    after = await listed(system)
    assert "I row with Ottilie." in after, "what was not shown stays"
    assert "Wednesdays" not in after
    assert await system.delivery.store.column("select text from memories where text ~* 'days'") == []


class Killed(BaseException):
    """The process is gone."""


async def test_forgetting_that_a_kill_interrupts_ends_by_itself(
    system: Approving, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(system, "I rent a storage unit in Hull.", says("Noted."))
    what: Json = {"what": "storage unit"}
    await talk(system, "Forget my storage unit", wants(("ask_to_forget", what)), forget_all)
    confirm = Forgetter.confirm

    async def deleted_and_killed(*args: Any, **kwargs: Any) -> int:
        await confirm(*args, **kwargs)
        raise Killed

    monkeypatch.setattr(Forgetter, "confirm", deleted_and_killed)
    with pytest.raises(Killed):
        await system.decide("Approve")
    monkeypatch.undo()
    await system.delivery.store.turns.end_leases("w1")
    await system.delivery.store.db.lanes.change({"not_before": None})
    system.model = FakeModel([says("It is gone.")])
    await system.work()
    assert system.model.told()[-1] == with_note(
        "Forgotten for good: 1. It is removed from our messages too, once none of them is on its way.",
        "Do not repeat what it was.",
    )
    assert "It is gone." in system.last()
    assert await system.states() == ["approved"], "the person is asked once"
    assert await system.delivery.store.column("select text from memories where text ~* 'storage'") == []


def forget_all(request: ModelRequest) -> ModelAnswer:
    """Call forget with the lines that ask_to_forget returned."""
    lines = [line for line in request.messages[-1].text.splitlines() if re.match(r"\d+\. ", line)]
    return wants(("forget", {"memories": list[Json](lines)}))
