"""Connected accounts: an account is disconnected after its page has asked, as a card does in the chat."""

from collections.abc import Sequence

from aiohttp import web

from core.credentials.choice import shown
from core.credentials.types import Account
from onevalet.ability import ConsolePages
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.people import PLACE, person_of
from operations.console.visits import Visit

SAID = {
    "disconnected": "The account is disconnected, and its password or token is deleted.",
    "there": "The account is forgotten here. To end it at its service as well, take OneValet off there.",
    "none": "There is no such account any more.",
}


class AccountPages(Pages):
    """Disconnect an account: its person's own, and anybody's for operators, as `credentials delete` does."""

    def routes(self) -> Sequence[web.RouteDef]:
        place = f"{PLACE}/{{tenant}}"
        return [web.post(f"{place}/disconnect", self._ask), web.post(f"{place}/disconnected", self._disconnect)]

    @signed_in
    async def _ask(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Show the account that would end, and the data that end with it."""
        person = await person_of(request, visit.scope)
        account = await self._meant(request, person.id)
        if account is None:
            return lead_to(f"{PLACE}/{person.id}", said="none")
        can = ", ".join(sorted(account.abilities))
        return self.kit.page(
            "confirm.html",
            visit,
            here="people",
            title="Disconnect this account?",
            lines=[shown(account), f"It can: {can}." if can else ""],
            note="What opens it is forgotten, and what was kept of it. To use it again, connect it again.",
            address=f"{PLACE}/{person.id}/disconnected",
            fields=[("service", account.service), ("account", account.name)],
            label="Disconnect",
            back=f"{PLACE}/{person.id}",
        )

    @signed_in
    async def _disconnect(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        account = await self._meant(request, person.id)
        if account is None:
            return lead_to(f"{PLACE}/{person.id}", said="none")
        await self.kit.actions.record(visit.scope, person.id, "disconnect", account.service)
        accounts = self.kit.services.accounts
        ended = accounts is not None and await accounts.disconnect(person.id, account)
        return lead_to(f"{PLACE}/{person.id}", said="disconnected" if ended else "there")

    async def _meant(self, request: web.Request, tenant: str) -> Account | None:
        fields = await entered(request)
        wanted = fields.get("service", ""), fields.get("account", "")
        accounts = self.kit.services.accounts
        known = await accounts.list(tenant) if accounts else ()
        return next((one for one in known if (one.service, one.name) == wanted), None)


PAGES = ConsolePages([AccountPages], said=SAID)
