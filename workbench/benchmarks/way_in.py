"""The way in: from a provider's webhook to a durable row, and its cost.

    uv run -m workbench.benchmarks.way_in [--messages 2000] [--in-flight 1 --in-flight 32 --in-flight 256] [--rounds 3]

A real `web` process and a Postgres of its own, fsync on. Contestants in turns: the floor (bare aiohttp, JSON, one
insert through a pool), then our three providers. CPU is that of the web process and of all of Postgres, in microseconds
a message; times are by wall clock, in ms. `signature` and `parse` are measured apart, in this process.
`fair`: one person writes one by one while 1,000 messages come in, from one other person and from 1,000 others. Each
figure is the median of the rounds. One line of JSON each.
"""

import argparse
import asyncio
import base64
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import asyncpg
import psutil
from aiohttp import web

from channels.slack import verify as slack_verify
from channels.slack.body import JSON_TYPE, decode_body
from channels.slack.messages import AppIdentity
from channels.slack.parse import parse as parse_slack
from channels.sms import verify as sms_verify
from channels.sms.parse import decode_form, parse_message
from channels.sms.texts import Account
from channels.telegram.parse import BotIdentity, parse_update
from channels.telegram.verify import is_secret
from core.json_types import read_json
from onevalet.migrating import migrate
from onevalet.servers.port import free_port
from tests.services import private_postgres, private_valkey
from workbench.benchmarks import webhooks
from workbench.benchmarks.cpu import cpu_of
from workbench.benchmarks.webhooks import Webhook, send_all
from workbench.serving import serving

PEOPLE = 200
FLOOD = 1000
FLOOD_IN_FLIGHT = 32
CONTESTANTS: dict[str, Webhook] = {
    "floor": webhooks.floor,
    "sms": webhooks.sms,
    "slack": webhooks.slack,
    "telegram": webhooks.telegram,
}
_ROWS = {"floor": "select count(*) from floor_messages"}
_NUMBERS = itertools.count(1)


@dataclass(slots=True)
class Bench:
    """The measured processes, and their ports."""

    admin: "asyncpg.Connection[asyncpg.Record]"
    postgres: psutil.Process
    ports: dict[str, int]
    web: dict[str, psutil.Process] = field(default_factory=dict)

    async def clear(self) -> None:
        """Mark all messages as answered, as workers would."""
        await self.admin.execute("update inbound set state = 'done' where state = 'waiting'")
        await self.admin.execute("update lanes set pending = false where pending")
        await self.admin.execute("vacuum analyze")
        await self.admin.execute("checkpoint")


async def measure(options: argparse.Namespace) -> AsyncIterator[dict[str, object]]:
    """Measure the parts, then each contestant; yield the figures."""
    for name, work in _apart().items():
        yield {"apart": name, "us": _timed(work)}
    async with opened() as bench:
        for name, make in CONTESTANTS.items():
            await send_all(bench.ports[name], [make(person, next(_NUMBERS)) for person in range(PEOPLE)], 8)
        for in_flight in options.in_flight:
            rounds: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
            for _ in range(options.rounds):
                for name in options.only or CONTESTANTS:
                    rounds[name].append(await phase(bench, name, options.messages, in_flight))
            for name, figures in rounds.items():
                if figures:
                    yield {"webhook": name, "in_flight": in_flight, **_medians(figures)}
        if not options.only:
            yield {"fair": "sms", **_medians([await _fair(bench) for _ in range(options.rounds)])}


