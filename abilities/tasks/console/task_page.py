"""The page of a task: why it ran or did not, its next times, and the changes that it allows."""

from collections.abc import Sequence

import structlog
from aiohttp import web

from abilities.tasks.console.list_page import HERE
from abilities.tasks.console.listing import read_tasks
from abilities.tasks.console.spared import read_spared
from abilities.tasks.console.task_view import TaskView, changed, read_task
from abilities.tasks.edits import edit_task
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.service import TaskService
from abilities.tasks.types import Task
from core.language.catalogue import speaking
from operations.console.access import NothingHere
from operations.console.live import version_of
from operations.console.pages.base import Kit, Pages, entered, lead_to, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit

_SAID = {
    "run": "Started: a worker takes it within seconds.",
    "pause": "Paused: nothing runs until it is resumed.",
    "resume": "Resumed, from now on.",
    "retry": "It is tried again, from when it was due.",
    "edit": "Changed, from now on.",
    "not": "That is not possible: its state does not allow it.",
}
"""The page's sentence about the form that led to it."""
_MAX_EXPRESSION = 500
_log = structlog.get_logger()


class TaskPages(Pages):
    """Show a task, run, pause, resume and change it, as `tasks` does on the command line."""

    def __init__(self, kit: Kit, tasks: TaskService) -> None:
        super().__init__(kit)
        self._tasks = tasks

    def routes(self) -> Sequence[web.RouteDef]:
        address = f"{PATH}/tasks/{{tenant}}/{{task}}"
        return [
            web.get(address, self._show),
            web.post(f"{address}/{{change:run|pause|resume|retry}}", self._change),
            web.post(f"{address}/edit", self._edit),
        ]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        view = await self._read(request, visit)
        return await self._page(visit, view, said=_SAID.get(request.query.get("said", ""), ""))

    @signed_in
    async def _change(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        view = await self._read(request, visit)
        if view.task.deleted:
            raise NothingHere
        change, key = request.match_info["change"], (await entered(request)).get("key", "")
        await self.kit.actions.record(visit.scope, view.task.tenant_id, f"{change} task", view.task.id)
        try:
            done = await self._do(view.task, change, self.kit.actions.read_key(key, visit.viewer, view.task.tenant_id))
        except TriggerError as error:
            return await self._page(visit, view, said=str(error), status=422)
        _log.info("task_changed_in_console", task=view.task.id, change=change, done=done)
        return lead_to(_address(view), said=change if done else "not")

    @signed_in
    async def _edit(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Change a task's action and time; only the person themselves can, as it is their wish that runs."""
        view = await self._read(request, visit)
        visit.scope.own(view.task.tenant_id)
        if not view.fields:
            raise NothingHere
        fields, task = await entered(request), view.task
        await self.kit.actions.record(visit.scope, task.tenant_id, "edit task", task.id)
        try:
            trigger, action, title = changed(view, fields)
            edited = await edit_task(self._tasks, task.tenant_id, task.id, trigger, action, title)
        except TriggerError as error:
            return await self._page(visit, view, said=str(error), values=fields, status=422)
        return lead_to(_address(view), said="edit" if edited else "not")

    async def _do(self, task: Task, change: str, key: str) -> bool:
        tenant = task.tenant_id
        match change:
            case "run":
                # Empty if this very form was sent before: it runs already.
                await self._tasks.run_now(tenant, task.id, key)
                return True
            case "pause":
                return await self._tasks.pause_task(tenant, task.id)
            case "resume":
                return await self._tasks.resume_task(tenant, task.id)
        return await self._tasks.retry(tenant, task.id)

    async def _read(self, request: web.Request, visit: Visit) -> TaskView:
        tenant, wanted = request.match_info["tenant"], request.match_info["task"]
        with speaking("en"):
            found = await read_tasks(visit.scope, self._tasks.store, tenant, {wanted})
            if not found:
                raise NothingHere
            expression = request.query.get("expression", "").strip()[:_MAX_EXPRESSION]
            return await read_task(self._tasks, found[0], expression)

    async def _page(
        self, visit: Visit, view: TaskView, *, said: str = "", values: dict[str, str] | None = None, status: int = 200
    ) -> web.Response:
        tenant, task = view.task.tenant_id, view.task.id
        spared = await read_spared(visit.scope, [view.task], self.kit.machine_now())
        async with visit.scope.tenant(tenant) as connection:
            may_read = await self.kit.texts.look(connection, visit, tenant, "task", task, self.kit.now())
        return self.kit.page(
            "tasks/task.html",
            visit,
            status=status,
            here="tasks",
            view=view,
            spared=spared.figures,
            may_read=may_read,
            own=tenant == visit.viewer.tenant_id,
            said=said,
            values=values or {},
            address=_address(view),
            key=self.kit.actions.new_key(),
            version=version_of(view.row, view.runs, spared),
        )


def _address(view: TaskView) -> str:
    return f"{HERE}/{view.task.tenant_id}/{view.task.id}"
