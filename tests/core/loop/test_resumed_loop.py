"""Promise 5: a turn survives its process. Every cut point of a four-step turn, taken over by another loop."""

import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from core.budgets.types import NoBudget, TurnBudget
from core.journal.in_memory import MemoryJournal
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.llm.types import ModelRequest, TokenUsage
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool, tool
from tests.core.builders import FakeModel, Step, run_loop, says, wants

SCRIPT: tuple[Step, ...] = (
    wants(("send", {"to": "a"}), ("look", {"at": "x"})),
    wants(("send", {"to": "b"})),
    wants(("book", {"day": "Monday"}), ("send", {"to": "c"})),
    says("All done"),
)


class Killed(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


class DyingJournal(MemoryJournal):
    """Keep rows over the death of the process that wrote them; die before or after the n-th write.

    Rows that may wait are kept by the next write, and lost if there is none.
    """

    def __init__(self, dies_at: int, *, after: bool) -> None:
        super().__init__()
        self.left = dies_at
        self.after = after
        self.held: list[StepRecord] = []

    async def write(self, *records: StepRecord) -> None:
        self.held += records
        if records[-1].may_wait:
            return
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.after):
            raise Killed
        await super().write(*self.held)
        self.held.clear()
        if self.left == 0:
            raise Killed


