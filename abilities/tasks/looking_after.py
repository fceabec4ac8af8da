"""Show, pause, resume, stop and explain the person's plans, in words."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from abilities.tasks.group import GROUP
from core.tools.call_plans import plan_once
from onevalet import TaskNote, TaskState, ToolExecutionContext, ToolFailed, ToolRetry, gettext, gettext_noop, tool

_FILLERS = {"the", "my", "a", "an", "one", "task", "tasks", "reminder", "reminders", "about", "for", "number", "that"}
_NUMBERED = re.compile(
    r"(?:(?:task|reminder|aufgabe|erinnerung|tarea|recordatorio|tâche|rappel|tarefa|lembrete|任务|提醒)s?)?"
    r"[ #:]*(?:(?:number|no|nr|nummer|número|numéro|n[º°])\b[.]?)?[ #]*0*(\d+)[.]?",
    re.IGNORECASE,
)
"""A task by its number, as people and models write it: "2", "task 2", "Reminder #2", "Erinnerung Nr. 2"."""
type _Change = Literal["pause", "resume", "delete"]

_STATE_AFTER = {"pause": TaskState.PAUSED, "resume": TaskState.ACTIVE}
_DONE = {
    "pause": gettext_noop("Task {number}, {title}, is paused."),
    "resume": gettext_noop("Task {number}, {title}, goes on."),
    "delete": gettext_noop("Task {number}, {title}, is stopped."),
}
_TITLES = {
    "pause": gettext_noop("Paused: {title}"),
    "resume": gettext_noop("Resumed: {title}"),
    "delete": gettext_noop("Stopped: {title}"),
}
_STATES = {
    "ACTIVE": gettext_noop("{title}: {when}"),
    "PAUSED": gettext_noop("{title}: {when} (paused)"),
    "DISABLED": gettext_noop("{title}: {when} (disabled)"),
    "COMPLETED": gettext_noop("{title}: {when} (completed)"),
}


@tool(name="list_tasks", effect="read")
async def list_tasks(context: ToolExecutionContext) -> str:
    """List the person's reminders, tasks and watches."""
    tasks = await context.tasks.list()
    if not tasks:
        return gettext("Nothing is scheduled.")
    return "\n".join([gettext("Scheduled:"), *(_line(task) for task in tasks)])


@tool(name="pause_task", effect="idempotent", parallel=False, group=GROUP)
async def pause_task(which: str, context: ToolExecutionContext) -> str:
    """Let a task rest until it is resumed.

    Args:
        which: Its number in list_tasks, or words of its title.
    """
    return await _change(which, "pause", context)


@tool(name="resume_task", effect="idempotent", parallel=False, group=GROUP)
async def resume_task(which: str, context: ToolExecutionContext) -> str:
    """Resume a paused or disabled task; runs missed in the meantime are not made up for.

    Args:
        which: Its number in list_tasks, or words of its title.
    """
    return await _change(which, "resume", context)


@tool(name="stop_task", effect="idempotent", parallel=False)
async def stop_task(which: str, context: ToolExecutionContext) -> str:
    """Stop a task or a reminder.

    Args:
        which: Its number in list_tasks, or words of its title.
    """
    return await _change(which, "delete", context)


@tool(name="run_task_now", effect="idempotent", parallel=False, group=GROUP)
async def run_task_now(which: str, context: ToolExecutionContext) -> str:
    """Run a task once, now, besides its schedule. Its result is sent to the person by itself.

    Args:
        which: Its number in list_tasks, or words of its title.
    """
    task = await meant_task(which, context)
    await context.tasks.run_now(task.id, context.idempotency_key)
    return gettext(
        "Task {number}, {title}, is running now; I will send you the result.", number=task.number, title=task.title
    )


@tool(name="why_task", effect="read", group=GROUP)
async def why_task(which: str, context: ToolExecutionContext) -> str:
    """Return why a task ran or did not: its last times, readings, decisions and deliveries. Also of stopped tasks.

    Args:
        which: Its number, or words of its title.
    """
    return await context.tasks.why(which)


