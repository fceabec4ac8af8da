"""The whole system as it runs for an operator: processes of their own, on servers of their own."""

import asyncio
import base64
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from core.clock import Clock
from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from onevalet.servers.valkey import Valkey
from tests.eventually import eventually
from tests.forker import Forked, Forker, plain_environment
from tests.namespaces import Host
from tests.ports import free_port
from tests.readiness import is_ready
from tests.scripted_model import Script, ScriptedModel, echo
from tests.services import private_postgres, private_valkey
from tests.spine.balancer import Address, balanced, passed_on
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import Person, SimulatorConfig

PUBLIC_URL = "https://valet.example"
WORDS = {"web": ["web"], "worker": ["worker", "--no-spare"]}
"""A killed worker stays dead until the test starts it."""
LOOPBACK = "127.0.0.1"
TELEGRAM_SECRET = "telegram-webhook-secret"


@dataclass(slots=True)
class Member:
    """One process of the system; it may be killed and started again on the same port."""

    name: str
    command: str
    environment: dict[str, str]
    log: Path
    forker: Forker
    host: Host | None = None
    process: Forked | None = None

    @property
    def pid(self) -> int:
        """Return the id of the running process."""
        assert self.process is not None
        return self.process.pid

    @property
    def url(self) -> str:
        """Return the address of a web process."""
        return f"http://{self.environment.get('HOST', '127.0.0.1')}:{self.environment['PORT']}"

    def start(self) -> None:
        """Start it; its output goes to its log."""
        on = self.host.name if self.host else ""
        self.process = self.forker.fork(WORDS[self.command], self.environment, self.log, host=on)

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal and give its exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), 40)


@dataclass(frozen=True, slots=True)
class Places:
    """The hosts of the parts; the simulator and the model answer on each host's own 127.0.0.1."""

    postgres: Host
    valkey: Host
    webs: Sequence[Host]
    workers: Sequence[Host]


@dataclass(frozen=True, slots=True)
class Setup:
    """What a test may change: the model's answers, more of the environment, who makes the tables, Postgres' limit.

    `reaching` leads from the owner's address of the database to that of the processes. `places`: hosts of their own.
    """

    script: Script = echo
    environment: Mapping[str, str] = field(default_factory=dict)
    migrate: Callable[[str], Awaitable[object]] = migrate
    connections: int = 100
    reaching: Callable[[str], AbstractAsyncContextManager[str]] | None = None
    places: Places | None = None


