"""Lets the first person of a scenario in, and lets bench and providers know each other."""

from workbench.dev.bench.routes import Bench
from workbench.dev.seed import addresses_of, bring_in_owner
from workbench.dev.simulator_wiring import Simulated, local_url
from workbench.scenarios.outside import Outside
from workbench.scenarios.scenario import Scenario
from workbench.simulator.app import Simulator
from workbench.simulator.config import SimulatorConfig


async def bring_in(
    scenario: Scenario, simulated: Simulated, config: SimulatorConfig, simulator: Simulator, bench: Bench
) -> Outside:
    """Admit the first person, make the scenario's event sources, and connect the bench to both sides."""
    await bring_in_owner(simulated, config, simulator.mail.port)
    bench.states = lambda: {name: provider.state() for name, provider in simulator.providers.items()}
    bench.addresses = lambda key: addresses_of(config, key)
    simulator.wire.connect_gateway(local_url(simulated.settings), simulated.settings.public_url)
    outside = Outside(simulated.settings, bench.database, addresses_of(config, config.people[0].key))
    await outside.make_sources(scenario.steps)
    return outside
