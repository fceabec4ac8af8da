"""The whole system as it runs for an operator: processes of their own, on servers of their own."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from core.clock import Clock
from core.db.migrate import migrate
from onevalet.dev.embedded.postgres import Postgres
from onevalet.dev.embedded.valkey import Valkey
from simulator.app import Simulator, serve_simulator
from simulator.config import Person, SimulatorConfig
from tests.forker import Forked, Forker
from tests.installation import common_settings, free_port, provider_settings, until_ready
from tests.scripted_model import ScriptedModel, echo
from tests.services import private_postgres, private_valkey
from tests.spine.balancer import balanced

PUBLIC_URL = "https://valet.example"
WORDS = {"web": ["web"], "worker": ["worker", "--no-spare"]}
"""A killed worker stays dead until the test starts it."""
TELEGRAM_SECRET = "telegram-webhook-secret"


@dataclass(slots=True)
class Member:
    """One process of the system; it may be killed and started again on the same port."""

    name: str
    command: str
    environment: dict[str, str]
    log: Path
    forker: Forker
    process: Forked | None = None

    @property
    def pid(self) -> int:
        """Return the id of the running process."""
        assert self.process is not None
        return self.process.pid

    @property
    def url(self) -> str:
        """Return the address of a web process."""
        return f"http://127.0.0.1:{self.environment['PORT']}"

    def start(self) -> None:
        """Start it; its output goes to its log."""
        self.process = self.forker.fork(WORDS[self.command], self.environment, self.log)

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal and give its exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), 40)


@dataclass(slots=True)
class System:
    """Everything that runs, with what a test may do to it."""

    postgres: Postgres
    valkey: Valkey
    simulator: Simulator
    model: ScriptedModel
    folder: Path
    webs: list[Member] = field(default_factory=list)
    workers: list[Member] = field(default_factory=list)

    async def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Connect as the superuser, to look at everything as the checker does."""
        return await asyncpg.connect(self.postgres.url)

    def logs(self) -> str:
        """Return everything that the processes wrote."""
        return "".join(member.log.read_text(errors="replace") for member in (*self.webs, *self.workers))


@asynccontextmanager
async def running_system(
    folder: Path, people: tuple[Person, ...], forker: Forker, *, webs: int = 2, workers: int = 2, pace: float = 0.1
) -> AsyncIterator[System]:
    """Run a system for the block: servers, simulator, scripted model, and the processes."""
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        await migrate(postgres.url)
        web_ports = [free_port() for _ in range(webs)]
        balancer = await stack.enter_async_context(balanced(lambda: web_ports))
        config = SimulatorConfig(
            gateway_url=f"http://127.0.0.1:{balancer}",
            public_url=PUBLIC_URL,
            people=people,
            journal_path=folder / "journal.jsonl",
            pace=pace,
        )
        simulator = await stack.enter_async_context(serve_simulator(config, Clock(), "127.0.0.1", 0))
        model = await stack.enter_async_context(ScriptedModel(echo))
        system = System(postgres, valkey, simulator, model, folder)
        environment = (
            common_settings(postgres.url, valkey.url, model.url, PUBLIC_URL)
            | provider_settings(config, simulator.wire.url, TELEGRAM_SECRET)
            | {"ONEVALET_MEMORY": "off", "ONEVALET_PROFILE": "off"}
        )
        for number, port in enumerate(web_ports, start=1):
            of_web = environment | {"PORT": str(port)}
            system.webs.append(Member(f"web{number}", "web", of_web, folder / f"web{number}.log", forker))
        for number in range(1, workers + 1):
            log = folder / f"worker{number}.log"
            system.workers.append(Member(f"worker{number}", "worker", environment, log, forker))
        await forker.ready()
        stack.push_async_callback(_stop_all, system)
        for member in (*system.webs, *system.workers):
            member.start()
        await asyncio.gather(*(until_ready(web.url, web.process) for web in system.webs))
        await _set_up_channels(system, environment, forker)
        yield system


async def _set_up_channels(system: System, environment: dict[str, str], forker: Forker) -> None:
    said = system.folder / "setup.log"
    process = forker.fork(["channels", "setup"], environment, said)
    assert await process.wait() == 0, said.read_text()


async def _stop_all(system: System) -> None:
    await asyncio.gather(*(member.stop() for member in (*system.webs, *system.workers)))
