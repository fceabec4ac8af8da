"""The start: the CPU of a command and of a worker until it is ready, and the memory of web and worker."""

import asyncio
import base64
import itertools
import os
import resource
import subprocess
import sys
from contextlib import AsyncExitStack
from tempfile import TemporaryDirectory

import asyncpg
import psutil

from onevalet.migrating import migrate
from onevalet.servers.port import free_port
from tests.services import private_postgres, private_valkey
from workbench.benchmarks import way_in, webhooks
from workbench.benchmarks.report.results import ROOT
from workbench.benchmarks.suite.metrics import FLOOR, LEAN, OURS, Benchmark, Metric, Options, Samples, Target
from workbench.benchmarks.whole.way import LEAN as WITHOUT_MEMORY

_ABOUT = """\
Each process starts anew in each round, from compiled files. A worker is ready when its health row says so. Memory is
the resident set: of web after two hundred messages, of the worker when it is ready, with memory's encoder not loaded
yet. Floor of `--help`: a Python that does nothing; of the imports: `import litellm`, whole."""
METRICS = (
    Metric("start-help", "`onevalet --help`", "s CPU", Target(0.25)),
    Metric("start-worker", "a worker until it is ready", "s CPU", Target(1.5)),
    Metric("start-imports", "a worker's imports", "s CPU"),
    Metric("memory-web", "memory of web, with SMS", "MB", Target(80)),
    Metric("memory-web-all", "memory of web, with all three channels", "MB", Target(85)),
    Metric("memory-worker", "memory of a worker, with SMS", "MB", Target(190)),
)
_AT_ONCE = "; import os; os._exit(0)"
"""Without the end of the process, which takes long with many modules."""
_NUMBERS = itertools.count(30_000_000)
_IMPORTS = (
    "import asyncio; from onevalet.settings import load_settings; from onevalet.wiring.preload import load_worker;"
    "asyncio.run(load_worker(load_settings()))"
)


async def run(options: Options) -> Samples:
    """Start each afresh in each round."""
    samples = Samples()
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        await migrate(postgres.url)
        admin = await asyncpg.connect(postgres.url)
        stack.push_async_callback(admin.close)
        # A small run uses the compiled files: compiling all libraries takes a quarter of a minute.
        compiled = "" if options.small else stack.enter_context(TemporaryDirectory())
        environment = _environment(postgres.url, valkey.url, compiled)
        providers = await stack.enter_async_context(way_in.providers())
        everything = environment | way_in.environment_of(postgres.url, valkey.url, 0, providers) | _python(compiled)
        if not options.small:
            await _worker(admin, environment)  # compiles
            await _web(everything)
        for _ in range(1 if options.small else min(options.rounds, 3)):
            if not options.small:
                samples.add(
                    "start-imports",
                    FLOOR,
                    await asyncio.to_thread(_spent, environment, "-c", f"import litellm{_AT_ONCE}"),
                )
            samples.add(
                "start-imports", OURS, await asyncio.to_thread(_spent, environment, "-c", f"{_IMPORTS}{_AT_ONCE}")
            )
            samples.add("start-help", FLOOR, await asyncio.to_thread(_spent, environment, "-c", ""))
            samples.add("start-help", OURS, await asyncio.to_thread(_spent, environment, "-m", "onevalet", "--help"))
            for name, more in ((OURS, {}), (LEAN, WITHOUT_MEMORY)):
                cpu, memory = await _worker(admin, environment | more)
                samples.add("start-worker", name, cpu)
                samples.add("memory-worker", name, memory)
            samples.add("memory-web", OURS, await _web(environment))
            samples.add("memory-web-all", OURS, await _web(everything))
    return samples


def _spent(environment: dict[str, str], *arguments: str) -> float:
    """Return the CPU of an interpreter with these arguments, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-W", "ignore", *arguments], check=True, env=environment, capture_output=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def _worker(admin: "asyncpg.Connection[asyncpg.Record]", environment: dict[str, str]) -> tuple[float, float]:
    """Return the CPU until it says that it works, in seconds, and its memory in MB."""
    await admin.execute("delete from worker_health")
    process = await _started("worker", environment, "--no-spare")
    try:
        while not await admin.fetchval("select count(*) from worker_health"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return _figures(process.pid)
    finally:
        process.terminate()
        await process.wait()


async def _web(environment: dict[str, str]) -> float:
    """Return the memory of web after messages of each channel that is on, in MB."""
    port = free_port()
    process = await _started("web", environment | {"HOST": "127.0.0.1", "PORT": str(port)})
    try:
        await way_in.listens(port)
        for name, make in way_in.CONTESTANTS.items():
            if name == "sms" or (name != "floor" and f"{name.upper()}_BOT_TOKEN" in environment):
                requests = [make(number % 20, next(_NUMBERS)) for number in range(200)]
                if len(await webhooks.send_all(port, requests, 8)) < len(requests):
                    raise RuntimeError(f"{name} was refused")
        return _figures(process.pid)[1]
    finally:
        process.terminate()
        await process.wait()


async def _started(command: str, environment: dict[str, str], *options: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "onevalet", command, *options, env=environment, stderr=asyncio.subprocess.DEVNULL
    )


def _figures(pid: int) -> tuple[float, float]:
    process = psutil.Process(pid)
    times = process.cpu_times()
    return times.user + times.system, process.memory_info().rss / 2**20


def _environment(database_url: str, redis_url: str, compiled: str) -> dict[str, str]:
    return (
        os.environ
        | _python(compiled)
        | {
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "ONEVALET_ACCESS": "open",
            "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
            "ONEVALET_MODEL": "openai/scripted",
            "OPENAI_API_KEY": "sk-scripted",
            "PUBLIC_URL": webhooks.PUBLIC_URL,
            "TWILIO_ACCOUNT_SID": webhooks.ACCOUNT_SID,
            "TWILIO_AUTH_TOKEN": webhooks.AUTH_TOKEN,
            "TWILIO_FROM": webhooks.NUMBER,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "ONEVALET_MOST_WAITING": "100000",
            "PYTHONPATH": str(ROOT),
        }
    )


def _python(compiled: str) -> dict[str, str]:
    """Return variables that let Python compile, as the image does beforehand."""
    return {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}


BENCHMARK = Benchmark("start", "Start and memory", _ABOUT, METRICS, run)
