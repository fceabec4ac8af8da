"""The whole system under faults: servers, connections that can be disturbed, providers, people, and our processes."""

import asyncio
import base64
import random
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import asyncpg

from core.clock import set_clock
from core.db.addresses import hosts_of
from core.db.connector import connect
from core.db.serving import ROLE
from core.json_types import JsonObject, object_in
from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from onevalet.servers.valkey import Valkey
from tests.eventually import eventually
from tests.faults.eye import Eye
from tests.faults.journals import append
from tests.faults.members import Member
from tests.faults.phone_driver import PhonesPlan, Saying
from tests.faults.providers import ProvidersPlan
from tests.faults.proxy import Proxy, Trouble, proxied
from tests.faults.script import CHANNELS, answer, make_sayings
from tests.forker import Forked, Forker, plain_environment
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.readiness import is_ready
from tests.scripted_model import Script, ScriptedModel
from tests.services import private_postgres, private_valkey
from tests.small_disk import SmallDisk, small_disk
from tests.spine.balancer import balanced
from workbench.simulator.config import Person, SimulatorConfig

PUBLIC_URL = "https://valet.example"
LOGIN = "onevalet_login"
"""The login of our processes: no superuser, so that limits apply to them as in an operator's installation."""
SECRET_KEY = base64.b64encode(b"zqcanary-secret-key-of-the-house").decode()
MODEL_KEY = "sk-zqcanary-model-key"
_EYE = """
select w.waiting_messages + w.running_turns + w.open_outbound
     + (select count(*) from event_work where state = 'waiting')
     + (select count(*) from task_runs where state in ('QUEUED', 'RUNNING'))
     + (select count(*) from run_notices where state = 'open')
from count_work() w
"""
"""An event whose worker died before its wakeup is found seconds after all else is quiet."""
_STUCK = """
select (select count(*) from turns t join lanes l on l.tenant_id = t.tenant_id and l.id = t.lane_id
        where t.state = 'running'
          and coalesce(l.lease_until, t.started_at) < clock_timestamp() - make_interval(secs => $1)
          and coalesce(l.not_before, t.started_at) < clock_timestamp() - make_interval(secs => $1))
     + (select count(*) from outbound o where o.state = 'sending'
        and o.lease_until < clock_timestamp() - make_interval(secs => 20 + $1))
"""
"""Rows in a running state whose lease ended `$1` seconds ago; 20 more for those of the outbox."""
STUCK_AFTER = 20.0
"""Twice the length of a lease."""


