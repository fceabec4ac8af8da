"""The whole way: a text's webhook in, the answer sent to the provider, by a web and a worker process."""

import asyncio
import itertools
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import asyncpg
import psutil
from aiohttp import web

from onevalet.migrating import migrate
from onevalet.servers.port import free_port
from tests.services import private_postgres, private_valkey
from workbench.benchmarks import way_in, webhooks
from workbench.benchmarks.suite.metrics import OURS, Benchmark, Metric, Options, Plot, Points, Samples, Target
from workbench.benchmarks.webhooks import send_all
from workbench.serving import serving

_ABOUT = """\
From a text's webhook to the answer handed to the provider, with one model call, by one web and one worker process. The
simulated model, provider and people share the machine's cores. In p50 one text is under way at a time; sustained are
32 people who write again once they are answered."""
METRICS = (
    Metric("whole-light", "webhook in to answer handed to the provider, p50", "ms", Target(30)),
    Metric("whole-rate", "sustained by one web and one worker", "turns/s", Target(100, more=True)),
    Metric("whole-memory-web", "memory of web after that", "MB", Target(80)),
    Metric("whole-memory-worker", "memory of the worker after that", "MB", Target(200)),
)
_NUMBERS = itertools.count(20_000_000)
_FILES = f"/2010-04-01/Accounts/{webhooks.ACCOUNT_SID}/Messages/{{message}}/Media/{{media}}"
_WAIT = 60.0
"""Seconds after which an answer counts as lost."""


@dataclass(slots=True)
class Way:
    """The processes, and who waits for an answer."""

    port: int
    waiting: dict[str, "asyncio.Future[float]"] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)
    """Their process ids."""
    photo: bytes = b""
    """The content at the beginning of each of the provider's files; no two files are the same."""
    provider: str = ""

    async def ask(self, person: int, *, photo: bool = False) -> float:
        """Send a text, perhaps with a photo, and wait for its answer; return the seconds that it took."""
        number = f"+1555{person:07d}"
        answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.waiting[number] = answered
        name = next(_NUMBERS)
        media = f"{self.provider}{_FILES.format(message=f'MM{name:032x}', media=f'ME{name:032x}')}" if photo else ""
        request, began = webhooks.sms(person, next(_NUMBERS), media), time.perf_counter()
        if not await send_all(self.port, [request], 1):
            raise RuntimeError("a text was refused")
        async with asyncio.timeout(_WAIT):
            return (await answered) - began

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


async def run(options: Options) -> Samples:
    """Measure a single text at a time, then many people who write again after each answer."""
    samples = Samples()
    async with opened() as way:
        for person in range(options.of(32, 2)):
            await way.ask(person)
        for _ in range(options.rounds):
            times = sorted([await way.ask(person % 32) for person in range(options.of(30, 3))])
            samples.add("whole-light", OURS, times[len(times) // 2] * 1000)
        for _ in range(options.rounds):
            rate, _ = await sustained(way, options.of(32, 2), options.of(6, 1))
            samples.add("whole-rate", OURS, rate)
        if not options.small:
            samples.plots += await _by_concurrency(way)
        for name in ("web", "worker"):
            memory = psutil.Process(way.processes[name]).memory_info().rss / 2**20
            samples.add(f"whole-memory-{name}", OURS, memory)
    return samples


async def sustained(way: Way, people: int, seconds: float) -> tuple[float, list[float]]:
    """Return turns a second, and the seconds of each."""
    times: list[float] = []
    began = time.perf_counter()

    async def talk(person: int) -> None:
        while time.perf_counter() - began < seconds:
            times.append(await way.ask(person))

    await asyncio.gather(*(talk(person) for person in range(people)))
    return len(times) / (time.perf_counter() - began), times


async def _by_concurrency(way: Way) -> list[Plot]:
    rates: Points = []
    times: dict[str, Points] = {"p50": [], "p95": [], "p99": []}
    for people in (1, 4, 16, 32):
        rate, took = await sustained(way, people, 6)
        rates.append((people, rate))
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            times[label].append((people, sorted(took)[int(len(took) * share)] * 1000))
    return [
        Plot(
            "whole-way-by-concurrency",
            "Whole way, turns a second",
            "people who write at once",
            "turns/s",
            {OURS: rates},
        ),
        Plot("whole-way-latency", "Whole way, time of a turn", "people who write at once", "ms", times),
    ]


@asynccontextmanager
async def opened(**settings: str) -> AsyncIterator[Way]:
    """Run a web and a worker process, with these settings besides."""
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        await migrate(postgres.url)
        way = Way(free_port())
        provider = way.provider = await stack.enter_async_context(_provider(way))
        model = f"http://127.0.0.1:{(model_port := free_port())}/v1"
        environment = way_in.environment_of(postgres.url, valkey.url, way.port, provider) | {
            "ONEVALET_MODEL": "openai/scripted",
            "ONEVALET_MEMORY": "off",
            "ONEVALET_RATE_PER_MINUTE": "100000",
            "ONEVALET_SMS_SEGMENTS_PERSON_DAY": "1000000",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_API_BASE": model,
        }
        environment |= settings
        hidden = ("SLACK_", "TELEGRAM_")
        environment = {name: value for name, value in environment.items() if not name.startswith(hidden)}
        commands = (
            ("tests.scripted_model", "--port", str(model_port)),
            ("onevalet", "web"),
            ("onevalet", "worker", "--no-spare"),
        )
        silent = asyncio.subprocess.DEVNULL
        for command in commands:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", *command, env=environment, stdout=silent, stderr=silent
            )
            stack.push_async_callback(process.wait)
            stack.callback(process.terminate)
            way.processes[command[1]] = process.pid
        await way_in.listens(way.port)
        admin = await asyncpg.connect(postgres.url)
        stack.push_async_callback(admin.close)
        while not await admin.fetchval("select count(*) from worker_health"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        yield way


@asynccontextmanager
async def _provider(way: Way) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post(f"/2010-04-01/Accounts/{webhooks.ACCOUNT_SID}/Messages.json", way.take)
    app.router.add_get(_FILES, way.hand_out)
    async with serving(app) as origin:
        yield origin


BENCHMARK = Benchmark("whole-way", "The whole way", _ABOUT, METRICS, run)
