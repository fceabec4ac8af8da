"""The cost of observing a turn: its log line and samples, a scrape, and a page of the console that is open.

    uv run -m workbench.benchmarks.observability [--rounds 40] [--times 40]

The turn is that of `workbench.benchmarks.loop`: two model calls and two tools, all in memory, logged as production does
into nowhere. Off and on alternate, round by round; the ratio is the median of each round's own, so that a busy machine
slows both. The page is a conversation's, over a Postgres of its own. Figures are CPU time.
"""

import argparse
import asyncio
import gc
import logging
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from unittest.mock import patch

import asyncpg
import psutil
import structlog
from prometheus_client import generate_latest

from core import metrics
from core.db.database import Database
from core.journal.types import StepRecord
from core.llm.types import TokenUsage
from core.loop import run
from onevalet.migrating import migrate
from onevalet.wiring.logs import set_up_logs
from operations.console.live import version_of
from operations.console.reading.conversations import find_conversation, read_messages
from providers.models.call_meter import CallMeter
from tests.services import private_postgres
from workbench.benchmarks.loop import by_loop, measure

type Work = Callable[[], Awaitable[object]]

OFF, SAMPLES, ON = "off: neither line nor samples", "samples of steps", "as shipped: samples of steps, line of the turn"
_LOOKS = 200
_PAGE = """
with t as (insert into tenants (tenant_id) values ('tn') returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i', 'sms', 'a', 'ann', 'open' from t returning tenant_id, id),
c as (insert into conversations (tenant_id, id, identity_id, channel, account, peer, out_seq)
      select tenant_id, 'c', id, 'sms', 'a', 'ann', 1000 from i returning tenant_id, id)
insert into outbound (tenant_id, id, conversation_id, seq, kind, text, state)
select tenant_id, 'o' || n, id, n, 'reply', 'Hello.', 'sent' from c, generate_series(1, 1000) n
"""


def works() -> dict[str, Work]:
    """Return the turn without and with its observers."""

    def unreported(_: run.RunJournal, record: StepRecord) -> None:
        """Report nothing."""

    silent = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    return {
        OFF: _watched(unreported, silent),
        SAMPLES: _watched(run.RunJournal.report, silent),
        ON: _watched(run.RunJournal.report, structlog.get_logger(), _log_turn),
    }


def further_samples() -> None:
    """Take the samples of a turn's message, calls, end and delivery, besides those of its steps."""
    metrics.ACKNOWLEDGEMENT_SECONDS.labels("/webhooks/sms", "200").observe(0.01)
    metrics.INBOX_SECONDS.labels("message", "accepted").observe(0.01)
    for _ in range(2):
        with CallMeter("openai/scripted") as meter:
            meter.answered(TokenUsage(400, 40, cost=0.001))
    metrics.TURN_SECONDS.labels("done").observe(1.0)
    metrics.DELIVERY_SECONDS.labels("sms", "accepted").observe(0.1)
    metrics.ANSWER_SECONDS.labels("sms").observe(1.0)


async def open_page() -> tuple[float, float]:
    """Return the cost of a look at an open conversation, in ms: of `web` and of Postgres."""
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        admin = await asyncpg.connect(postgres.url)
        await admin.execute(_PAGE)
        await admin.execute("analyze")
        await admin.close()
        database = Database(postgres.url, size=1)
        row = await database.one("select pg_backend_pid() as pid")
        backend = psutil.Process(row["pid"])
        spent = []
        for _ in range(2):  # plans are kept from the sixth look on
            began, before = time.process_time(), sum(backend.cpu_times()[:2])
            for _ in range(_LOOKS):
                async with database.tenant("tn") as connection:
                    found = await find_conversation(connection, "tn", "c")
                    version_of(found, await read_messages(connection, "tn", "c", ""))
            spent = [time.process_time() - began, sum(backend.cpu_times()[:2]) - before]
        await database.close()
    return spent[0] / _LOOKS * 1000, spent[1] / _LOOKS * 1000


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.observability")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--times", type=int, default=40, help="turns in a round")
    options = parser.parse_args()
    with open(os.devnull, "w") as nowhere:
        set_up_logs("json", out=nowhere)
        timings = asyncio.run(measure(works(), options.rounds, options.times))
    for name, figures in timings.items():
        ratio = statistics.median(one / off for one, off in zip(figures, timings[OFF], strict=True))
        _print(name, statistics.median(figures), f"x {ratio:.3f}")
    _print("further samples of a turn", _each(further_samples, 500))
    _print("one scrape of a process", _each(lambda: generate_latest(metrics.REGISTRY), 50))
    web, postgres = asyncio.run(open_page())
    _print("one look of an open page, web", web)
    _print("one look of an open page, Postgres", postgres)


def _watched(
    report: Callable[[run.RunJournal, StepRecord], None], log: object, at_end: Callable[[], None] = lambda: None
) -> Work:
    turn = by_loop([])

    async def one() -> object:
        with patch.object(run.RunJournal, "report", report), patch.object(run, "_log", log):
            result = await turn()
        at_end()
        return result

    return one


def _log_turn() -> None:
    """Log a line as long as a worker's about a turn."""
    counts = {"messages": 1, "model_calls": 2, "tool_calls": 2, "input_tokens": 800, "cached_tokens": 0}
    ends = {"output_tokens": 80, "cost": 0.002, "duration_ms": 1000}
    structlog.get_logger().info("turn_finished", turn="turn_1", attempt=1, state="done", reason="", **counts, **ends)


def _each(work: Callable[[], object], times: int) -> float:
    """Return the CPU of a run, in ms: the median of ten."""
    figures = []
    for _ in range(10):
        gc.collect()
        began = time.process_time()
        for _ in range(times):
            work()
        figures.append((time.process_time() - began) / times * 1000)
    return statistics.median(figures)


def _print(name: str, milliseconds: float, more: str = "") -> None:
    sys.stdout.write(f"{name:<42}  {milliseconds:8.4f} ms  {more}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
