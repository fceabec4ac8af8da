"""What an ability has a worker do beside its turns: it runs, and is called when work of its kind is due."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.budgets.self_started import NotNow, OutsideQuietHours, SelfStarted, check_self_started
from core.queue.claims import ClaimedWork
from jobs.supervision import Part
from onevalet.ability import Ability, Repeated, Work
from onevalet.ability_registry import all_abilities
from onevalet.foundations import WorkFoundation
from onevalet.wiring import ability_work, worker_process
from tests.abilities.memory.talking import talking
from tests.scripted_model import echo

AWAITED = {"speech"}
"""Work for which a person waits, so that it is done in quiet hours too."""


async def test_work_of_an_ability_runs_in_a_worker_and_is_called_when_due(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    async def run() -> None:
        done.append("ran")

    repeated = asyncio.Event()

    async def once() -> None:
        repeated.set()

    async def claim(_: str | None) -> str | None:
        return None

    async def work_off(_: str) -> None:
        raise AssertionError("nothing is claimed")

    habits = ClaimedWork("rows of habits", "onevalet:wake:habits", "rows", claim, work_off)

    def work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work | Repeated | ClaimedWork[str]]:
        stack.callback(lambda: done.append(f"closed by {foundation.worker}"))
        day = timedelta(days=1)
        return [
            Work("habits", run, "habits", lambda: done.append("looked")),
            Repeated("reminders", day, once, "reminding", by_peoples_clock=True),
            Repeated("tidying of habits", day, once, for_all=True),
            habits,
        ]

    processes: list[tuple[Any, ...]] = []

    def process(*given: Any) -> SimpleNamespace:
        processes.append(given)
        return SimpleNamespace(take_delivery=lambda _: None)

    monkeypatch.setattr(ability_work, "all_abilities", lambda: (Ability(name="habits", work=work),))
    monkeypatch.setattr(worker_process, "WorkerProcess", process)
    async with (
        talking(database_url, redis_url, tmp_path, monkeypatch, echo, onevalet_memory="off") as talk,
        AsyncExitStack() as stack,
    ):
        worker_process.build_process(stack, talk.parts, None, None)
        [(_, _, _, upkeep, claimed, _, watch, chores)] = processes
        assert [(one.name, one.claim) for one in claimed] == [(habits.name, claim)]
        [part] = [part for part in upkeep if isinstance(part, Part) and part.name == "habits"]
        await part.run()
        watch.tell("habits")
        [reminders] = [chore for chore in chores if chore.name == "reminders"]
        assert (reminders.due, reminders.by_peoples_clock, reminders.for_all) == ("reminding", True, False)
        repeating = asyncio.ensure_future(reminders.run())
        reminders.look()
        await repeated.wait()
        repeating.cancel()
        assert [chore.for_all for chore in chores if chore.name == "tidying of habits"] == [True]
    assert done == ["ran", "looked", f"closed by {talk.parts.name}"]


async def test_all_that_abilities_do_by_themselves_keeps_to_quiet_hours(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[tuple[Any, ...]] = []

    def process(*given: Any) -> SimpleNamespace:
        processes.append(given)
        return SimpleNamespace(take_delivery=lambda _: None)

    monkeypatch.setattr(worker_process, "WorkerProcess", process)
    async with (
        talking(database_url, redis_url, tmp_path, monkeypatch, echo, onevalet_memory="rules") as talk,
        AsyncExitStack() as stack,
    ):
        declared = [
            work.name
            for ability in all_abilities()
            if ability.work is not None
            for work in ability.work(stack, talk.parts.foundation)
        ]
        worker_process.build_process(stack, talk.parts, None, None)
        [(_, _, _, upkeep, claimed, _, _, chores)] = processes
        parts = {part.name: part.run for part in upkeep if isinstance(part, Part)}
        doing = parts | {one.name: one.run for one in claimed} | {chore.name: chore.once for chore in chores}
        assert len(declared) > 15
        assert {name for name in declared if not isinstance(doing[name], SelfStarted)} == AWAITED
        await talk.say("hello")
        tenant = await talk.store.db.person()
        now = talk.parts.clock.now()
        hours = {name: f"{now + timedelta(hours=by):%H:%M}" for name, by in (("quiet_from", -2), ("quiet_until", 2))}
        await talk.store.db.tenants.change(hours, tenant_id=tenant)
        for name in set(declared) - AWAITED:
            gate = doing[name]
            assert isinstance(gate, SelfStarted)
            assert isinstance(gate.may_ask, OutsideQuietHours)
            assert gate.may_ask.spared is not None, "what it is spared is counted"
            with pytest.raises(NotNow):
                await SelfStarted(gate.may_ask, check_self_started)(tenant)