async def _change(which: str, change: _Change, context: ToolExecutionContext) -> str:
    async def plan() -> dict[str, Any]:
        meant = await meant_task(which, context)
        return {"task": meant.id, "number": meant.number, "title": meant.title, "state": meant.state.value}

    planned = await plan_once(context, plan)
    number, title = planned["number"], planned["title"]
    # If this call runs again, the task is as the call has left it.
    if not await context.tasks.change(planned["task"], change) and not await _is_changed(planned, change, context):
        return gettext("Task {number}, {title}, cannot be changed like that now.", number=number, title=title)
    offer_state(
        context, planned["task"], gettext(_TITLES[change], title=title), active=planned["state"] == TaskState.ACTIVE
    )
    return gettext(_DONE[change], number=number, title=title)


async def _is_changed(planned: Mapping[str, Any], change: _Change, context: ToolExecutionContext) -> bool:
    """Return whether a task is in the state that a change leads to, and was not before."""
    kept = await context.tasks.find(planned["task"])
    if kept is None or change == "delete":
        return kept is not None and kept.deleted
    return kept.state is _STATE_AFTER[change] and kept.state != planned["state"]


def offer_state(context: ToolExecutionContext, task: str, title: str, *, active: bool) -> None:
    """Offer to let a task be again in the state in which it was."""
    context.undo.offer(title, take_back_task_change.name, {"task": task, "active": active})


@tool(name="take_back_task_change", effect="idempotent", inverse=True)
async def take_back_task_change(task: str, active: bool, context: ToolExecutionContext) -> str:
    """Let a task go on, or rest, as it did before it was paused, resumed or stopped.

    Args:
        task: The task's id.
        active: Whether it went on before.
    """
    kept = await restored_task(task, context)
    if kept.active is not active:
        await context.tasks.change(task, "resume" if active else "pause")
    sentence = gettext_noop("Undone: task {number}, {title}, goes on.")
    if not active:
        sentence = gettext_noop("Undone: task {number}, {title}, is paused.")
    return gettext(sentence, number=kept.number, title=kept.title)


async def restored_task(task: str, context: ToolExecutionContext) -> TaskNote:
    """Return a task, restored if it was stopped. Raises `ToolFailed` if nothing of it is due any more."""
    kept = await context.tasks.find(task)
    if kept is None or (kept.deleted and not await context.tasks.change(task, "restore")):
        raise ToolFailed(gettext("Its time has passed: {title}.", title=kept.title if kept else task))
    return await context.tasks.find(task) or kept


async def meant_task(which: str, context: ToolExecutionContext) -> TaskNote:
    """Return the only task that `which` names; raise `ToolRetry` with a list if it names none or several."""
    tasks = await context.tasks.list()
    text = which.strip().casefold().lstrip("#")
    named = _NUMBERED.fullmatch(text)
    matches = [task for task in tasks if task.id == which.strip() or (named and str(task.number) == named[1])]
    if not matches:
        words = [word for word in text.replace(",", " ").split() if word not in _FILLERS]
        matches = [task for task in tasks if all(word in f"{task.title} {task.when}".casefold() for word in words)]
    if len(matches) == 1:
        return matches[0]
    if not tasks:
        raise ToolRetry(gettext("Nothing is scheduled."))
    lines = "\n".join(_line(task) for task in matches or tasks)
    if matches:
        raise ToolRetry(gettext("More than one task matches. Reply with its number:\n{tasks}", tasks=lines))
    raise ToolRetry(gettext("No task matches. Reply with the number of one of these:\n{tasks}", tasks=lines))


def _line(task: TaskNote) -> str:
    if task.active and task.next_at not in task.when:
        words = gettext("{title}: {when}, next on {moment}", title=task.title, when=task.when, moment=task.next_at)
    else:
        words = gettext(_STATES[task.state], title=task.title, when=task.when)
    if task.quiet_until:
        words = gettext("{task}; quiet until {time}", task=words, time=task.quiet_until)
    return f"{task.number}. {words}"
