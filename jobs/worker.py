"""The worker process: the bounded runners, the wakeups and jobs that they listen to, and a supervisor of all parts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from core.journal.types import Lease
from core.messaging.due_messages import Claim
from core.queue.claim_loop import Runner
from core.queue.claims import ClaimedWork
from core.queue.due import ASK_ANYWAY, DueWatch, DueWork
from core.queue.wakeups import DELIVERY, TURNS, hear_interrupts, listen
from jobs.delivery.runner import DeliveryRunner
from jobs.later.cron import Chore, Chores
from jobs.later.worker import LaterWorker
from jobs.supervision import Part, PartSupervisor
from jobs.turns.messages import Sender
from jobs.turns.runner import TurnRunner

TURN_SLOTS = 16
DELIVERY_SLOTS = 16
POLL = timedelta(seconds=1)
"""The interval of a process without a watch over due work."""
GRACE = timedelta(seconds=20)
"""The time for which a stop waits for running turns before it hands them back."""
GRACE_BESIDE = timedelta(seconds=2)
"""The time for which it waits for work that is claimed beside turns."""
_URGENT_PAUSE = 2.0
"""The longest pause before a part is restarted that people wait for."""


class WorkerProcess:
    """The runners and parts of a worker, from `start` to `stop`."""

    def __init__(
        self,
        redis_url: str,
        turns: TurnRunner,
        delivery: DeliveryRunner,
        upkeep: Iterable[Part] = (),
        claimed: Iterable[ClaimedWork[Any]] = (),
        supervisor: PartSupervisor | None = None,
        watch: DueWatch | None = None,
        chores: Iterable[Chore] = (),
    ) -> None:
        self._redis_url = redis_url
        self._delivery = delivery
        poll = timedelta(seconds=ASK_ANYWAY) if watch else POLL
        news = watch.look if watch else None
        self._turn_runner: Runner[Lease] = Runner(
            "turn", turns.claim, turns.run, slots=TURN_SLOTS, poll=poll, news=news
        )
        self._delivery_runner: Runner[Claim] = Runner(
            "delivery", delivery.claim, delivery.run, slots=DELIVERY_SLOTS, poll=poll, news=news
        )
        claim_after = partial(delivery.outbox.claim_after, worker=delivery.worker)
        turns.send_by(Sender(self._delivery_runner.hold, claim_after))
        self._beside = [
            (work, Runner(work.name, work.claim, work.run, slots=work.slots, poll=max(poll, work.poll)))
            for work in claimed
        ]
        self._runners: dict[str, Runner[Any]] = {
            DueWork.TURNS: self._turn_runner,
            DueWork.DELIVERIES: self._delivery_runner,
            **{work.due: runner for work, runner in self._beside},
        }
        self._watch = watch
        self._interrupts = turns.interrupts
        self._upkeep = tuple(upkeep)
        self._chores = Chores(chores)
        self._supervisor = supervisor or PartSupervisor()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start to listen and poll; Redis and Postgres may still be away."""
        self._start(TURNS, "turns", self._turn_runner)
        self._start(DELIVERY, "delivery", self._delivery_runner)
        for work, runner in self._beside:
            self._start(work.queue, work.name, runner)
        self._spawn(partial(hear_interrupts, self._redis_url, self._interrupts.look), "stops")
        for part in self._upkeep:
            self._keep(part)
        for chore in self._chores.all:
            self._keep(Part(chore.name, chore.run))
        self._chores.ring_overdue()  # at the start, all chores of each worker
        later = LaterWorker(self._redis_url, self.ring, self._chores)
        self._keep(Part("later", later.run, longest_pause=_URGENT_PAUSE))
        if self._watch is not None:
            for kind, runner in self._runners.items():
                self._watch.call(kind, runner.look)
            for chore in self._chores.all:
                if chore.due:
                    self._watch.call(chore.due, chore.look, by_peoples_clock=chore.by_peoples_clock)
            self._spawn(self._watch.run, "what is due")

    def ring(self, work: str, row_id: str) -> None:
        """Claim a row whose moment has come, at once or when a slot becomes free."""
        runner = self._runners.get(work)
        if runner is not None and row_id:
            runner.take(row_id)
        elif self._watch is not None:
            self._watch.tell(work)

    def take_delivery(self, conversation_id: str) -> bool:
        """Deliver a conversation's messages if a slot is free; return whether a slot was free."""
        return self._delivery_runner.take(conversation_id)

    async def stop(self, grace: timedelta = GRACE) -> None:
        """Stop claiming, finish or hand back running work, and close."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._delivery.stop()
        runners = [self._turn_runner.stop(grace), self._delivery_runner.stop(grace)]
        runners += [runner.stop(min(grace, GRACE_BESIDE)) for _, runner in self._beside]
        await asyncio.gather(*runners)

    def _start[Claim](self, queue: str, name: str, runner: Runner[Claim]) -> None:
        self._spawn(partial(listen, self._redis_url, queue, runner.room, runner.ring), f"wakeups {name}")
        self._spawn(runner.poll, f"poll {name}")

    def _spawn(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        self._keep(Part(name, work, longest_pause=_URGENT_PAUSE))

    def _keep(self, part: Part) -> None:
        self._tasks.append(asyncio.create_task(self._supervisor.run(part), name=part.name))
