"""A household to try on the page: the simulated owner with an adult and a child, made as people make one."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from aiohttp import web

from core.db.database import Database
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from onevalet.settings import Settings
from workbench.dev.bench.answers import answered
from workbench.dev.bench.clock import BenchClock
from workbench.dev.seed import let_in_as
from workbench.simulator.app import Simulator
from workbench.simulator.config import Person, SimulatorConfig

if TYPE_CHECKING:
    from abilities.household.households import Households

TO_TRY = "email inn@example.com that we come if Ben agrees"
NAME, ADULT, CHILD = "Rose Cottage", "Ben Lovelace", "Cleo Lovelace"


@dataclass(slots=True)
class HouseholdToTry:
    """Adds two people to the simulator, whom the operator admits, and who join the owner's household."""

    database: Database
    clock: BenchClock
    parts: tuple[Simulator, SimulatorConfig, Settings] | None = field(default=None)

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.post("/bench/household", answered(self.make))]

    def attach(self, simulator: Simulator, config: SimulatorConfig, settings: Settings) -> None:
        """Take the parts that exist only once the simulator runs."""
        self.parts = simulator, config, settings

    async def make(self, _: web.Request) -> JsonObject:
        """Make it; return {"told"}, a sentence."""
        if self.parts is None or find_spec("abilities.household") is None:
            raise RequestRefused("This assistant has no households.")
        simulator, config, _settings = self.parts
        if {ADULT, CHILD} & {person.name for person in config.everyone}:
            raise RequestRefused("Ben and Cleo are here already.")
        from abilities.household.roles import HouseholdRole

        owner = self._by(await self._admit(config.people[0], PersonRole.OWNER), "make")
        await owner.make(NAME)  # unless they are in one already
        for name, role in ((ADULT, HouseholdRole.ADULT), (CHILD, HouseholdRole.CHILD)):
            person = simulator.roster.add(name)
            tenant = await self._admit(person, PersonRole.MEMBER)
            _outcome, code = await self._by(owner.tenant_id, f"invite {person.key}").invite(role)
            for agreed in (False, True):
                await self._by(tenant, f"join {person.key} {agreed}").join(code, agreed=agreed)
        told = f"{ADULT}, an adult, and {CHILD}, a child, live with {config.people[0].name} now."
        return {"told": f"{told} To try what needs two of them, write: {TO_TRY}"}

    async def _admit(self, person: Person, role: PersonRole) -> str:
        assert self.parts is not None  # noqa: S101 - as `make` says
        return await let_in_as(self.database, self.parts[1], person, role)

    def _by(self, tenant_id: str, deed: str) -> "Households":
        from abilities.household.children import ChildTier
        from abilities.household.households import Households

        assert self.parts is not None  # noqa: S101 - as `make` says
        settings = self.parts[2]
        tier = ChildTier.among(settings.tiers, settings.day_budget)
        return Households(self.database, self.clock.told(), tenant_id, f"dev {deed}", tier)
