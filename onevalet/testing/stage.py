"""A whole installation for one scenario: servers, a web process, a worker, simulated providers, a clock to move."""

import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.clock import Clock, set_clock
from onevalet.dev.embedded.home import hold_home
from onevalet.dev.seed import bring_in_owner
from onevalet.dev.services import open_services
from onevalet.dev.simulator_wiring import local_url, simulator_config, wire_simulator
from onevalet.settings import Settings, load_settings
from onevalet.testing.phones import Phone, phone_of
from onevalet.testing.scenario import Scenario
from onevalet.testing.scripted_model import ScriptedModel
from onevalet.wiring.preload import load_worker
from onevalet.wiring.web import open_web
from onevalet.wiring.worker import open_worker
from simulator.app import Simulator, serve_simulator

PACE = 0.02
"""The providers' own waits, such as until a text counts as delivered, against those in life."""

_SERVERS = {"database_url": "ONEVALET_SCENARIO_DATABASE_URL", "redis_url": "ONEVALET_SCENARIO_REDIS_URL"}


@dataclass(slots=True)
class Stage:
    """An installation at work. `model` answers from its queue where the scenario is scripted."""

    simulator: Simulator
    model: ScriptedModel
    settings: Settings
    clock_path: Path
    offset: timedelta = timedelta()

    def phone(self, channel: str, person: str) -> Phone:
        return phone_of(self.simulator, channel, person)

    def advance(self, span: timedelta) -> None:
        """Move everybody's clock ahead."""
        self.offset += span
        set_clock(self.clock_path, offset=self.offset.total_seconds())


@asynccontextmanager
async def open_stage(scenario: Scenario, given: Mapping[str, object] | None = None) -> AsyncIterator[Stage]:
    """Start an installation for a scenario; `given` are further settings, such as the addresses of running servers.

    Servers that are not named are embedded ones, whose data goes with the stage.
    """
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="onevalet-scenario-")))
        _let_pass(folder)
        model = await stack.enter_async_context(ScriptedModel([]))
        stack.enter_context(_environment({"OPENAI_API_BASE": model.url, "OPENAI_API_KEY": "sk-scripted"}))
        clock_path = folder / "clock.json"
        offset = scenario.start - datetime.now(UTC) if scenario.start else timedelta()
        set_clock(clock_path, offset=offset.total_seconds())
        settings = _settings(scenario, folder / "home", clock_path, given or {})
        stack.enter_context(hold_home(settings.onevalet_home))
        await load_worker()
        settings = await stack.enter_async_context(open_services(settings))
        config = replace(simulator_config(settings.onevalet_home), pace=PACE)
        simulator = await stack.enter_async_context(serve_simulator(config, Clock(clock_path)))
        simulated = wire_simulator(settings, config, simulator.url)
        settings = simulated.settings
        await bring_in_owner(simulated, config, simulator.mail.port)
        await stack.enter_async_context(open_worker(settings, demo=True))
        _, channels = await stack.enter_async_context(open_web(settings, local=simulated.channels))
        simulator.wire.connect_gateway(local_url(settings), settings.public_url)
        for channel in channels:
            await channel.setup()
        yield Stage(simulator, model, settings, clock_path, offset)


def _let_pass(folder: Path) -> None:
    """As root, let the servers' own user through to what is theirs."""
    if os.geteuid() == 0:
        folder.chmod(0o711)


def _settings(scenario: Scenario, home: Path, clock: Path, given: Mapping[str, object]) -> Settings:
    """Return a scenario's settings: its own, and nothing of this folder's `.env`."""
    own = {name.lower(): value for name, value in scenario.settings.items()}
    servers = {name: os.environ[variable] for name, variable in _SERVERS.items() if os.environ.get(variable)}
    return load_settings(
        _env_file=None,
        **{
            "database_url": None,
            "redis_url": None,
            **servers,
            "onevalet_home": home,
            "onevalet_clock": clock,
            "port": _free_port(),
            "onevalet_model": "openai/scripted" if scenario.model == "scripted" else "",
            "onevalet_plugins": scenario.plugins,
            "onevalet_memory": "off",  # what is remembered is asked of the model too, at moments of its own
            "onevalet_profile": "off",
            **own,
            **given,
        },
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables that litellm reads itself, and put back what was there."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
