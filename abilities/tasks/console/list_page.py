"""Tasks: the list and the calendar."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from aiohttp import web

from abilities.tasks.console.listing import PAGE, TaskCursor, TaskRow, calendar, list_tasks
from abilities.tasks.console.spared import DAYS as SPARED_DAYS
from abilities.tasks.console.spared import read_spared
from abilities.tasks.service import TaskService
from core.language.catalogue import speaking
from core.tools.context import TaskState
from operations.console.live import version_of
from operations.console.pages.base import Kit, Pages, signed_in
from operations.console.rendering import zone_of
from operations.console.sign_in import PATH
from operations.console.visits import Visit

HERE = f"{PATH}/tasks"


class TaskListPages(Pages):
    """Show tasks by when they come next, and on which days."""

    def __init__(self, kit: Kit, tasks: TaskService) -> None:
        super().__init__(kit)
        self._tasks = tasks

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(HERE, self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        viewer = visit.viewer
        asked, after = request.query.get("state", ""), TaskCursor.read(request.query.get("after", ""))
        state = TaskState(asked) if asked in tuple(TaskState) else None
        with speaking("en"):
            rows = await list_tasks(visit.scope, self._tasks.store, state=state, after=after)
        shown = [row if self.kit.texts.may_preview(viewer, row.task.tenant_id) else _untold(row) for row in rows]
        as_calendar = request.query.get("view") == "calendar"
        days = partial(calendar, shown, self.kit.now(), zone_of(viewer))
        spared = (await read_spared(visit.scope, [row.task for row in rows], self.kit.machine_now())).figures
        return self.kit.page(
            "tasks/list.html",
            visit,
            here="tasks",
            rows=shown,
            days=await self._tasks.in_thread(days) if as_calendar else [],
            as_calendar=as_calendar,
            state=state or "",
            states=tuple(TaskState),
            after=bool(after),
            spared=spared,
            spared_days=SPARED_DAYS,
            following=str(rows[-1].cursor) if len(rows) == PAGE else "",
            version=version_of(shown, spared),
        )


def _untold(row: TaskRow) -> TaskRow:
    """Return a task without its person's words."""
    return replace(row, task=replace(row.task, title=""), when=row.task.kind.value)
