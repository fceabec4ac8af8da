"""Overload in small: one person floods, the others are answered as if they did not, and each text has its fate."""

import asyncio
import time

import pytest

from core.inbox.inbox import Inbox
from core.queue.limits import MAX_LANES_PER_TENANT, BacklogLimits
from core.turns.types import TurnRequest, TurnResult
from jobs.worker import TURN_SLOTS
from tests.core.harness import OPEN, Store, message
from tests.jobs.worker_harness import WorkerHarness, echo

pytestmark = pytest.mark.slow

FLOODER = "+15550000999"
BOUND, THREADS, OTHERS = 40, 24, 12
TURN = 0.2
"""Seconds that a turn takes."""


async def test_promise_6_a_flood_is_refused_past_the_bound_and_delays_nobody(store: Store, redis_url: str) -> None:
    begun: list[str] = []
    all_busy = asyncio.Event()

    async def slow(request: TurnRequest) -> TurnResult:
        begun.append(request.inbound[0].text.split()[0])
        if len(begun) == TURN_SLOTS:
            all_busy.set()
        await all_busy.wait()
        await asyncio.sleep(TURN)
        return await echo(request)

    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=BOUND))
    for number in range(120):
        await inbox.accept(message(f"flood {number}", FLOODER, f"SMF{number}", thread=f"t{number % THREADS}"))
    for number in range(OTHERS):
        await inbox.accept(message(f"other {number}", f"+1555000{number:04}", f"SMP{number}"))
    system, clock = WorkerHarness(store), time.perf_counter()
    async with system.working(redis_url, slow):
        # 24 answers to who floods, 12 to the others, and one sentence about what was too much.
        await system.until_sent(THREADS + OTHERS + 1)
        took = time.perf_counter() - clock
    first = begun[:TURN_SLOTS]
    # The flood was first by far, and has its four lanes (one more, as two claims may meet), and no more.
    assert MAX_LANES_PER_TENANT <= first.count("flood") <= MAX_LANES_PER_TENANT + 1
    assert first.count("other") >= OTHERS - 1
    flood = await store.column(
        "select i.state || ' ' || i.reason from inbound i join conversations c on c.tenant_id = i.tenant_id"
        " and c.id = i.conversation_id where c.peer = $1",
        FLOODER,
    )
    assert (flood.count("done "), flood.count("ignored overload")) == (BOUND, 120 - BOUND)
    assert system.channel.texts.count(BacklogLimits(of_person=BOUND).refusal(full=True)) == 1
    print(f"{len(begun)} turns of {TURN} s in {took:.1f} s; begun in this order: {' '.join(begun)}")  # noqa: T201