class World:
    """What the tools did to the world, over all processes."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.booked: Counter[str] = Counter()
        self.looked = 0

    def tools(self) -> list[AnyTool]:
        @tool
        async def send(to: str) -> str:
            """Send."""
            self.sent[to] += 1
            return f"sent to {to}"

        @tool(effect="idempotent")
        async def book(day: str, context: ToolExecutionContext) -> str:
            """Book."""
            self.booked[context.idempotency_key] += 1
            return f"booked {day}"

        @tool(effect="read")
        async def look(at: str) -> str:
            """Look."""
            self.looked += 1
            return f"saw {at}"

        return [send, book, look]


async def _run_and_take_over(dies_at: int, *, after: bool) -> tuple[World, FakeModel, list[StepRecord], str]:
    """Run until the journal dies, then finish on another loop with what the journal kept."""
    world = World()
    model = FakeModel(list(SCRIPT))
    journal = DyingJournal(dies_at, after=after)
    try:
        await run_loop(model, world.tools(), journal=journal)
    except Killed:
        rows = list(await journal.recorded())
        answered = sum(1 for row in rows if row.key.call_index == 0)
        model = FakeModel(list(SCRIPT[answered:]))
        result, _ = await run_loop(model, world.tools(), journal=MemoryJournal(rows))
        return world, model, rows, result.response
    raise AssertionError("the journal did not die")


async def test_promise_5_an_undisturbed_turn_writes_a_row_a_step() -> None:
    journal = MemoryJournal()
    world = World()
    result, model = await run_loop(SCRIPT, world.tools(), journal=journal)
    rows = await journal.recorded()
    assert [(row.key.step, row.key.call_index) for row in rows] == [
        *((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0)),
    ]
    assert all(row.state is StepState.DONE for row in rows)
    assert result.response == "All done"
    assert len(model.requests) == 4


# 4 answers, 3 once and 1 idempotent calls with two rows each: 10 writes, as two calls begin in one, and the last answer
# and the read call wait.
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 11))
async def test_promise_5_killed_at_any_write_each_once_tool_runs_at_most_once(dies_at: int, after: bool) -> None:
    world, _, rows, answer = await _run_and_take_over(dies_at, after=after)
    assert answer == "All done"
    assert all(count == 1 for count in world.sent.values())
    assert len(world.booked) == 1
    started = {row.key for row in rows if row.state is StepState.STARTED and row.effect is Effect.ONCE}
    assert set(world.sent) | {"abc"[key.step] for key in started} == {"a", "b", "c"}


async def test_promise_5_a_once_tool_that_had_started_is_told_as_unknown() -> None:
    world = World()
    journal = DyingJournal(2, after=True)
    with pytest.raises(Killed):
        await run_loop([wants(("send", {"to": "a"}))], world.tools(), journal=journal)
    rows = await journal.recorded()
    assert [(row.state, row.effect) for row in rows][1] == (StepState.STARTED, Effect.ONCE)
    script = [wants(("send", {"to": "a"})), wants(("send", {"to": "z"})), says("ok")]
    kept = MemoryJournal(rows)
    _, model = await run_loop(script, world.tools(), journal=kept)
    unknown, refused, sent = model.told()
    assert "outcome of this call is unknown" in unknown
    assert refused.startswith("Not run: an earlier call")
    assert sent == "sent to z"
    assert world.sent == {"z": 1}
    outcomes = {row.key: row.outcome for row in await kept.recorded()}
    assert outcomes[StepKey(0, 1)] is Outcome.UNKNOWN
    assert outcomes[StepKey(1, 1)] is Outcome.REFUSED


async def test_promise_5_an_idempotent_tool_runs_again_with_the_same_key() -> None:
    world = World()
    journal = DyingJournal(3, after=False)
    with pytest.raises(Killed):
        await run_loop([wants(("book", {"day": "x"}))], world.tools(), journal=journal)
    await run_loop([says("ok")], world.tools(), journal=MemoryJournal(await journal.recorded()))
    assert list(world.booked.values()) == [2]


async def test_promise_5_a_tool_whose_effect_changed_follows_the_stricter_one() -> None:
    world = World()
    journal = DyingJournal(2, after=True)
    with pytest.raises(Killed):
        await run_loop([wants(("book", {"day": "x"}))], world.tools(), journal=journal)
    changed = [replace(tool, effect=Effect.ONCE) for tool in world.tools()]
    rows = await journal.recorded()
    _, model = await run_loop([says("ok")], changed, journal=MemoryJournal(rows))
    assert "unknown" in model.told()[0]
    _, model = await run_loop([says("ok")], [], journal=MemoryJournal(rows))
    assert "unknown" in model.told()[0]
    assert not world.booked


class Paid:
    """A budget that lets every call pass."""

    async def reserve(self, key: StepKey, request: ModelRequest) -> None: ...

    async def allow(self, key: StepKey, more: Decimal) -> None: ...

    async def settle(self, key: StepKey, usage: TokenUsage) -> None: ...

    async def release(self, key: StepKey) -> None: ...


@pytest.mark.parametrize("budget", [NoBudget(), Paid()])
async def test_promise_5_the_last_answer_may_wait_unless_it_was_paid(budget: TurnBudget) -> None:
    journal = MemoryJournal()
    await run_loop([wants(("look", {"at": "x"})), says("ok")], World().tools(), journal=journal, budget=budget)
    answers = {row.key.step: row.may_wait for row in await journal.recorded() if row.kind is StepKind.MODEL}
    assert answers == {0: False, 1: isinstance(budget, NoBudget)}


async def test_promise_5_only_a_result_that_may_be_read_again_may_wait() -> None:
    @tool(effect="read")
    async def draw(context: ToolExecutionContext) -> str:
        """Draw a picture."""
        context.attached.append("fil_1")
        return "drawn"

    journal, calls = (
        MemoryJournal(),
        wants(("look", {"at": "x"}), ("book", {"day": "x"}), ("send", {"to": "a"}), ("draw", {})),
    )
    await run_loop([calls, wants(("look", {})), says("ok")], [*World().tools(), draw], journal=journal)
    calls_kept = [row for row in await journal.recorded() if row.may_wait and row.kind is StepKind.TOOL]
    assert [(row.name, row.outcome) for row in calls_kept] == [("look", Outcome.OK)]


async def test_records_survive_json() -> None:
    journal = MemoryJournal()
    await run_loop(SCRIPT, World().tools(), journal=journal)
    for row in await journal.recorded():
        assert json.loads(json.dumps(row.result)) == row.result
