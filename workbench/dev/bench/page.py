"""All that the page of a `dev` may ask for and do, put together: the bench, and the scenarios."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from onevalet.servers.server import EmbeddedServer
from onevalet.settings import Settings
from workbench.dev.bench.group import GroupToTry
from workbench.dev.bench.household import HouseholdToTry
from workbench.dev.bench.routes import Bench, open_bench
from workbench.dev.bench.scenarios import Scenarios, open_scenarios
from workbench.dev.seed import addresses_of
from workbench.simulator.app import Simulator
from workbench.simulator.config import SimulatorConfig


@dataclass(frozen=True, slots=True)
class PageBench:
    """The bench of a `dev` and its scenarios."""

    bench: Bench
    scenarios: Scenarios
    household: HouseholdToTry
    group: GroupToTry

    def routes(self) -> list[web.AbstractRouteDef]:
        return [*self.bench.routes(), *self.household.routes(), *self.group.routes(), *self.scenarios.routes()]

    def attach(self, simulator: Simulator, config: SimulatorConfig, settings: Settings) -> None:
        """Take the providers, and people's addresses, once they exist."""
        self.bench.states = lambda: {name: provider.state() for name, provider in simulator.providers.items()}
        self.bench.addresses = lambda key: addresses_of(config, key)
        self.household.attach(simulator, config, settings)
        self.group.attach(simulator, config)
        self.scenarios.attach(simulator, self.bench, settings)


@asynccontextmanager
async def open_page_bench(settings: Settings, servers: Sequence[EmbeddedServer]) -> AsyncIterator[PageBench]:
    """Yield the bench for the page of a `dev`."""
    async with open_bench(settings, servers) as bench, open_scenarios(settings.onevalet_home) as scenarios:
        household = HouseholdToTry(bench.database, bench.clock)
        yield PageBench(bench, scenarios, household, GroupToTry(bench.database))
