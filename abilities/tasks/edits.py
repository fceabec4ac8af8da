"""Tasks changed: another trigger of the same kind, other words, from now on."""

from dataclasses import replace

from abilities.tasks.codec import Trigger, kind_of, trigger_to_json
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from abilities.tasks.service import MAX_TITLE, TaskService
from abilities.tasks.types import ORCHESTRATOR, Task
from core.json_types import JsonObject, storable
from core.language.catalogue import gettext


async def edit_task(
    tasks: TaskService, tenant_id: str, task_id: str, trigger: Trigger, action: JsonObject, title: str
) -> Task | None:
    """Give a task another trigger, which counts from now on; return None if it is over. Raises `TriggerError`."""
    task = await tasks.store.get(tenant_id, task_id)
    if task is None or task.deleted or kind_of(trigger) is not task.kind:
        return None
    if task.executor == ORCHESTRATOR:
        tasks.check_action(task.executor, action)  # others stay with the executor that they were made for
    await tasks.check_new(tenant_id, trigger)
    now = await tasks.sound_now()
    title = storable(" ".join(title.split()))[:MAX_TITLE]
    edited = await tasks.scheduled(replace(task, trigger=trigger, action=storable(action), title=title), now)
    if isinstance(trigger, ScheduleTrigger) and edited.next_at is None:
        raise TriggerError(gettext("That is over already: it would never come."))
    row = await tasks.store.database.call(
        "select edit_task($1,$2,$3,$4,$5,$6,$7) as edited",
        tenant_id,
        task_id,
        {"trigger": trigger_to_json(edited.trigger), "title": title, "action": edited.action},
        now,
        edited.due_at,
        edited.next_at,
        edited.zone,
    )
    if not row or not row["edited"]:
        return None
    tasks.come_due(edited.next_at)
    return await tasks.store.get(tenant_id, task_id)
