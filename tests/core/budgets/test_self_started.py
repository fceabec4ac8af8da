"""Model calls that nobody waits for keep to quiet hours, whichever work makes them; those of answers never wait."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.self_started import Never, NotNow, OutsideQuietHours, SelfStarted
from core.journal.types import StepKey
from core.llm.types import ChatMessage, ModelRequest, Role
from tests.clocks import StandingClock
from tests.core.builders import FakeModel, says
from tests.core.harness import Store

ROOT = Path(__file__).parents[3]
REQUEST = ModelRequest((ChatMessage(Role.USER, "What is new?"),))
GATED = {
    "abilities/files/hearing.py",
    "abilities/files/transcribing.py",
    "abilities/memory/index/budgeted_embeddings.py",
    "abilities/memory/index/embedder.py",
    "core/budgets/background.py",
    "core/budgets/budgeted_model.py",
}
"""Where a client is asked, or a call is counted, behind `BackgroundCall`."""
OF_TURNS = {"core/hooks/judge.py", "core/loop/reasoning.py", "operations/doctor/models.py"}
"""The answers of turns, and what an operator asks for."""
EVENING, MORNING = datetime(2026, 11, 21, 22, tzinfo=UTC), datetime(2026, 11, 22, 6, tzinfo=UTC)
"""An hour into Ann's quiet hours, and their end, by her clock in Berlin."""


@pytest.fixture
async def asking(store: Store) -> tuple[StandingClock, FakeModel, BudgetedModel, OutsideQuietHours]:
    """Return a model's budget, and the gate before it: Ann wants quiet from ten to seven, Berlin's time."""
    await store.say("hello")
    tenant = await store.db.person()
    hours = {"timezone": "Europe/Berlin", "quiet_from": "22:00", "quiet_until": "07:00"}
    await store.db.tenants.change(hours, tenant_id=tenant)
    clock, model = StandingClock(EVENING), FakeModel([says("Nothing.")] * 5)
    return clock, model, BudgetedModel(model, store.database), OutsideQuietHours(store.database, clock)


async def test_self_started_work_asks_no_model_until_quiet_hours_end(
    store: Store, asking: tuple[StandingClock, FakeModel, BudgetedModel, OutsideQuietHours]
) -> None:
    clock, model, budgeted, may_ask = asking
    tenant = await store.db.person()

    async def look() -> None:
        # In a task of its own, as work often asks.
        await asyncio.create_task(budgeted.ask(tenant, "look", StepKey(0, 0), REQUEST))

    work = SelfStarted(may_ask, look)
    for _ in range(32):
        with pytest.raises(NotNow):
            await work()
        clock.move(minutes=15)
    assert clock.at == MORNING
    assert model.requests == []
    await work()
    assert len(model.requests) == 1


async def test_what_somebody_waits_for_is_asked_in_quiet_hours(
    store: Store, asking: tuple[StandingClock, FakeModel, BudgetedModel, OutsideQuietHours]
) -> None:
    _, model, budgeted, may_ask = asking
    tenant = await store.db.person()

    async def fail() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        await SelfStarted(may_ask, fail)()
    await budgeted.ask(tenant, "turn", StepKey(0, 0), REQUEST)
    assert len(model.requests) == 1, "what ran before it in this task has left nothing behind"


async def test_the_pause_lasts_until_the_end_in_the_persons_zone(
    store: Store, asking: tuple[StandingClock, FakeModel, BudgetedModel, OutsideQuietHours]
) -> None:
    clock, _, _, may_ask = asking
    tenant = await store.db.person()
    assert await may_ask.until(tenant) == MORNING
    with pytest.raises(NotNow) as night:
        await may_ask.check(tenant)
    assert night.value.pause == timedelta(hours=8)
    clock.at = MORNING
    assert await may_ask.until(tenant) is None
    await may_ask.check(tenant)
    clock.at = EVENING
    await store.db.tenants.change({"quiet_from": "", "quiet_until": ""}, tenant_id=tenant)
    assert await may_ask.until(tenant) is None
    assert await may_ask.until("nobody") is None


async def test_never_asks_no_model_at_any_time(
    store: Store, asking: tuple[StandingClock, FakeModel, BudgetedModel, OutsideQuietHours]
) -> None:
    clock, model, budgeted, _ = asking
    clock.at = MORNING
    with pytest.raises(NotNow):
        await SelfStarted(Never(), budgeted.ask)(await store.db.person(), "look", StepKey(0, 0), REQUEST)
    assert model.requests == []


def test_every_call_besides_answers_begins_at_the_gate() -> None:
    asks = re.compile(r"\badd_background_usage\b|(client|model)\.(answer|embed|transcribe|stream)\(")
    made = {
        path.relative_to(ROOT).as_posix()
        for room in ("abilities", "agents", "channels", "core", "jobs", "notify", "onevalet", "operations")
        for path in (ROOT / room).rglob("*.py")
        if asks.search(path.read_text())
    }
    assert made == GATED | OF_TURNS


def test_only_task_runs_begin_a_turn_that_nobody_wrote() -> None:
    begin = {
        path.relative_to(ROOT).as_posix()
        for room in ("abilities", "agents", "notify")
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"\.handle_message\(|\bFromTask\(", path.read_text())
    }
    assert begin == {"abilities/tasks/runs/executors.py"}