async def phase(bench: Bench, name: str, messages: int, in_flight: int) -> dict[str, float]:
    """Return the cost of a number of messages to a contestant."""
    await bench.clear()
    make, count = CONTESTANTS[name], _ROWS.get(name, "select count(*) from inbound")
    requests = [make(number % PEOPLE, next(_NUMBERS)) for number in range(messages)]
    rows = await bench.admin.fetchval(count)
    before, begun = (cpu_of(bench.web[name]), cpu_of(bench.postgres)), time.perf_counter()
    times = sorted(await send_all(bench.ports[name], requests, in_flight))
    spent = time.perf_counter() - begun
    after = cpu_of(bench.web[name]), cpu_of(bench.postgres)
    stored = await bench.admin.fetchval(count) - rows
    if stored < len(times):
        raise RuntimeError(f"{name}: {len(times)} accepted, {stored} stored")
    return {
        "web_us": (after[0] - before[0]) / messages * 1e6,
        "postgres_us": (after[1] - before[1]) / messages * 1e6,
        "a_second": len(times) / spent,
        "refused": messages - len(times),
        "p50_ms": statistics.median(times) * 1000,
        "p99_ms": times[int(len(times) * 0.99)] * 1000,
    }


async def _fair(bench: Bench) -> dict[str, float]:
    """Return the p99 of a person who writes one by one, in ms: alone, among many, and beside a busy writer."""
    figures: dict[str, float] = {}
    floods: dict[str, Callable[[int], int]] = {"among_many": lambda number: number % PEOPLE, "beside_one": lambda _: 1}
    for name, writer in ({"alone": None} | floods).items():
        await bench.clear()
        flood = [webhooks.sms(writer(number), next(_NUMBERS)) for number in range(FLOOD)] if writer else []
        asked = [webhooks.sms(PEOPLE + number % 10, next(_NUMBERS)) for number in range(FLOOD // 2)]
        flooding = asyncio.create_task(send_all(bench.ports["sms"], flood, FLOOD_IN_FLIGHT)) if flood else None
        times: list[float] = []
        while asked and not (flooding and flooding.done()):
            times += await send_all(bench.ports["sms"], [asked.pop()], 1)
        if flooding is not None:
            await flooding
        figures[f"{name}_p99_ms"] = sorted(times)[int(len(times) * 0.99)] * 1000
    return figures


def _apart() -> dict[str, Callable[[], object]]:
    """Return the work on a request before it is stored, by provider."""
    sms, slack, telegram = (CONTESTANTS[name](1, 1).partition(b"\r\n\r\n") for name in ("sms", "slack", "telegram"))
    account = Account(webhooks.ACCOUNT_SID, webhooks.NUMBER)
    pairs = tuple(parse_qsl(sms[2].decode(), keep_blank_values=True))
    url = f"{webhooks.PUBLIC_URL}/webhooks/sms"
    signature = sms_verify.sign(webhooks.AUTH_TOKEN, url, pairs)
    now = int(time.time())
    stamp = slack_verify.sign(webhooks.SIGNING_SECRET, slack[2], str(now))
    ours, bot = AppIdentity(team=webhooks.TEAM), BotIdentity("99")

    def read_telegram() -> object:
        update = read_json(telegram[2].decode())
        return parse_update(update, bot) if isinstance(update, dict) else None

    return {
        "sms signature": lambda: sms_verify.is_signed(webhooks.AUTH_TOKEN, url, pairs, signature),
        "sms parse": lambda: parse_message(decode_form(sms[2]), account),
        "slack signature": lambda: slack_verify.is_signed(webhooks.SIGNING_SECRET, slack[2], str(now), stamp, now),
        "slack parse": lambda: parse_slack(decode_body(slack[2], JSON_TYPE), ours),
        "telegram signature": lambda: is_secret(webhooks.WEBHOOK_SECRET, webhooks.WEBHOOK_SECRET),
        "telegram parse": read_telegram,
    }


def _timed(work: Callable[[], object], times: int = 2000) -> float:
    rounds = []
    for _ in range(5):
        begun = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - begun) / times * 1e6)
    return round(statistics.median(rounds), 1)


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    figures = {name: round(statistics.median(one[name] for one in rounds), 1) for name in rounds[0]}
    return figures | {"load": round(os.getloadavg()[0], 1)}


