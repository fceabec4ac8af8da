"""All data of a person, from their page: exported by themselves, deleted by an operator."""

from collections.abc import Sequence

from aiohttp import web

from operations.console.access import NothingHere
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.people import PLACE, person_of
from operations.console.visits import Visit
from operations.tenants.deletion import AskedBy, ask_deletion

DATA_SAID = {
    "links": "There were many exports today; try again tomorrow.",
    "other": "Nobody was deleted: that is not the id of this person.",
}


class DataPages(Pages):
    """Lead people to the archive of their data, and let operators delete other people."""

    def routes(self) -> Sequence[web.RouteDef]:
        place = f"{PLACE}/{{tenant}}"
        return [web.post(f"{place}/export", self._export), web.post(f"{place}/delete", self._delete)]

    @signed_in
    async def _export(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Lead to a new link. Operators export by the command line: an archive has all of a person's texts."""
        person = await person_of(request, visit.scope)
        visit.scope.own(person.id)
        await self.kit.actions.record(visit.scope, person.id, "export", "")
        link = await self.kit.stores.exports.link(person.id, self.kit.now())
        return lead_to(link) if link else lead_to(f"{PLACE}/{person.id}", said="links")

    @signed_in
    async def _delete(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Request a person's deletion by a worker, as `tenants delete` does, but never the operator's own."""
        person = await person_of(request, visit.scope)
        visit.scope.only_operators()
        if person.id == visit.viewer.tenant_id:
            raise NothingHere
        if (await entered(request)).get("id", "").strip() != person.id:
            return lead_to(f"{PLACE}/{person.id}", said="other")
        # On the operator's own page, since the person's goes with them.
        await self.kit.actions.record(visit.scope, visit.viewer.tenant_id, "delete", person.id)
        await ask_deletion(visit.scope.everybody(), person.id, AskedBy.OPERATOR, self.kit.now())
        return lead_to(PLACE, said="deleted")
