"""T14: Postgres that answers and refuses: a full disk, a read-only server, without our role, no connection left."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import aiohttp

from core.db.serving import ROLE
from tests.faults.checker import Evidence
from tests.faults.harness import LOGIN, Harness
from tests.faults.journals import append
from tests.faults.phone_driver import Saying
from tests.faults.results import BEGINS, Result, arrive, conclude, recoveries, show_recoveries, timed

BACK_WITHIN = 10.0
"""Our processes look again every few seconds at what refuses them."""
_END_OURS = f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{LOGIN}'"  # noqa: S608
_BUGS = ("Traceback", "request_failed", "work_failed", "worker_part_failed")

type Act = Callable[[Harness], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way of refusing: how it begins, and how it ends."""

    name: str
    begin: Act
    end: Act


@dataclass(slots=True)
class Seen:
    """What was seen while Postgres refused. `ready`: the statuses of `/readyz`."""

    name: str
    texts: list[Saying]
    began: float = 0.0
    ended: float = 0.0
    ready: Counter[int] = field(default_factory=Counter)


async def refuses(harness: Harness, *, kinds: Sequence[str], messages: int, seconds: float) -> Result:
    """T14: people write while each refusal begins, lasts and ends."""
    result = Result("T14", "Postgres that answers and refuses", "503 and red, lost 0, back by itself in 10 s")
    async with timed(result):
        seen = [await _under(harness, _REFUSALS[kind], messages, seconds, result) for kind in kinds]
        evidence = await conclude(harness, [text for line in seen for text in line.texts], result)
    for line in seen:
        _judge(line, evidence, result)
    recovered, _ = recoveries(harness, evidence, frozenset(kinds), within=BACK_WITHIN)
    result.numbers["work again after its end"] = show_recoveries(recovered)
    result.require(
        max(recovered, default=0.0) <= BACK_WITHIN, f"work began again after {max(recovered, default=0.0):.1f} s"
    )
    bugs = {word: evidence.logs.count(word) for word in _BUGS if word in evidence.logs}
    result.require(not bugs, f"in the logs: {bugs}")
    if not harness.disk:
        result.untested.append("a full disk: only root may mount a small one")
    return result


async def _under(harness: Harness, refusal: Refusal, messages: int, seconds: float, result: Result) -> Seen:
    seen = Seen(refusal.name, harness.say(messages, seconds=seconds))
    writing = asyncio.create_task(harness.written(harness.people_write(seen.texts)))
    await asyncio.sleep(seconds / 5)
    append(harness.folder / "strikes.jsonl", what=BEGINS, target="", back=0.0)
    seen.began = time.time()
    await refusal.begin(harness)
    looking = asyncio.create_task(_look(harness, seen))
    await asyncio.sleep(seconds / 2)
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    await refusal.end(harness)
    harness.strike(refusal.name)
    seen.ended = time.time()
    await writing
    await arrive(harness, seen.texts, result)
    return seen


async def _look(harness: Harness, seen: Seen) -> None:
    """Ask `/readyz` of each web process, again and again."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        while True:
            for web in harness.webs:
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(f"{web.url}/readyz") as answer:
                        seen.ready[answer.status] += 1
            await asyncio.sleep(0.2)


def _judge(seen: Seen, evidence: Evidence, result: Result) -> None:
    statuses = Counter(arrival.status for arrival in evidence.arrivals if seen.began <= arrival.at <= seen.ended)
    result.numbers[seen.name] = (
        f"webhooks {_counted(statuses)}; /readyz {_counted(seen.ready)}; {len(seen.texts)} texts, answered each once"
    )
    odd = [status for status in statuses if status >= 500 and status != 503]
    result.require(not odd, f"{seen.name}: webhooks were answered {odd}")
    result.require(seen.ready[503] > 0, f"{seen.name}: /readyz was never red")


def _counted(statuses: Counter[int]) -> str:
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items())) or "none"


async def _tell(harness: Harness, *statements: str) -> None:
    connection = await harness.connect()
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def _fill(harness: Harness) -> None:
    assert harness.disk is not None
    await asyncio.to_thread(harness.disk.fill)


async def _make_room(harness: Harness) -> None:
    assert harness.disk is not None
    await asyncio.to_thread(harness.disk.make_room)


async def _read_only(harness: Harness) -> None:
    await _tell(harness, f"alter role {LOGIN} set default_transaction_read_only = on", _END_OURS)


async def _writable(harness: Harness) -> None:
    await _tell(harness, f"alter role {LOGIN} reset default_transaction_read_only", _END_OURS)


async def _take_role(harness: Harness) -> None:
    await _tell(harness, f"alter role {ROLE} rename to taken_away", _END_OURS)


async def _give_role(harness: Harness) -> None:
    await _tell(harness, f"alter role taken_away rename to {ROLE}")


async def _no_connection(harness: Harness) -> None:
    await _tell(harness, f"alter role {LOGIN} connection limit 0", _END_OURS)


async def _connections(harness: Harness) -> None:
    await _tell(harness, f"alter role {LOGIN} connection limit -1")


_REFUSALS = {
    refusal.name: refusal
    for refusal in (
        Refusal("disk full", _fill, _make_room),
        Refusal("read-only", _read_only, _writable),
        Refusal("role missing", _take_role, _give_role),
        Refusal("connection limit", _no_connection, _connections),
    )
}
KINDS = tuple(_REFUSALS)
EVERYWHERE = KINDS[1:]
"""Those that need no disk of their own."""
