"""Outside events of a scenario: events of other services, and the operator who admits a person."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import aiohttp

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from core.people.pairing import Pairings, PairOutcome
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import secret_keys
from workbench.dev.simulator_wiring import local_url
from workbench.scenarios.calendar_server import SERVICE, account_at
from workbench.scenarios.steps import ScenarioError, Step

SOURCE = "outside"
"""The source of an event that names none."""


@dataclass(slots=True)
class Outside:
    """Webhooks to the first person. `addresses` are theirs: channel, account, and key."""

    settings: Settings
    database: Database
    addresses: Sequence[tuple[str, str, str]]
    _secrets: dict[str, str] = field(default_factory=dict)

    async def make_sources(self, steps: Iterable[Step]) -> None:
        """Create the sources that the steps name; raise `ScenarioError` for a name that none can have."""
        names = {str(step.options.get("source", SOURCE)) for step in steps if step.verb == "event"}
        if not names:
            return
        # Without the ability there are no sources, and no scenario that has any.
        from abilities.events.source_types import Style
        from abilities.events.sources import EventSources, SourceError

        tenant = await self._tenant()
        sources = EventSources(self.database, self._credentials, make_id)
        for name in sorted(names):
            try:
                _, self._secrets[name] = await sources.add(tenant, name, Style.BEARER)
            except SourceError as error:
                raise ScenarioError(str(error)) from error

    async def connect_calendar(self, place: str) -> None:
        """Connect the calendar of a server as the first person's."""
        await self._credentials.save(await self._tenant(), SERVICE, account_at(place))

    @property
    def _credentials(self) -> CredentialStore:
        return CredentialStore(self.database, secret_keys(self.settings))

    async def _tenant(self) -> str:
        row = await self.database.one("select * from find_identity($1,$2,$3)", *self.addresses[0])
        return str(row["tenant_id"])

    async def admit(self, code: str, role: PersonRole) -> None:
        """Admit the person with a code, as the operator does; raise `ScenarioError` if it is not valid."""
        now = Clock(self.settings.onevalet_clock).now()
        pairing = await Pairings(self.database, make_id).redeem(code, role, now)
        if pairing.outcome is not PairOutcome.PAIRED:
            raise ScenarioError(f"the code {code} is {pairing.outcome.value}.")

    async def tell(self, source: str, type: str, data: JsonObject) -> None:
        """Post an event as the service would, with the secret of its source; raise `ScenarioError` if it is refused."""
        headers = {
            "Authorization": f"Bearer {self._secrets[source]}",
            "X-Event-Type": type,
            "X-Event-Id": make_id("evt"),
        }
        url = f"{local_url(self.settings)}/events/{source}"
        async with aiohttp.ClientSession() as http, http.post(url, json=data, headers=headers) as answer:
            if answer.status != 200:
                raise ScenarioError(f"the event was not taken: {answer.status} {await answer.text()}")