@dataclass(slots=True)
class System:
    """Everything that runs, with what a test may do to it."""

    people: tuple[Person, ...]
    postgres: Postgres
    valkey: Valkey
    simulator: Simulator
    model: ScriptedModel
    folder: Path
    webs: list[Member] = field(default_factory=list)
    workers: list[Member] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    async def add(self, command: str, forker: Forker) -> Member:
        """Start one more process, of the code that this forker has loaded."""
        members = self.webs if command == "web" else self.workers
        name = f"{command}{len(members) + 1}"
        environment = self.environment | ({"HOST": LOOPBACK, "PORT": str(free_port())} if command == "web" else {})
        member = Member(name, command, environment, self.folder / f"{name}.log", forker)
        member.start()
        members.append(member)
        await _until_ready(self)
        return member

    async def restart(self, environment: Mapping[str, str]) -> None:
        """Start every process again, with this in its environment."""
        members = (*self.webs, *self.workers)
        await asyncio.gather(*(member.stop() for member in members))
        for member in members:
            member.environment |= environment
            member.start()
        await _until_ready(self)

    async def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Connect as the superuser, to look at everything as the checker does."""
        return await asyncpg.connect(self.postgres.url)

    def logs(self) -> str:
        """Return everything that the processes wrote."""
        return "".join(member.log.read_text(errors="replace") for member in (*self.webs, *self.workers))


@asynccontextmanager
async def running_system(
    folder: Path,
    people: tuple[Person, ...],
    forker: Forker,
    *,
    webs: int = 2,
    workers: int = 2,
    pace: float = 0.1,
    setup: Setup | None = None,
) -> AsyncIterator[System]:
    """Run a system for the block: servers, simulator, scripted model, and the processes."""
    setup = setup or Setup()
    places = setup.places
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(
            private_postgres(places.postgres if places else None, max_connections=str(setup.connections))
        )
        valkey = await stack.enter_async_context(private_valkey(places.valkey if places else None))
        await setup.migrate(postgres.url)
        of_webs: Sequence[Host | None] = places.webs if places else [None] * webs
        addresses = [(host.address if host else LOOPBACK, free_port()) for host in of_webs]
        balancer = await stack.enter_async_context(balanced(lambda: addresses))
        config = SimulatorConfig(
            gateway_url=f"http://{LOOPBACK}:{balancer}",
            public_url=PUBLIC_URL,
            people=people,
            journal_path=folder / "journal.jsonl",
            pace=pace,
        )
        simulator = await stack.enter_async_context(serve_simulator(config, Clock(), LOOPBACK, 0))
        model = await stack.enter_async_context(ScriptedModel(setup.script))
        system = System(people, postgres, valkey, simulator, model, folder)
        system.environment = environment = _environment(system, config) | dict(setup.environment)
        if setup.reaching:
            environment["DATABASE_URL"] = await stack.enter_async_context(setup.reaching(postgres.url))
        if places:
            await _answer_on(stack, (*places.webs, *places.workers), (simulator.url, model.url))
        for number, (host, (address, port)) in enumerate(zip(of_webs, addresses, strict=True), start=1):
            of_web = environment | {"HOST": address, "PORT": str(port)}
            system.webs.append(Member(f"web{number}", "web", of_web, folder / f"web{number}.log", forker, host))
        of_workers: Sequence[Host | None] = places.workers if places else [None] * workers
        for number, host in enumerate(of_workers, start=1):
            log = folder / f"worker{number}.log"
            system.workers.append(Member(f"worker{number}", "worker", dict(environment), log, forker, host))
        await forker.ready()
        stack.push_async_callback(_stop_all, system)
        for member in (*system.webs, *system.workers):
            member.start()
        await _until_ready(system)
        await _set_up_channels(system, environment, forker)
        yield system


async def _answer_on(stack: AsyncExitStack, hosts: Sequence[Host], urls: Sequence[str]) -> None:
    """Let each host find these servers of ours at its own loopback, under the same port."""
    for url in urls:
        port = urlsplit(url).port or 0
        for host in hosts:
            await stack.enter_async_context(passed_on(host.listen(port), _always((LOOPBACK, port))))


def _always(address: Address) -> Callable[[], Address]:
    return lambda: address


def _environment(system: System, config: SimulatorConfig) -> dict[str, str]:
    return plain_environment() | {
        "DATABASE_URL": system.postgres.url,
        "REDIS_URL": system.valkey.url,
        "PUBLIC_URL": PUBLIC_URL,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
        "ONEVALET_RATE_PER_MINUTE": "100000",
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_MEMORY": "off",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": system.model.url,
        "TWILIO_ACCOUNT_SID": config.twilio.account_sid,
        "TWILIO_AUTH_TOKEN": config.twilio.auth_token,
        "TWILIO_FROM": config.twilio.number,
        "TWILIO_API_URL": system.simulator.twilio_url,
        "SLACK_BOT_TOKEN": config.slack.bot_token,
        "SLACK_SIGNING_SECRET": config.slack.signing_secret,
        "SLACK_API_URL": system.simulator.slack_url,
        "TELEGRAM_BOT_TOKEN": config.telegram.bot_token,
        "TELEGRAM_WEBHOOK_SECRET": TELEGRAM_SECRET,
        "TELEGRAM_API_URL": system.simulator.telegram_url,
    }


async def _until_ready(system: System) -> None:
    for web in system.webs:
        await eventually(partial(_is_ready, web), f"readiness of {web.name}")


async def _is_ready(web: Member) -> bool:
    assert web.process is not None
    if web.process.returncode is not None:
        raise RuntimeError(f"{web.name} ended: {web.log.read_text()}")
    return await is_ready(web.url)


async def _set_up_channels(system: System, environment: dict[str, str], forker: Forker) -> None:
    log = system.folder / "setup.log"
    process = forker.fork(["channels", "setup"], environment, log)
    assert await process.wait() == 0, log.read_text()


async def _stop_all(system: System) -> None:
    running = [member for member in (*system.webs, *system.workers) if member.process and member.process.code is None]
    await asyncio.gather(*(member.stop() for member in running))
