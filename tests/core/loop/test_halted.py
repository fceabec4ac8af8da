"""A halt of all work inside a step: what has begun ends and is journalled, and nothing else begins."""

import asyncio

import pytest

from core.errors import Halted
from core.journal.in_memory import MemoryJournal
from core.journal.types import Outcome
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants
from tests.core.loop.test_interrupt_signal import Control, Hanging, RecordedBudget


async def test_a_call_beside_one_that_a_halt_refuses_is_not_cut_off() -> None:
    journal, done, refused = MemoryJournal(), list[str](), asyncio.Event()

    @tool(effect="once")
    async def act() -> str:
        """Act, and end after the other was refused."""
        await refused.wait()
        for _ in range(3):  # a cancelled call would end here
            await asyncio.sleep(0)
        done.append("act")
        return "acted"

    @tool(effect="read")
    async def ask() -> str:
        """Do as an agent does whose run a halt refuses, until that is lifted."""
        if not refused.is_set():
            refused.set()
            raise Halted
        done.append("ask")
        return "asked"

    script = [wants(("act", {}), ("ask", {}))]
    with pytest.raises(Halted):
        await run_loop(script, [act, ask], journal=journal)
    assert done == ["act"]
    rows = {row.name: row.outcome for row in await journal.recorded() if row.key.call_index}
    assert rows == {"act": Outcome.OK}
    result, model = await run_loop([says("All done")], [act, ask], journal=journal)
    assert (done, result.response, len(model.requests)) == (["act", "ask"], "All done", 1)


async def test_a_model_that_a_halt_cuts_off_is_paid_for_when_it_is_asked_again() -> None:
    hang, control, budget = Hanging(), Control(), RecordedBudget()

    async def halt() -> None:
        await hang.begun.wait()
        control.signal.set("a stop that comes with it", halted=True)

    halting = asyncio.create_task(halt())
    with pytest.raises(Halted):
        await run_loop([hang], control=control, budget=budget)
    await halting
    assert (hang.cut, budget.noted) == (True, ["reserved"]), "its reservation serves the next try"
