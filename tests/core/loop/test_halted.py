"""A halt of all work inside a step: what has begun ends and is journalled, and nothing else begins."""

import asyncio

import pytest

from core.errors import Halted
from core.journal.in_memory import MemoryJournal
from core.journal.types import Outcome, StepRecord, StepState
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants
from tests.core.loop.test_interrupt_signal import Control, Hanging, RecordedBudget


class HaltedJournal(MemoryJournal):
    """A journal that lets no call of `second` begin until it is lifted, as Postgres does during a halt."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = asyncio.Event()
        self.lifted = False

    async def write(self, record: StepRecord) -> None:
        if record.name == "second" and record.state is StepState.STARTED and not self.lifted:
            self.refused.set()
            raise Halted
        await super().write(record)


async def test_a_call_beside_one_that_a_halt_refuses_is_not_cut_off() -> None:
    journal, done = HaltedJournal(), list[str]()

    @tool(effect="once")
    async def first() -> str:
        """Act, and end after the other was refused."""
        await journal.refused.wait()
        for _ in range(3):  # a cancelled call would end here
            await asyncio.sleep(0)
        done.append("first")
        return "acted"

    @tool(effect="once")
    async def second() -> str:
        """Act."""
        done.append("second")
        return "acted"

    script = [wants(("first", {}), ("second", {}))]
    with pytest.raises(Halted):
        await run_loop(script, [first, second], journal=journal)
    assert done == ["first"]
    rows = {row.name: row.outcome for row in await journal.recorded()}
    assert (rows["first"], "second" in rows) == (Outcome.OK, False)
    journal.lifted = True
    result, model = await run_loop([says("All done")], [first, second], journal=journal)
    assert (done, result.response, len(model.requests)) == (["first", "second"], "All done", 1)


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
