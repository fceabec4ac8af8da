"""Programs that ask a person's assistant by a token: it is made here, shown once, and revoked."""

from collections.abc import Sequence

from aiohttp import web

from operations.console.access import NothingHere
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.people import PLACE, person_of
from operations.console.visits import Visit
from operations.programs.tokens import LIFE

PROGRAM_SAID = {
    "revoked": "Revoked. That program can ask nothing any more.",
    "no-token": "There is no such token any more.",
    "not-made": "No token was made: it was made before, or there are too many. Revoke one first.",
}


class ProgramPages(Pages):
    """Make a token, which only its person may, and revoke a token, which operators may too."""

    def routes(self) -> Sequence[web.RouteDef]:
        place = f"{PLACE}/{{tenant}}/programs"
        return [web.post(place, self._make), web.post(f"{place}/revoke", self._revoke)]

    @signed_in
    async def _make(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        visit.scope.own(person.id)
        fields, services = await entered(request), self.kit.services
        name = fields.get("name", "").strip()
        if not name or services.tokens is None:
            return lead_to(f"{PLACE}/{person.id}", said="not-made")
        # The form's key is the token's: sent twice it makes a single token, which only the first answer shows.
        id = self.kit.actions.read_key(fields.get("key", ""), visit.viewer, person.id).replace("con_", "mcp_")
        await self.kit.actions.record(visit.scope, person.id, "token", name[:60])
        made = await services.tokens.make(person.id, name, self.kit.now(), LIFE, id)
        if made is None:
            return lead_to(f"{PLACE}/{person.id}", said="not-made")
        return self.kit.page(
            "token.html",
            visit,
            here="people",
            name=name,
            secret=made.secret,
            address=f"{self.kit.visits.sign_in.public_url.rstrip('/')}/mcp",
            back=f"{PLACE}/{person.id}",
        )

    @signed_in
    async def _revoke(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        tokens = self.kit.services.tokens
        if tokens is None:
            raise NothingHere
        written = (await entered(request)).get("number", "")
        number = int(written) if written.isdecimal() and len(written) < 10 else 0
        await self.kit.actions.record(visit.scope, person.id, "revoke", str(number))
        name = await tokens.revoke(person.id, number, self.kit.now())
        return lead_to(f"{PLACE}/{person.id}", said="revoked" if name else "no-token")
