"""The console's page of follow-ups: the proposals, and the outcome of each."""

from collections.abc import Sequence
from dataclasses import replace

from aiohttp import web

from abilities.followups.reading import list_followups
from onevalet.ability import ConsolePages
from operations.console.live import version_of
from operations.console.pages.base import Pages, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit

HERE = f"{PATH}/followups"


class FollowUpPages(Pages):
    """Show follow-ups: people see their own, with their words."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(HERE, self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        rows = await list_followups(visit.scope)
        # A list is no look that is recorded, so it shows nobody's words but the viewer's own.
        shown = [
            row if self.kit.texts.may_preview(visit.viewer, row.tenant_id) else replace(row, text="") for row in rows
        ]
        return self.kit.page("followups/list.html", visit, here="followups", rows=shown, version=version_of(shown))


PAGES = ConsolePages([FollowUpPages], menu=[("followups", "Follow-ups")])
