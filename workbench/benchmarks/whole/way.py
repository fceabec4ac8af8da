"""A web and a worker process with servers of their own, to which people write texts and wait for the answers."""

import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import psutil
from aiohttp import web

from onevalet.servers.port import free_port
from tests.postgres_meter import PostgresMeter, metered
from tests.services import private_postgres, private_valkey
from workbench.benchmarks import way_in, webhooks
from workbench.benchmarks.cpu import cpu_of, until_rest
from workbench.benchmarks.webhooks import send_all
from workbench.benchmarks.whole.checkouts import COMPILING, HERE, Checkout
from workbench.benchmarks.whole.plain_sql import wal_written
from workbench.serving import serving

SHIPPED: dict[str, str] = {}
LEAN = {"ONEVALET_MEMORY": "off"}
"""Nothing is remembered beyond a conversation's history."""
_EARLIER = {"ONEVALET_SMS_SEGMENTS_ALL_DAY": "10000000"}
"""The limit that an earlier commit has besides."""
_FILES = f"/2010-04-01/Accounts/{webhooks.ACCOUNT_SID}/Messages/{{message}}/Media/{{media}}"
_NUMBERS = itertools.count(20_000_000)
_WAIT = 60.0
"""Seconds after which an answer counts as lost."""
_COUNTING = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "all",
    "pg_stat_statements.track_planning": "on",
    "pg_stat_statements.max": "20000",
}
_PAUSES = Path(__file__).with_name("pauses")


@dataclass(frozen=True, slots=True)
class Spent:
    """The usage since the processes began: CPU in ms, WAL in kB."""

    web: float
    worker: float
    postgres: float
    wal: float

    def __sub__(self, before: "Spent") -> "Spent":
        return Spent(*(getattr(self, name) - getattr(before, name) for name in Spent.__slots__))


