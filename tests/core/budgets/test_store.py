"""Budgets: an amount for each person and day, never exceeded by concurrent turns, and no reservation held forever."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from core.budgets.store import HELD, DailyBudgets, PostgresBudget
from core.budgets.types import OutOfMoney, Payer
from core.db.database import Database
from core.errors import ModelRejected
from core.hooks.hooks import HookContext
from core.journal.in_memory import MemoryJournal
from core.journal.types import Journal, StepKey, StepRecord
from core.llm.prices import ModelPrice, estimate, price_of
from core.llm.types import ModelAnswer, ModelClient, ModelRequest, TokenUsage
from core.loop.config import ReactLoopConfig
from core.loop.loop import LoopFailed, ReactLoop
from core.loop.reasoning import ModelCaller
from core.loop.result import Ended, ReactLoopResult
from core.loop.scope import LoopTask, TurnScope
from core.people.tenant import TurnTenant
from core.tools.tool import tool
from core.tools.toolbox import ToolRegistry
from core.turns.types import FromTask, Place, TurnRequest, TurnWork
from providers.models.litellm_client import LiteLLMClient
from tests.clocks import StandingClock
from tests.core.builders import SYSTEM, FakeModel, Step, a_context, says, user, wants
from tests.core.harness import Store, TwiceDatabase
from tests.scripted_model import ScriptedModel, text

KEY = StepKey(0, 0)
ASK = ModelRequest((SYSTEM, user("Hello")), max_output_tokens=1)
PENCE = (ModelPrice(0.0, 0.3),)
"""Every call may cost 30 cents."""


@pytest.fixture(params=[Database, TwiceDatabase], ids=["once", "each answer lost once"])
async def money(store: Store, request: pytest.FixtureRequest) -> AsyncIterator[PostgresBudget]:
    """Yield the budget of Ann's first turn: a dollar a day."""
    for tenant in ("ann", "bob"):
        await store.db.tenants.add(tenant_id=tenant, name="")
    database = request.param(store.url)
    clock = StandingClock(datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    yield PostgresBudget(DailyBudgets(database, clock, Decimal(1), PENCE), Payer("ann", "t0"))
    await database.close()


async def fits(budget: PostgresBudget, key: StepKey = KEY) -> bool:
    try:
        await budget.reserve(key, ASK)
    except OutOfMoney:
        return False
    return True


async def spent(store: Store, tenant: str = "ann") -> dict[date, Decimal]:
    rows = await store.admin.fetch("select day, spent from spending where tenant_id = $1 and task_id = ''", tenant)
    return {row["day"]: row["spent"].normalize() for row in rows if row["spent"]}


async def test_turns_at_the_same_time_cannot_reserve_more_than_the_cap(money: PostgresBudget) -> None:
    took = await asyncio.gather(*(fits(replace(money, payer=replace(money.payer, turn_id=f"t{n}"))) for n in range(12)))
    assert sum(took) == 3
    assert await fits(replace(money, payer=replace(money.payer, tenant_id="bob")))


async def test_what_was_settled_counts_and_a_step_is_paid_once(money: PostgresBudget, store: Store) -> None:
    for _ in range(3):
        assert await fits(money)
        await money.settle(KEY, TokenUsage(1, 1, cost=0.65))
    assert await spent(store) == {date(2026, 3, 1): Decimal("0.65")}
    assert await fits(replace(money, payer=replace(money.payer, turn_id="t1")))
    assert not await fits(replace(money, payer=replace(money.payer, turn_id="t2")))


async def test_a_price_that_is_not_known_afterwards_is_what_was_set_aside(money: PostgresBudget, store: Store) -> None:
    await money.reserve(KEY, ASK)
    await money.settle(KEY, TokenUsage(1, 1))
    assert await spent(store) == {date(2026, 3, 1): Decimal("0.3")}


async def test_a_call_that_failed_gives_back_what_it_held(money: PostgresBudget, store: Store) -> None:
    for step in range(9):
        await money.reserve(StepKey(step, 0), ASK)
        await money.release(StepKey(step, 0))
    assert await spent(store) == {}


async def test_what_a_dead_worker_held_ends_by_itself(money: PostgresBudget, store: Store) -> None:
    for step in range(3):
        await money.reserve(StepKey(step, 0), ASK)
    assert not await fits(money, StepKey(9, 0))
    assert await store.one("select max(held_until) <= clock_timestamp() + $1 from reservations", HELD)
    await store.admin.execute("update reservations set held_until = clock_timestamp()")
    assert await fits(money, StepKey(9, 0))
    # What it did spend is still paid when its turn is taken over.
    await money.settle(KEY, TokenUsage(1, 1, cost=0.2))
    assert await spent(store) == {date(2026, 3, 1): Decimal("0.2")}


async def test_a_take_over_reserves_under_the_same_key_and_not_twice(money: PostgresBudget) -> None:
    assert all([await fits(money) for _ in range(5)])
    assert [await fits(replace(money, payer=replace(money.payer, turn_id=f"t{n}"))) for n in (1, 2, 3)] == [
        True,
        True,
        False,
    ]


async def test_the_day_is_the_persons_own(money: PostgresBudget, store: Store) -> None:
    for timezone in ("Pacific/Auckland", "UTC", "America/New_York"):
        abroad = replace(money, payer=replace(money.payer, timezone=timezone, turn_id=timezone))
        assert await fits(abroad)
        await abroad.settle(KEY, TokenUsage(cost=0.5))
    assert await spent(store) == {date(2026, 3, 1): Decimal(1), date(2026, 3, 2): Decimal("0.5")}
    assert not await fits(money, StepKey(5, 0))


async def test_a_task_has_its_own_row_next_to_the_days(money: PostgresBudget, store: Store) -> None:
    await replace(money, payer=replace(money.payer, task_id="task")).settle(KEY, TokenUsage(cost=0.5))
    rows = await store.admin.fetch("select task_id, spent from spending order by task_id")
    assert [(row["task_id"], row["spent"]) for row in rows] == [("", Decimal("0.5")), ("task", Decimal("0.5"))]


async def test_a_task_has_a_cap_of_its_own_within_the_day(money: PostgresBudget) -> None:
    budgets = replace(money.budgets, task_cap=Decimal("0.5"))
    task = replace(money, budgets=budgets, payer=replace(money.payer, task_id="task"))
    assert await fits(task)
    with pytest.raises(OutOfMoney, match=r"^I stopped here: the \$0.50 that this task may spend in a day is used up"):
        await task.reserve(StepKey(1, 0), ASK)
    await task.settle(KEY, TokenUsage(cost=0.1))
    assert await fits(task, StepKey(1, 0))
    assert await fits(replace(task, payer=replace(task.payer, task_id="other", turn_id="t1")))
    assert [
        await fits(replace(task, payer=replace(task.payer, task_id=f"task{n}", turn_id=f"t{n}"))) for n in (2, 3)
    ] == [True, False]
    third = replace(money.payer, task_id="third", turn_id="t3")
    alone = replace(money, budgets=replace(budgets, cap=None), payer=third)
    assert [await fits(alone, StepKey(n, 0)) for n in range(2)] == [True, False]


async def test_what_a_turn_was_allowed_beyond_the_cap_is_its_own_and_counts_once(money: PostgresBudget) -> None:
    for step in range(3):
        assert await fits(money, StepKey(step, 0))
    with pytest.raises(OutOfMoney) as spent:
        await money.reserve(StepKey(3, 0), ASK)
    assert spent.value.more == Decimal("1.20"), "four calls' worth, since a fifth of the cap is less"
    for _ in range(2):
        await money.allow(StepKey(3, 0), Decimal("0.30"))
    assert await fits(money, StepKey(3, 0))
    assert not await fits(money, StepKey(4, 0))
    assert not await fits(replace(money, payer=replace(money.payer, turn_id="t1")))
    await money.settle(StepKey(3, 0), TokenUsage(cost=0.25))
    assert not await fits(money, StepKey(4, 0))


async def test_the_task_of_a_request_is_whose_money_its_turn_spends(money: PostgresBudget) -> None:
    request = TurnRequest(TurnWork("t1", MemoryJournal()), TurnTenant("ann"), Place("sms"), FromTask(task_id="task"))
    budget = money.budgets.of(request.payer)
    assert (budget.payer.task_id, budget.payer.turn_id) == ("task", "t1")


@tool(effect="read")
async def look() -> str:
    """Look."""
    return "seen"


async def turn(
    money: PostgresBudget, script: list[Step] | ModelClient, journal: Journal | None = None
) -> ReactLoopResult:
    config = ReactLoopConfig(llm_retry_base_delay=0.001, max_output_tokens=1)
    model = FakeModel(script) if isinstance(script, list) else script
    scope = TurnScope(
        HookContext(money.payer.turn_id, money.payer.tenant_id, "sms"),
        journal or MemoryJournal(),
        lambda name, key: a_context(idempotency_key=key),
        config,
        budget=money,
    )
    task = LoopTask(scope, (SYSTEM, user("Hello")), ToolRegistry([look]))
    return await ReactLoop(ModelCaller(model, config)).run(task)


def dear(answer: ModelAnswer) -> ModelAnswer:
    return replace(answer, usage=TokenUsage(1, 1, cost=0.5))


async def test_at_the_cap_the_turn_stops_and_says_so(money: PostgresBudget, store: Store) -> None:
    script: list[Step] = [dear(wants(("look", {}))), dear(wants(("look", {}))), says("never said")]
    result = await turn(money, script)
    assert result.ended is Ended.BUDGET
    assert result.response == (
        "I stopped here: the $1.00 that I may spend on you in a day is used up. I can go on tomorrow."
    )
    assert len(script) == 1
    assert await spent(store) == {date(2026, 3, 1): Decimal(1)}
    assert (await turn(replace(money, payer=replace(money.payer, turn_id="t1")), [])).ended is Ended.BUDGET


async def test_a_model_that_stays_away_costs_nothing(money: PostgresBudget, store: Store) -> None:
    with pytest.raises(LoopFailed):
        await turn(money, [ModelRejected("no")])
    assert await spent(store) == {}
    assert await store.db.reservations.count() == 0


class Killed(BaseException):
    """Stands for kill -9."""


class DyingJournal(MemoryJournal):
    """Keep the first row, and die."""

    async def write(self, *records: StepRecord) -> None:
        await super().write(*records)
        raise Killed


async def test_an_unsettled_journalled_answer_is_charged_at_takeover(money: PostgresBudget, store: Store) -> None:
    journal = DyingJournal()
    with pytest.raises(Killed):
        await turn(money, [dear(wants(("look", {})))], journal)
    assert await spent(store) == {}
    for _ in range(2):  # and once only, however often it is taken over
        await turn(money, [dear(says("done"))], MemoryJournal(await journal.recorded()))
        assert (await spent(store))[date(2026, 3, 1)] == Decimal(1)


def test_an_estimate_is_on_the_high_side_of_the_dearest_model() -> None:
    request = ModelRequest((user("x" * 4000),))
    assert estimate(request, []) == 0
    assert estimate(request, [ModelPrice(1, 0), ModelPrice(0, 2, 100)]) >= 1000
    assert estimate(request, [ModelPrice(0, 2, 100)]) == 200
    assert price_of({"input_cost_per_token": 1e-6}) is None


async def test_what_a_call_costs_comes_back_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    client = LiteLLMClient("openai/gpt-4o-mini")
    await client.warm_up()
    price = price_of(client.known("openai/gpt-4o-mini"))
    assert price is not None
    assert client.known("openai/no-such-model") == {}
    async with ScriptedModel(lambda call: text("Hello " * 50)) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        usage = (await client.answer(ASK)).usage
        await client.close()
    assert usage.cost == pytest.approx(usage.input_tokens * price.input + usage.output_tokens * price.output)
