"""The console's page of model calls that quiet hours spared."""

from collections.abc import Sequence

from aiohttp import web

from abilities.cost.spared import DAYS, read_spared
from operations.console.live import version_of
from operations.console.pages.base import Pages, signed_in
from operations.console.rendering import money
from operations.console.sign_in import PATH
from operations.console.visits import Visit


class SparedPages(Pages):
    """Show the saved calls: people see their own, operators those of all."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/spared", self._show)]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        currency = self.kit.budgets.currency
        found = await read_spared(visit.scope, self.kit.machine_now().date())
        rows = [
            (
                one.work,
                f"{one.calls:,}",
                "not known" if one.cost is None else f"about {money(float(one.cost), currency)}",
            )
            for one in found
        ]
        return self.kit.page("cost/spared.html", visit, here="spared", rows=rows, days=DAYS, version=version_of(rows))