@dataclass(slots=True)
class Way:
    """The processes, and who waits for an answer."""

    port: int
    waiting: dict[str, "asyncio.Future[float]"] = field(default_factory=dict)
    processes: dict[str, psutil.Process] = field(default_factory=dict)
    photo: bytes = b""
    """The content at the beginning of each of the provider's files; no two files are the same."""
    provider: str = ""
    pauses: Path = Path()
    """Where the processes note how long the garbage collector stopped them."""
    url: str = ""
    meter: PostgresMeter | None = None
    """The worker's statements to Postgres, if it is counted."""
    admin: "asyncpg.Connection[asyncpg.Record] | None" = None

    @property
    def connection(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Return the bench's own connection to Postgres."""
        assert self.admin is not None  # noqa: S101 - it is open while the processes run
        return self.admin

    async def ask(self, person: int, words: str = webhooks.TEXT, *, photo: bool = False) -> float:
        """Send a text, perhaps with a photo, and wait for its answer; return the seconds that it took."""
        number = f"+1555{person:07d}"
        answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.waiting[number] = answered
        name = next(_NUMBERS)
        media = f"{self.provider}{_FILES.format(message=f'MM{name:032x}', media=f'ME{name:032x}')}" if photo else ""
        request, began = webhooks.sms(person, next(_NUMBERS), media, words), time.perf_counter()
        if not await send_all(self.port, [request], 1):
            raise RuntimeError("a text was refused")
        async with asyncio.timeout(_WAIT):
            return (await answered) - began

    async def spent(self) -> Spent:
        """Return the usage of the processes and their Postgres."""
        own, wal = await self.connection.fetchval("select pg_backend_pid()"), await wal_written(self.connection)
        backend = psutil.Process(own)
        server = backend.parent()
        assert server is not None  # noqa: S101
        cpu = {name: 1000 * cpu_of(process) for name, process in self.processes.items()}
        return Spent(cpu["web"], cpu["worker"], 1000 * (cpu_of(server) - cpu_of(backend)), wal / 1000)

    async def rest(self) -> None:
        """Wait until the worker has done the work after the answers."""
        await until_rest(self.processes["worker"])

    def longest_pauses(self) -> list[float]:
        """Return how long the garbage collector stopped the worker, in ms, the longest first; the rest is forgotten."""
        noted = Path(f"{self.pauses}.{self.processes['worker'].pid}")
        lines = noted.read_text(encoding="ascii").split() if noted.exists() else []
        noted.unlink(missing_ok=True)
        return sorted(map(float, lines), reverse=True)

    def memory(self, name: str) -> float:
        """Return the resident set of a process, in MB."""
        return float(self.processes[name].memory_info().rss / 2**20)

    async def take(self, request: web.Request) -> web.Response:
        """Take a text as Twilio does."""
        form = await request.post()
        waiting = self.waiting.pop(str(form["To"]), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(time.perf_counter())
        told = {"sid": f"SM{next(_NUMBERS):032x}", "status": "queued", "to": form["To"], "body": form["Body"]}
        return web.json_response(told | {"num_segments": "1", "error_code": None}, status=201)

    async def hand_out(self, request: web.Request) -> web.Response:
        """Return a file of its own."""
        return web.Response(body=self.photo + request.match_info["media"].encode(), content_type="image/jpeg")


async def sustained(way: Way, people: int, seconds: float, words: str = webhooks.TEXT) -> tuple[float, list[float]]:
    """Let people write again once they are answered; return turns a second, and the seconds of each."""
    times: list[float] = []
    began = time.perf_counter()

    async def talk(person: int) -> None:
        while time.perf_counter() - began < seconds:
            times.append(await way.ask(person, words))

    await asyncio.gather(*(talk(person) for person in range(people)))
    return len(times) / (time.perf_counter() - began), times


@asynccontextmanager
async def opened(
    settings: dict[str, str], checkout: Checkout = HERE, *, counted: bool = False, channels: bool = False
) -> AsyncIterator[Way]:
    """Run a web and a worker process of a checkout, with these settings besides those of a bench.

    With `channels`, Slack and Telegram are on too. If they are `counted`, the worker's statements go through a meter,
    Postgres counts its plans, and nothing but the worker waits for a flush.
    """
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres(**(_COUNTING if counted else {})))
        valkey = await stack.enter_async_context(private_valkey())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        way = Way(free_port(), url=postgres.url, pauses=folder / "pauses")
        way.provider = await stack.enter_async_context(_provider(way))
        environment = way_in.environment_of(postgres.url, valkey.url, way.port, way.provider)
        environment |= _bench(await _model(stack)) | settings | COMPILING
        environment |= {"BENCH_PAUSES": str(way.pauses), "PYTHONPATH": str(_PAUSES), "ONEVALET_HOME": str(folder)}
        if not checkout.is_this:
            environment |= _EARLIER
        if not channels:
            hidden = ("SLACK_", "TELEGRAM_")
            environment = {name: value for name, value in environment.items() if not name.startswith(hidden)}
        migrating = await _started(checkout, environment, "migrate")
        if await migrating.wait():
            raise RuntimeError(f"{checkout.folder} could not migrate")
        way.admin = await asyncpg.connect(postgres.url)
        stack.push_async_callback(way.admin.close)
        urls = {"web": postgres.url, "worker": postgres.url}
        if counted:
            await way.admin.execute("create extension pg_stat_statements")
            way.meter = await stack.enter_async_context(metered(postgres.url))
            mark = "&" if "?" in postgres.url else "?"
            urls = {"web": f"{postgres.url}{mark}synchronous_commit=off", "worker": way.meter.url}
        for name, command in (("web", ("web",)), ("worker", ("worker", "--no-spare"))):
            process = await _started(checkout, environment | {"DATABASE_URL": urls[name]}, *command)
            stack.push_async_callback(process.wait)
            stack.callback(process.terminate)
            way.processes[name] = psutil.Process(process.pid)
        await way_in.listens(way.port)
        while not await way.admin.fetchval("select count(*) from worker_health"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        yield way


def _bench(model: str) -> dict[str, str]:
    """Return the settings of a bench: a model that answers at once, and no limits."""
    return {
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_RATE_PER_MINUTE": "100000",
        "ONEVALET_SMS_SEGMENTS_PERSON_DAY": "1000000",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": model,
    }


async def _model(stack: AsyncExitStack) -> str:
    """Run a model in a process of its own; return its address."""
    process = await asyncio.create_subprocess_exec(
        HERE.python, "-m", "workbench.benchmarks.whole.model", stdout=asyncio.subprocess.PIPE, cwd=HERE.folder
    )
    stack.push_async_callback(process.wait)
    stack.callback(process.terminate)
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    return (await process.stdout.readline()).decode().strip()


async def _started(checkout: Checkout, environment: dict[str, str], *command: str) -> asyncio.subprocess.Process:
    silent = asyncio.subprocess.DEVNULL
    return await asyncio.create_subprocess_exec(
        checkout.python, "-m", "onevalet", *command, env=environment, cwd=checkout.folder, stdout=silent, stderr=silent
    )


@asynccontextmanager
async def _provider(way: Way) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post(f"/2010-04-01/Accounts/{webhooks.ACCOUNT_SID}/Messages.json", way.take)
    app.router.add_get(_FILES, way.hand_out)
    app.router.add_route("*", "/{rest:.*}", way_in.answer_channel)
    async with serving(app) as origin:
        yield origin