@asynccontextmanager
async def opened() -> AsyncIterator[Bench]:
    """Run floor and web, each in a process of its own, before a Postgres of their own."""
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        await migrate(postgres.url)
        admin = await asyncpg.connect(postgres.url, command_timeout=600)
        stack.push_async_callback(admin.close)
        await admin.execute("create table floor_messages (id bigint primary key, sender bigint, text text)")
        pid = psutil.Process(await admin.fetchval("select pg_backend_pid()")).ppid()
        bench = Bench(admin, psutil.Process(pid), dict.fromkeys(CONTESTANTS, 0))
        answering = await stack.enter_async_context(providers())
        servers = {
            ("floor",): ("workbench.benchmarks.way_in", "--floor"),
            ("sms", "slack", "telegram"): ("onevalet", "web"),
        }
        for names, command in servers.items():
            port = free_port()
            environment = environment_of(postgres.url, valkey.url, port, answering)
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", *command, env=environment, stderr=asyncio.subprocess.DEVNULL
            )
            stack.push_async_callback(process.wait)
            stack.callback(process.terminate)
            await listens(port)
            for name in names:
                bench.ports[name], bench.web[name] = port, psutil.Process(process.pid)
        yield bench


async def listens(port: int) -> None:
    """Wait until something listens."""
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise TimeoutError


def environment_of(database_url: str, redis_url: str, port: int, providers: str) -> dict[str, str]:
    """Return the environment of a web process with all three channels."""
    return {
        **os.environ,
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "PUBLIC_URL": webhooks.PUBLIC_URL,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
        "ONEVALET_MOST_WAITING": "100000",
        "TWILIO_ACCOUNT_SID": webhooks.ACCOUNT_SID,
        "TWILIO_AUTH_TOKEN": webhooks.AUTH_TOKEN,
        "TWILIO_FROM": webhooks.NUMBER,
        "TWILIO_API_URL": providers,
        "SLACK_BOT_TOKEN": webhooks.BOT_TOKEN,
        "SLACK_SIGNING_SECRET": webhooks.SIGNING_SECRET,
        "SLACK_API_URL": f"{providers}/api/",
        "TELEGRAM_BOT_TOKEN": webhooks.TELEGRAM_TOKEN,
        "TELEGRAM_WEBHOOK_SECRET": webhooks.WEBHOOK_SECRET,
        "TELEGRAM_API_URL": providers,
    }


@asynccontextmanager
async def providers() -> AsyncIterator[str]:
    """Answer a channel's requests at its start, and about people."""
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answer_channel)
    async with serving(app) as origin:
        yield origin


async def answer_channel(request: web.Request) -> web.Response:
    """Answer a channel's requests to its provider at its start, or about a person."""
    told: dict[str, object]
    if request.path.endswith("auth.test"):
        told = {"ok": True, "team_id": webhooks.TEAM, "user_id": "U0BENCHBOT", "bot_id": "B0BENCH00"}
    elif request.path.endswith("users.info"):  # else each message would ask again
        told = {"ok": True, "user": {"real_name": "Ada", "tz": "Europe/Berlin", "locale": "en-US"}}
    else:
        told = {"ok": True, "result": {"id": 99, "is_bot": True, "first_name": "b", "username": "bench_bot"}}
    return web.json_response(told)


async def _serve_floor() -> None:
    pool = await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=1, max_size=10)

    async def receive(request: web.Request) -> web.Response:
        told = json.loads(await request.read())
        statement = "insert into floor_messages (id, sender, text) values ($1, $2, $3)"
        await pool.execute(statement, told["id"], told["from"], told["text"])
        return web.Response()

    app = web.Application()
    app.router.add_post("/floor", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(os.environ["PORT"])).start()
    await asyncio.Event().wait()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.way_in")
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=CONTESTANTS, action="append", default=[])
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.in_flight = options.in_flight or [1, 32, 256]
    asyncio.run(_serve_floor() if options.floor else _print(options))


async def _print(options: argparse.Namespace) -> None:
    async for figures in measure(options):
        sys.stdout.write(json.dumps(figures) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
