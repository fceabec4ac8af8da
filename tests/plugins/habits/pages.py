"""The console's page of habits."""

from collections.abc import Sequence

from aiohttp import web

from operations.console.pages.base import Pages, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit


class HabitPages(Pages):
    """Show a person's own habits, and nobody else's."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/habits", self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        rows = await visit.scope.tenant_rows(
            visit.viewer.tenant_id, "select * from habits where tenant_id = $1 order by name"
        )
        return self.kit.page("habits/habits.html", visit, here="habits", habits=rows)
