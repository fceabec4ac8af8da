"""Tasks as people and models name them."""

from dataclasses import dataclass, field

import pytest

from abilities.tasks.looking_after import stop_task
from onevalet import TaskNote, TaskState, ToolRetry
from onevalet.testing import make_context


@dataclass
class Tasks:
    """Three planned tasks; `stopped` are the ids of those that were stopped."""

    stopped: list[str] = field(default_factory=list)

    async def list(self) -> list[TaskNote]:
        """Return all of them."""
        planned = {2: "Call mum", 12: "Call at 2 pm", 3: "Buy 2 pizzas"}
        return [note(number, title) for number, title in planned.items()]

    async def change(self, task_id: str, change: str) -> bool:
        """Record it."""
        self.stopped.append(task_id)
        return True


def note(number: int, title: str) -> TaskNote:
    """Return a task as a tool sees it."""
    return TaskNote(f"task_{number}", number, title, "", "", TaskState.ACTIVE)


@pytest.mark.parametrize(
    "which",
    [
        *("2", "#2", " 2. ", "task 2", "Task #2", "tasks 2", "Reminder 2", "reminder no. 2", "reminder number 2"),
        *("Aufgabe 2", "Erinnerung Nr. 2", "tarea 2", "recordatorio nº 2", "rappel numéro 2", "lembrete 02", "任务2"),
        "mum",
    ],
)
async def test_a_task_is_found_by_its_number_however_it_is_named(which: str) -> None:
    tasks = Tasks()
    await stop_task(which, make_context(tasks=tasks))
    assert tasks.stopped == ["task_2"]


@pytest.mark.parametrize("which", ["call", "9", "task 9", "2 or 3", "not 2"])
async def test_what_names_none_or_several_is_asked_back(which: str) -> None:
    tasks = Tasks()
    with pytest.raises(ToolRetry):
        await stop_task(which, make_context(tasks=tasks))
    assert tasks.stopped == []
