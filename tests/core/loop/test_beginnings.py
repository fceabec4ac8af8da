"""The calls of a model answer begin together: in one write of the journal, before any of them acts."""

import asyncio

import pytest

from core.errors import Halted
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepRecord, StepState
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants


class Logged(MemoryJournal):
    """Note which calls begin with each write, unless all work is halted."""

    def __init__(self, *, halted: bool = False) -> None:
        super().__init__()
        self.log: list[object] = []
        self.halted = halted

    async def write(self, *records: StepRecord) -> None:
        if begun := [record.name for record in records if record.state is StepState.STARTED]:
            if self.halted:
                raise Halted
            self.log.append(begun)
        await super().write(*records)


async def test_promise_5_calls_begin_in_one_write_before_any_acts() -> None:
    journal, acted = Logged(), asyncio.Event()

    @tool
    async def act(number: int) -> str:
        """Act."""
        journal.log.append(number)
        if number == 2:
            acted.set()
        return "acted"

    @tool(effect="read")
    async def look() -> str:
        """Look until the others have acted."""
        await acted.wait()
        return "seen"

    # What only looks has no beginning, nor has a call of no tool.
    script = [wants(("look", {}), ("nope", {}), ("act", {"number": 1}), ("act", {"number": 2})), says("ok")]
    await run_loop(script, [act, look], journal=journal)
    assert journal.log == [["act", "act"], 1, 2]


async def test_promise_5_no_call_acts_if_the_write_of_the_beginnings_fails() -> None:
    journal = Logged(halted=True)

    @tool
    async def act(number: int) -> str:
        """Act."""
        journal.log.append(number)
        return "acted"

    script = [wants(("act", {"number": 1}), ("act", {"number": 2}))]
    with pytest.raises(Halted):
        await run_loop(script, [act], journal=journal)
    assert journal.log == []
