"""Standing consents on a person's page, to be ended as by WITHDRAW in a chat."""

from collections.abc import Iterable, Sequence

from aiohttp import web

from core.consents.types import StandingConsent
from core.consents.words import agreed_in_words
from core.language.catalogue import gettext, speaking
from operations.console.access import Scope
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.people import PLACE, person_of
from operations.console.visits import Visit

CONSENT_SAID = {
    "consent-ended": "Ended. The person is asked from now on.",
    "no-consent": "There is no such consent any more.",
}


class ConsentPages(Pages):
    """End a consent: people their own, operators any."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post(f"{PLACE}/{{tenant}}/withdraw", self._withdraw)]

    @signed_in
    async def _withdraw(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        person = await person_of(request, visit.scope)
        written = (await entered(request)).get("number", "")
        number = int(written) if written.isdecimal() and len(written) < 10 else 0
        await self.kit.actions.record(visit.scope, person.id, "withdraw", str(number))
        text = "" if person.id == visit.viewer.tenant_id else await _told(visit.scope, person.id, number)
        ended = await self.kit.stores.consents.withdraw(person.id, number, "console", self.kit.now(), text)
        return lead_to(f"{PLACE}/{person.id}", said="consent-ended" if ended else "no-consent")


def consent_lines(consents: Iterable[StandingConsent]) -> list[tuple[int, str, str, bool]]:
    """Return a person's consents as lines: the number, the coverage, the state, and whether it can be ended."""
    return [
        (
            consent.number,
            agreed_in_words(consent.agreed),
            f"used {consent.used} of {consent.agreed.max_uses}, until {consent.agreed.expires_at:%Y-%m-%d}"
            + (f", ended: {consent.reason.replace('_', ' ')}" if consent.state == "ended" else ""),
            consent.state == "active",
        )
        for consent in consents
    ]


async def _told(scope: Scope, tenant: str, number: int) -> str:
    row = await scope.tenant_row(tenant, "select language from tenants where tenant_id = $1")
    with speaking(str(row["language"]) if row else None):
        return gettext(
            "Your consent {number} was ended by whoever runs me. From now on I ask you first.", number=number
        )
