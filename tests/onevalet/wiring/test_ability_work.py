"""What an ability has a worker do beside its turns: it runs, and is called when work of its kind is due."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.queue.claims import ClaimedWork
from jobs.supervision import Part
from jobs.upkeep.periodic import Periodic
from onevalet.ability import Ability, Repeated, Work, WorkFoundation
from onevalet.wiring import ability_work, worker_process
from tests.abilities.memory.talking import talking
from tests.scripted_model import echo


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
    chores: list[Periodic] = []

    def process(*given: Any) -> SimpleNamespace:
        processes.append(given)
        return SimpleNamespace(take_delivery=lambda _: None)

    monkeypatch.setattr(ability_work, "all_abilities", lambda: (Ability(name="habits", work=work),))
    monkeypatch.setattr(worker_process, "WorkerProcess", process)
    monkeypatch.setattr(worker_process, "run_chores", lambda redis, given: chores.extend(given))
    async with (
        talking(database_url, redis_url, tmp_path, monkeypatch, echo, onevalet_memory="off") as talk,
        AsyncExitStack() as stack,
    ):
        worker_process.build_process(stack, talk.parts, None, None)
        [(_, _, _, upkeep, claimed, _, watch)] = processes
        assert claimed == [habits]
        for part in upkeep:
            if isinstance(part, Part) and part.name == "chores":
                part.run()
        [part] = [part for part in upkeep if isinstance(part, Part) and part.name == "habits"]
        await part.run()
        for look in watch._calls["habits"]:
            look()
        [reminders] = [part for part in upkeep if isinstance(part, Part) and part.name == "reminders"]
        repeating = asyncio.ensure_future(reminders.run())
        for _ in range(2):  # the first time at once, and then when it is due
            await repeated.wait()
            repeated.clear()
            for look in watch._calls["reminding"]:
                look()
        repeating.cancel()
        assert watch._by_peoples_clock >= {"reminding", "agents"}
        assert "tidying of habits" in {chore.name for chore in chores}
    assert done == ["ran", "looked", f"closed by {talk.parts.name}"]