@dataclass(slots=True)
class Harness:
    """All running parts, and what a test may do to them."""

    folder: Path
    forker: Forker
    seed: int
    people: tuple[Person, ...]
    postgres: Postgres
    valkey: Valkey
    model: ScriptedModel
    chance: random.Random
    wires: dict[str, Proxy]
    """postgres, redis and providers."""
    simulator_url: str
    clock: Path
    pace: float
    """The factor of the providers' waits, and of how long Telegram keeps undelivered updates."""
    webs: list[Member] = field(default_factory=list)
    workers: list[Member] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    spoilt: set[str] = field(default_factory=set)
    """Tokens whose invariants a test broke on purpose, by removing a write."""
    stuck_after: float = STUCK_AFTER
    """Seconds after the end of its lease from which a row in a running state is stuck (I8)."""
    disk: SmallDisk | None = None
    """The disk of Postgres, if a test may fill it."""
    url: str = ""
    """The owner's address of the database, which `postgres` serves unless a test brings its own."""
    told: int = 0
    """How many texts exist, so that each token belongs to one text."""

    @property
    def members(self) -> list[Member]:
        """Return all our processes."""
        return [*self.webs, *self.workers]

    @property
    def has_begun(self) -> bool:
        """Return whether any of our processes was ever started."""
        return any(member.lives for member in self.members)

    def strike(self, action: str, target: str = "", *, back: float | None = None) -> None:
        """Record what was done, and when it ended."""
        append(self.folder / "strikes.jsonl", what=action, target=target, back=back or time.time())

    def token(self, person: str) -> str:
        """Return a token for one more text."""
        self.told += 1
        return f"m{self.told:05}-{person}"

    def say(
        self, count: int, *, seconds: float, copies: int = 1, acting: float = 0.3, channels: Sequence[str] = CHANNELS
    ) -> list[Saying]:
        """Create texts of all people, each with a token of its own."""
        first, self.told = self.told + 1, self.told + count
        return make_sayings(
            *(self.people, count, self.chance),
            seconds=seconds,
            first=first,
            copies=copies,
            acting=acting,
            channels=channels,
        )

    async def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Connect as the superuser, not through the proxy, to read all rows as the checker does."""
        return await connect(self.url, timeout=10)

    def people_write(self, sayings: Sequence[Saying]) -> Forked:
        """Let people write, driven by a separate process."""
        path = self.folder / f"phones-{time.monotonic_ns()}.json"
        plan = PhonesPlan(self.simulator_url, str(self.folder / "phones.jsonl"), list(sayings), self.seed)
        path.write_text(plan.to_json())
        return self.forker.fork([str(path)], plain_environment(), self.folder / "phones.log", module=_PHONES)

    async def written(self, phones: Forked) -> None:
        """Wait until everything is written."""
        code = await phones.wait()
        assert code == 0, (self.folder / "phones.log").read_text()[-3000:]

    async def fault(self, **rule: object) -> None:
        """Let a provider misbehave; see simulator.faults."""
        url = f"{self.simulator_url}/sim/faults"
        async with aiohttp.ClientSession() as session, session.post(url, json=rule) as answer:
            assert answer.status == 200, await answer.text()

    async def act(self, person: str, provider: str, action: str, **arguments: object) -> JsonObject:
        """Let a person act at a provider; ignore an action that is impossible now. Return what the provider says."""
        url = f"{self.simulator_url}/sim/{provider}/{action}"
        wishes = {"person": person, **arguments}
        async with aiohttp.ClientSession() as session, session.post(url, json=wishes) as answered:
            assert answered.status in (200, 400), await answered.text()
            return object_in(await answered.text())

    async def no_faults(self) -> None:
        """Let the providers behave again."""
        url = f"{self.simulator_url}/sim/faults"
        async with aiohttp.ClientSession() as session, session.delete(url) as answer:
            assert answer.status == 200

    async def until_kept(self, tokens: set[str], within: float) -> set[str]:
        """Wait until every text is in the inbox; return those that are not."""
        missing = tokens

        async with self._looking() as eye:

            async def all_kept() -> bool:
                nonlocal missing
                texts = await eye.look("select text from inbound")
                missing = missing if texts is None else tokens - {text.partition(" ")[0] for text in texts}
                return not missing

            with suppress(AssertionError):
                await eventually(all_kept, within=within)
        return missing

    async def until_quiet(self, within: float) -> float:
        """Wait until nothing waits, runs or is due to be sent; return how long that took."""
        began = time.monotonic()
        async with self._looking() as eye:

            async def is_quiet() -> bool:
                return await eye.look(_EYE) == [0]

            await eventually(is_quiet, "quiet", within=within)
        return time.monotonic() - began

    async def watch(self) -> None:
        """Record regularly whether a row is left in a running state without a lease, until cancelled."""
        async with self._looking() as eye:
            while True:
                if stuck := await eye.look(_STUCK, self.stuck_after):
                    append(self.folder / "watch.jsonl", stuck=stuck[0])
                await asyncio.sleep(2)

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[Eye]:
        eye = Eye(self.connect)
        try:
            yield eye
        finally:
            eye.close()

    async def until_ready(self, web: Member, within: float = PATIENCE) -> None:
        """Wait until a web process serves."""
        await eventually(partial(is_ready, web.url), f"readiness of {web.name}", within=within)


_PHONES = "tests.faults.phone_driver"


@asynccontextmanager
async def open_harness(
    folder: Path,
    forker: Forker,
    people: tuple[Person, ...],
    *,
    seed: int = 0,
    webs: int = 2,
    workers: int = 2,
    kept: bool = False,
    script: Script = answer,
    pace: float = 0.1,
    patience: float = 1.0,
    sweep: float | None = 5.0,
    started: bool = True,
    settings: dict[str, str] | None = None,
    small: bool = False,
    database_url: str = "",
) -> AsyncIterator[Harness]:
    """Run the system for the block. `pace` multiplies the providers' waits; `sweep` is the seconds between catch-ups.

    `kept`: workers have their supervisors, as they are shipped; otherwise a dead one waits for the test. `small`:
    Postgres lies on a disk that can be filled up. `database_url`: the owner's address of a database that the test
    brings; Postgres is then not started, and its wire leads to the first host that is named. Not `started`: the test
    starts our processes, with settings of its own, and sets the channels up.
    """
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - once
    async with AsyncExitStack() as stack:
        disk = await stack.enter_async_context(small_disk()) if small else None
        if database_url:
            postgres = Postgres(folder)
        else:
            postgres = disk.server if disk else await stack.enter_async_context(private_postgres())
        url = database_url or postgres.url
        valkey = await stack.enter_async_context(private_valkey())
        await migrate(url)
        await _make_login(url)
        ports = [free_port() for _ in range(webs)]
        balancer = await stack.enter_async_context(balanced(lambda: ports))
        simulator_port = free_port()
        model = await stack.enter_async_context(ScriptedModel(script))
        wires = {
            name: await stack.enter_async_context(proxied(port))
            for name, port in (
                ("postgres", hosts_of(url)[0][1]),
                ("redis", _port(valkey.url)),
                ("providers", simulator_port),
            )
        }
        clock = folder / "clock.json"
        set_clock(clock)
        harness = Harness(
            *(folder, forker, seed, people, postgres, valkey, model, random.Random(seed), wires),
            simulator_url=f"http://127.0.0.1:{simulator_port}",
            clock=clock,
            pace=pace,
            disk=disk,
            url=url,
        )
        plan = ProvidersPlan(
            port=simulator_port,
            url=f"http://127.0.0.1:{wires['providers'].port}",
            gateway_url=f"http://127.0.0.1:{balancer}",
            public_url=PUBLIC_URL,
            people=list(people),
            journal=str(folder / "providers.jsonl"),
            clock=str(clock),
            pace=pace,
            patience=patience,
            seed=seed,
        )
        harness.environment = _environment(harness, sweep) | (settings or {})
        await forker.ready()
        await stack.enter_async_context(_providers(harness, plan))
        for number, port in enumerate(ports, start=1):
            harness.webs.append(
                Member(folder, forker, f"web{number}", "web", harness.environment | {"PORT": str(port)})
            )
        for number in range(1, workers + 1):
            harness.workers.append(
                Member(folder, forker, f"worker{number}", "kept" if kept else "worker", harness.environment)
            )
        stack.push_async_callback(_end_all, harness)
        if started:
            for member in harness.members:
                member.start()
            await asyncio.gather(*(harness.until_ready(web) for web in harness.webs))
            await set_up_channels(harness)
        watching = asyncio.create_task(harness.watch())
        stack.push_async_callback(_cancel, watching)
        yield harness


async def set_up_channels(harness: Harness) -> None:
    """Set the webhooks as an operator does."""
    log = harness.folder / "setup.log"
    process = harness.forker.fork(["channels", "setup"], harness.environment, log)
    assert await process.wait() == 0, log.read_text()


def make_people(count: int) -> tuple[Person, ...]:
    """Create people with distinct addresses."""
    return tuple(
        Person(f"p{n:03}", f"Person {n}", f"+1555040{n:04}", f"U0P{n:07}", 620_000_000 + n) for n in range(count)
    )


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


async def _make_login(url: str) -> None:
    connection = await connect(url, timeout=10)
    try:
        await connection.execute(f"create role {LOGIN} login password '{LOGIN}' in role {ROLE}")
    finally:
        await connection.close()


def _through(url: str, wire: Proxy, user: str = "") -> str:
    parts = urlsplit(url)
    host = f"{parts.hostname}:{wire.port}"
    kept = parts.netloc.rpartition("@")[0]
    login = f"{user}:{user}" if user else kept
    return parts._replace(netloc=f"{login}@{host}" if login else host).geturl()


@asynccontextmanager
async def _providers(harness: Harness, plan: ProvidersPlan) -> AsyncIterator[None]:
    path = harness.folder / "providers.json"
    path.write_text(plan.to_json())
    log = harness.folder / "providers.log"
    process = harness.forker.fork([str(path)], plain_environment(), log, module="tests.faults.providers")

    async def serve() -> bool:
        if process.returncode is not None:
            raise RuntimeError(log.read_text())
        with suppress(aiohttp.ClientError):
            async with aiohttp.ClientSession(harness.simulator_url) as session, session.get("/sim/people") as answer:
                return answer.status == 200
        return False

    await eventually(serve, "the providers")
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


def _environment(harness: Harness, sweep: float | None) -> dict[str, str]:
    config = SimulatorConfig()
    providers = f"http://127.0.0.1:{harness.wires['providers'].port}"
    return plain_environment() | {
        "DATABASE_URL": _through(harness.url, harness.wires["postgres"], LOGIN),
        "REDIS_URL": _through(harness.valkey.url, harness.wires["redis"]),
        "PUBLIC_URL": PUBLIC_URL,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_CLOCK": str(harness.clock),
        "ONEVALET_FILES": str(harness.folder / "files"),
        "ONEVALET_SECRET_KEYS": SECRET_KEY,
        "ONEVALET_RATE_PER_MINUTE": "100000",
        "ONEVALET_SMS_SEGMENTS_PERSON_DAY": "1000000",
        "ONEVALET_SMS_ASK_SEGMENTS": "1000",  # nobody is there to choose how a long answer comes
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_PLUGINS": "tests.plugins.faults",
        "OPENAI_API_KEY": MODEL_KEY,
        "OPENAI_API_BASE": harness.model.url,
        "TWILIO_ACCOUNT_SID": config.twilio.account_sid,
        "TWILIO_AUTH_TOKEN": config.twilio.auth_token,
        "TWILIO_FROM": config.twilio.number,
        "TWILIO_API_URL": f"{providers}/twilio",
        "SLACK_BOT_TOKEN": config.slack.bot_token,
        "SLACK_SIGNING_SECRET": config.slack.signing_secret,
        "SLACK_API_URL": f"{providers}/slack/api/",
        "TELEGRAM_BOT_TOKEN": config.telegram.bot_token,
        "TELEGRAM_WEBHOOK_SECRET": "zqcanary-webhook-secret",
        "TELEGRAM_API_URL": f"{providers}/telegram",
        "FAULTS_FOLDER": str(harness.folder),
        **({"FAULTS_SWEEP": str(sweep)} if sweep else {}),
    }


async def _end_all(harness: Harness) -> None:
    for wire in harness.wires.values():
        wire.be(Trouble.NONE)
    await asyncio.gather(*(member.end() for member in harness.members if member.process is not None))


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
