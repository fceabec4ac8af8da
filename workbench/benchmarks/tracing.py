"""The cost of tracing to a turn: off, on, and against a build without it.

    uv run -m workbench.benchmarks.tracing [--rounds 9] [--turns 60] [--without CHECKOUT]

A message comes in, a turn asks a model that answers from memory twice and runs two tools, and the answer is delivered
to a channel that accepts it; Postgres is real. CPU of the process is in milliseconds a turn, the exporter's thread
included: medians of rounds that alternate, each with the ratio to its own round of the first. `--without`: a checkout
    of the build to compare with, installed in the same way. One line of JSON.
"""

import argparse
import asyncio
import json
import logging
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import override

import asyncpg
import structlog
from yarl import URL

ROOT = Path(__file__).parents[2]
WARM_UP = 10
_CHILD = "--child"


class _Sink(BaseHTTPRequestHandler):
    """A collector that throws everything away."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    @override
    def log_message(self, *_: object) -> None:
        return None


@contextmanager
def _collector() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def _turns(url: str, turns: int, endpoint: str) -> float:
    """Return the CPU of a turn in milliseconds, in this process."""
    from core.ids import make_id
    from core.loop.config import ReactLoopConfig
    from core.turns.orchestrator import Orchestrator
    from jobs.delivery.runner import DeliveryRunner
    from jobs.turns.runner import TurnRunner
    from onevalet.migrating import migrate
    from operations.metrics.inbox import MeasuredInbox
    from tests.core.harness import OPEN, message, opened
    from tests.jobs.harness import RecordingChannel
    from workbench.benchmarks.loop import StubModel, calendar, weather

    config = ReactLoopConfig(llm_streaming=False)
    await migrate(url)
    async with opened(url) as opened_store:
        # The rounds share a database.
        store = replace(opened_store, make_id=make_id)
        inbox = MeasuredInbox(store.database, store.wakeups, store.make_id, OPEN)
        orchestrator = Orchestrator(StubModel(), "You are a valet.", tools=[weather, calendar], config=config)
        channel = RecordingChannel()
        runner = TurnRunner(store.turns, orchestrator, store.wakeups, {"sms": channel}, store.make_id, "w1")
        delivery = DeliveryRunner(store.outbox, {"sms": channel}, "w1")

        async def one(number: int) -> None:
            key = f"{os.getpid()}-{number}"
            await inbox.accept(message("hello", f"+1555{number % 20:07d}", key))
            while lease := await runner.claim(None):
                await runner.run(lease)
            while claim := await delivery.claim(None):
                await delivery.run(claim)

        async def all_of_it() -> float:
            for number in range(WARM_UP):
                await one(number)
            began = time.process_time()
            for number in range(WARM_UP, WARM_UP + turns):
                await one(number)
            return (time.process_time() - began) / turns * 1000

        if not endpoint:
            return await all_of_it()
        from core import tracing
        from operations.tracing.export import Tracing

        exported = Tracing("worker", endpoint)
        tracing.install(exported.tracer)
        cost = await all_of_it()
        await asyncio.to_thread(exported.close, 10)
        return cost


def _measured(tree: Path, url: str, turns: int, endpoint: str) -> float:
    """Run a round in a process of its own, with the code of a tree."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, __file__, _CHILD, url, str(turns), endpoint],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.strip().splitlines()[-1])


async def _compare(given: argparse.Namespace) -> dict[str, list[float]]:
    """Return the figures of each build, round by round, in turns: a disturbance affects all."""
    from tests.services import private_postgres

    async with private_postgres() as server:
        admin = await asyncpg.connect(server.url)
        urls = {}
        for name in ("without", "with"):
            await admin.execute(f"create database {name}_tracing")
            urls[name] = str(URL(server.url).with_path(f"/{name}_tracing"))
        await admin.close()
        with _collector() as collector:
            builds = {"without": (given.without.resolve(), urls["without"], "")} if given.without else {}
            builds |= {"off": (ROOT, urls["with"], ""), "on": (ROOT, urls["with"], collector)}
            costs: dict[str, list[float]] = {name: [] for name in builds}
            for _ in range(given.rounds):
                for name, (tree, url, endpoint) in builds.items():
                    costs[name].append(await asyncio.to_thread(_measured, tree, url, given.turns, endpoint))
            return costs


def main() -> None:
    """Alternate the builds, and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--turns", type=int, default=60)
    options.add_argument("--without", type=Path)
    costs = asyncio.run(_compare(options.parse_args()))
    first = next(iter(costs.values()))
    told = {
        name: {
            "ms": round(statistics.median(figures), 3),
            "ratio": round(statistics.median(f / g for f, g in zip(figures, first, strict=True)), 3),
        }
        for name, figures in costs.items()
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    if _CHILD in sys.argv:
        _, _, url, turns, endpoint = sys.argv
        sys.stdout.write(f"{asyncio.run(_turns(url, int(turns), endpoint))}\n")
    else:
        main()
