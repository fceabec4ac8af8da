"""What an ability has a worker do beside its turns: it runs, and is called when work of its kind is due."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.queue.due import DueWork
from jobs.supervision import Part
from onevalet.ability import Ability, Work, WorkFoundation
from onevalet.wiring import ability_work, worker_process
from tests.jobs.talking import talking
from tests.scripted_model import echo


async def test_work_of_an_ability_runs_in_a_worker_and_is_called_when_due(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    async def run() -> None:
        done.append("ran")

    def work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work]:
        stack.callback(lambda: done.append(f"closed by {foundation.worker}"))
        return [Work("habits", run, DueWork.MAIL, lambda: done.append("looked"))]

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
        [(_, _, _, upkeep, _, _, watch)] = processes
        [part] = [part for part in upkeep if isinstance(part, Part) and part.name == "habits"]
        await part.run()
        for look in watch._calls[DueWork.MAIL]:
            look()
    assert done == ["ran", "looked", f"closed by {talk.parts.name}"]
