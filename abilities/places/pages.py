"""The console's page of places."""

from collections.abc import Sequence

from aiohttp import web

from abilities.places.types import KEPT
from onevalet.ability import ConsolePages
from operations.console.live import version_of
from operations.console.pages.base import Pages, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit


class PlacePages(Pages):
    """Show where a person was, to themselves and to nobody else."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/places", self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        own = visit.viewer.tenant_id
        seen = await visit.scope.tenant_rows(
            own,
            "select how, latitude, longitude, accuracy, name, at, live_until > $3 as live from seen_places"
            " where tenant_id = $1 and latitude is not null and at > $2 order by at desc, id",
            self.kit.now() - KEPT,
            self.kit.now(),
        )
        saved = await visit.scope.tenant_rows(
            own, "select name, latitude, longitude, radius from saved_places where tenant_id = $1 order by key"
        )
        version = version_of(seen, saved)
        return self.kit.page("places/list.html", visit, here="places", seen=seen, saved=saved, version=version)


PAGES = ConsolePages([PlacePages], menu=[("places", "Places")])
