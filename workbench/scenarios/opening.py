"""Opens a stage: servers, a web process, a worker, simulated providers, and a server for the tools' web requests."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from aiohttp import web

from core.clock import Clock, set_clock
from onevalet.environment import exported
from onevalet.servers.home import hold_home, own_folder
from onevalet.servers.opening import open_services
from onevalet.servers.server import EmbeddedServer
from onevalet.testing.scripted_model import ScriptedModel
from onevalet.wiring.preload import load_worker
from workbench.dev.bench.routes import open_bench
from workbench.dev.processes.assistant import Assistant
from workbench.dev.processes.child import Wanted
from workbench.dev.simulator_wiring import simulator_config, wire_simulator
from workbench.scenarios.arrival import bring_in
from workbench.scenarios.calendar_server import serve_calendar
from workbench.scenarios.scenario import Scenario
from workbench.scenarios.stage import Stage
from workbench.scenarios.stage_settings import reaching, settings_of
from workbench.scenarios.web_answers import serve_answers
from workbench.simulator.app import serve_simulator

PACE = 0.02
"""The providers' own waits, such as until a text counts as delivered, against those in life."""


@asynccontextmanager
async def open_stage(
    scenario: Scenario,
    given: Mapping[str, object] | None = None,
    routes: Iterable[web.AbstractRouteDef] = (),
) -> AsyncIterator[Stage]:
    """Start an installation for a scenario; `given` are further settings, such as the addresses of running servers.

    Other servers are embedded, and their data is removed with the stage. `routes`: more of the simulator.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(own_folder("onevalet-scenario-"))
        model = await stack.enter_async_context(ScriptedModel([]))
        stack.enter_context(exported({"OPENAI_API_BASE": model.url, "OPENAI_API_KEY": "sk-scripted"}))
        answers = await stack.enter_async_context(serve_answers(scenario.web))
        calendar = await stack.enter_async_context(serve_calendar(folder)) if scenario.calendar else ""
        clock = folder / "clock.json"
        set_clock(clock, offset=(scenario.start - datetime.now(UTC)).total_seconds() if scenario.start else 0.0)
        settings = settings_of(scenario, folder / "home", clock, answers, given or {})
        stack.enter_context(hold_home(settings.onevalet_home))
        await load_worker()
        servers: list[EmbeddedServer] = []
        settings = await stack.enter_async_context(open_services(settings, servers))
        bench = await stack.enter_async_context(open_bench(settings, servers))
        config = replace(simulator_config(settings.onevalet_home), pace=PACE, kept_in=None)
        served = serve_simulator(config, Clock(clock), bench=[*bench.routes(), *routes])
        simulator = await stack.enter_async_context(served)
        simulated = wire_simulator(settings, config, simulator.url)
        places = (f"127.0.0.1:{simulator.mail.port}", urlsplit(answers).netloc, calendar)
        simulated = replace(simulated, settings=reaching(simulated.settings, *places))
        outside = await bring_in(scenario, simulated, config, simulator, bench)
        if calendar:
            await outside.connect_calendar(calendar)
        wanted = Wanted(simulated.settings, simulated.channels, simulator.url)
        assistant = bench.breaking.assistant = Assistant(wanted)
        await stack.enter_async_context(assistant.running(processes=_kills(scenario)))
        yield Stage(simulator, model, bench, outside, scenario.model == "scripted")


def _kills(scenario: Scenario) -> bool:
    """Return whether a step kills a process, which must then not be this process."""
    return any(step.verb == "break" and step.value in ("worker", "web") for step in scenario.steps)
