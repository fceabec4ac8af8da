"""The worker process: arq's Worker, which receives wakeups, the bounded runners, and a supervisor of all parts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, cast

import structlog
from arq.connections import create_pool
from arq.typing import WorkerCoroutine
from arq.worker import Worker, func
from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.journal.postgres import Lease
from core.memory.jobs import Job
from core.messaging.due_messages import Claim
from core.queue.payloads import pack, unpack
from core.queue.wakeups import DELIVER, DELIVERY, MEMORY, REMEMBER, RUN_LANE, TURNS, WAKEUPS, redis_settings
from jobs.claim_loop import Runner
from jobs.delivery import DeliveryRunner
from jobs.memory import MemoryRunner
from jobs.supervision import Part, PartSupervisor
from jobs.turns import TurnRunner

TURN_SLOTS = 16
DELIVERY_SLOTS = 16
MEMORY_SLOTS = 2
"""Few: memory is never urgent, and shares the processor with turns that people wait for."""
MEMORY_POLL = timedelta(seconds=3)
GRACE = timedelta(seconds=20)
"""How long a stop waits for running turns before it hands them back."""
RING_PATIENCE = 5
"""Seconds that a wakeup waits for a free slot; the slow poll finds the row later."""
WAKEUP_TIMEOUT = 10
"""Seconds that an arq job may take. Short, because arq considers a dead worker's jobs running until the longest
timeout is over, and a hundred of them hide all newer ones."""
_URGENT_PAUSE = 2.0
"""The longest pause before a part is restarted that people wait for."""

_log = structlog.get_logger()


class WakeableWorker(Worker):
    """arq's Worker, which polls its queue when a wakeup arrives, and twice a second.

    arq 0.28 has no public way to wake its poll: `main` is replaced, which a test guards against the pin.
    """

    def __init__(self, *args: Any, rung: asyncio.Event, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rung = rung

    async def main(self) -> None:
        """Poll the queue until cancelled: at each wakeup, and every `poll_delay_s`."""
        while True:
            self._rung.clear()
            await self._poll_iteration()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.poll_delay_s):
                    await self._rung.wait()


class WorkerProcess:
    """The runners and parts of a worker, from `start` to `stop`."""

    def __init__(
        self,
        redis_url: str,
        turns: TurnRunner,
        delivery: DeliveryRunner,
        upkeep: Iterable[Part] = (),
        memory: MemoryRunner | None = None,
        supervisor: PartSupervisor | None = None,
    ) -> None:
        self._redis_url = redis_url
        self._delivery = delivery
        self._turn_runner: Runner[Lease] = Runner("turn", turns.claim, turns.run, slots=TURN_SLOTS)
        self._delivery_runner: Runner[Claim] = Runner("delivery", delivery.claim, delivery.run, slots=DELIVERY_SLOTS)
        self._memory_runner: Runner[Job] | None = (
            Runner("memory", memory.claim, memory.run, slots=MEMORY_SLOTS, poll=MEMORY_POLL) if memory else None
        )
        self._upkeep = tuple(upkeep)
        self._supervisor = supervisor or PartSupervisor()
        self._rung = {TURNS: asyncio.Event(), DELIVERY: asyncio.Event(), MEMORY: asyncio.Event()}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start to listen and poll; Redis and Postgres need not be up yet."""
        turns, delivery = self._turn_runner, self._delivery_runner
        self._spawn(partial(self._listen_queue, TURNS, RUN_LANE, turns.wake, TURN_SLOTS), "arq turns")
        self._spawn(partial(self._listen_queue, DELIVERY, DELIVER, delivery.wake, DELIVERY_SLOTS), "arq delivery")
        self._spawn(self._listen_rings, "rings")
        self._spawn(self._turn_runner.poll, "poll turns")
        self._spawn(self._delivery_runner.poll, "poll delivery")
        if (memory := self._memory_runner) is not None:
            self._spawn(partial(self._listen_queue, MEMORY, REMEMBER, memory.wake, MEMORY_SLOTS), "arq memory")
            self._spawn(memory.poll, "poll memory")
        for part in self._upkeep:
            self._keep(part)

    async def stop(self, grace: timedelta = GRACE) -> None:
        """Claim nothing more, finish or hand back running work, and close."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._delivery.stop()
        runners = [self._turn_runner.stop(grace), self._delivery_runner.stop(grace)]
        if self._memory_runner is not None:
            runners.append(self._memory_runner.stop(min(grace, timedelta(seconds=2))))
        await asyncio.gather(*runners)

    def _spawn(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        self._keep(Part(name, work, longest_pause=_URGENT_PAUSE))

    def _keep(self, part: Part) -> None:
        self._tasks.append(asyncio.create_task(self._supervisor.run(part), name=part.name))

    async def _listen_queue(self, queue: str, job: str, wake: Callable[[str], Awaitable[None]], slots: int) -> None:
        async def ring(_context: dict[str, Any], row_id: str) -> None:
            # Without a log line: a busy process leaves the row to a free one.
            with suppress(TimeoutError):
                async with asyncio.timeout(RING_PATIENCE):
                    await wake(row_id)

        worker = WakeableWorker(
            functions=[func(cast(WorkerCoroutine, ring), name=job)],
            rung=self._rung[queue],
            queue_name=queue,
            redis_settings=redis_settings(self._redis_url),
            handle_signals=False,
            max_jobs=slots,
            job_timeout=WAKEUP_TIMEOUT,
            poll_delay=0.5,
            keep_result=0,
            max_tries=100,
            log_results=False,
            job_serializer=pack,
            job_deserializer=unpack,
        )
        await run_arq(worker)

    async def _listen_rings(self) -> None:
        async with Redis.from_url(self._redis_url, socket_connect_timeout=2) as redis, redis.pubsub() as pubsub:
            await pubsub.subscribe(WAKEUPS)
            async for message in pubsub.listen():
                if message["type"] == "message" and (rung := self._rung.get(message["data"].decode())):
                    rung.set()


async def run_arq(worker: WakeableWorker) -> None:
    """Run arq's worker in this loop until it fails or is cancelled, and close what it opened."""
    worker._pool = await create_pool(
        worker.redis_settings,
        job_serializer=worker.job_serializer,
        job_deserializer=worker.job_deserializer,
        default_queue_name=worker.queue_name,
    )
    worker.ctx["redis"] = worker.pool
    try:
        await worker.main()
    finally:
        for task in worker.tasks.values():
            task.cancel()
        if worker.tasks:
            ended, _ = await asyncio.wait(worker.tasks.values(), timeout=2)
            for task in ended:
                # arq reports the end of a job to the Redis that has gone: expected, and of no consequence.
                if not task.cancelled() and (error := task.exception()):
                    _log.debug("ring_not_ended", cause=type(error).__name__)
        with suppress(RedisError, OSError, TimeoutError):
            async with asyncio.timeout(2):
                await worker.pool.aclose(close_connection_pool=True)
