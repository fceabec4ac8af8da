"""A task that also runs in its person's quiet hours, and is never spared: by a word, or by a tool."""

from dataclasses import dataclass

from abilities.tasks.chat_words import AWAKE
from abilities.tasks.group import GROUP
from abilities.tasks.looking_after import meant_task
from abilities.tasks.service import SPARED, TaskService
from core.errors import ToolFailed
from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.people.switches import OFF, ON
from core.turns.words.asked import Asked
from onevalet import ToolExecutionContext, tool


@dataclass(frozen=True, slots=True)
class NightTasks:
    """The tasks of a person, as they let them run in quiet hours, or no longer."""

    tasks: TaskService
    tenant_id: str

    async def let(self, task_id: str, *, at_night: bool) -> bool:
        """Let a task run in quiet hours, or no longer; return False for a reminder, which asks no model.

        The runs that they have skipped so far are then made up for at once.
        """
        now = self.tasks.clock.now()
        rows = await self.tasks.store.database.tenant_rows(
            self.tenant_id,
            "update tasks set output = output || jsonb_build_object('at_night', $3::boolean),"
            " make_up_at = case when $3 and make_up_at is not null then $4 else make_up_at end"
            " where tenant_id = $1 and id = $2 and deleted_at is null"
            " and (executor = 'orchestrator' or executor like 'agent:%') returning make_up_at",
            task_id,
            at_night,
            now,
        )
        for row in rows:
            self.tasks.come_due(row["make_up_at"], SPARED)
        return bool(rows)


async def let_run(asked: Asked) -> CommandAnswer | None:
    """Let a task by its number run in quiet hours, or no longer; return None for words that are for the assistant."""
    number, _, switch = asked.command.argument.partition(" ")
    if switch and switch.casefold() not in ON | OFF:
        return None
    try:
        nights = asked.service(NightTasks)
    except ToolFailed:
        return None
    tasks = await nights.tasks.list_tasks(nights.tenant_id)
    task = next((task for task in tasks if task.number == int(number)), None)
    if task is None:
        return CommandAnswer(gettext("You have no task {number}.", number=number))
    at_night = not switch or switch.casefold() in ON
    return CommandAnswer(
        _said(task.number, task.title, await nights.let(task.id, at_night=at_night), at_night=at_night)
    )


@tool(name="run_task_at_night", effect="idempotent", parallel=False, group=GROUP)
async def run_task_at_night(which: str, context: ToolExecutionContext, at_night: bool = True) -> str:
    """Let a task run in the person's quiet hours too, or no longer: only if they ask for it.

    Args:
        which: Its number in list_tasks, or words of its title.
        at_night: False lets it wait for the end of the quiet hours again.
    """
    task = await meant_task(which, context)
    done = await context.service(NightTasks).let(task.id, at_night=at_night)
    return _said(task.number, task.title, done, at_night=at_night)


def _said(number: int, title: str, done: bool, *, at_night: bool) -> str:
    if not done:
        return gettext("Task {number}, {title}, reports at its time anyway.", number=number, title=title)
    if at_night:
        return gettext(
            "Task {number}, {title}, runs in your quiet hours too. To let it wait again, write “{word} {number} off”.",
            number=number,
            title=title,
            word=AWAKE.word(),
        )
    return gettext("Task {number}, {title}, waits for the end of your quiet hours.", number=number, title=title)
