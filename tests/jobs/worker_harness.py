"""A worker whose orchestrator is a function, to test what the jobs do with its results."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from core.inbox.inbox import Inbox
from core.llm.types import ChatMessage, Role
from core.messaging.outbox import Outbox
from core.queue.claims import ClaimedWork
from core.queue.due import DueWatch
from core.queue.wakeups import RedisWakeups
from core.turns.event_stream import in_words
from core.turns.orchestrator import Orchestrator
from core.turns.services import TurnServices
from core.turns.store import TurnStore
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.delivery.runner import DeliveryRunner
from jobs.later.cron import Chore
from jobs.later.queueing import LaterJobs
from jobs.turns.runner import TurnRunner
from jobs.worker import WorkerProcess
from tests.core.harness import OPEN, Store
from tests.eventually import eventually
from tests.jobs.harness import RecordingChannel

type Answer = Callable[[TurnRequest], Awaitable[TurnResult]]


async def echo(request: TurnRequest) -> TurnResult:
    """Answer with the texts of the turn, joined by plus signs."""
    text = "+".join(message.text for message in request.inbound)
    return TurnResult(TurnState.DONE, f"re {text}", history=(ChatMessage(Role.USER, text),))


class FewLines(Orchestrator):
    """An orchestrator whose turns are answered by a function, without a model."""

    def __init__(self, answer: Answer = echo) -> None:
        self.answer = answer
        self.services = TurnServices()
        self.doing = in_words
        self.requests: list[TurnRequest] = []

    async def handle_message(self, request: TurnRequest) -> TurnResult:
        """Record the request and answer it."""
        self.requests.append(request)
        return await self.answer(request)


@dataclass(slots=True)
class WorkerHarness:
    """The parts of one worker over a store."""

    store: Store
    channel: RecordingChannel = field(default_factory=RecordingChannel)
    lease: timedelta = timedelta(seconds=30)
    name: str = "w1"

    def turn_runner(self, answer: Answer = echo) -> TurnRunner:
        """Create the runner of turns."""
        turns = TurnStore(self.store.database, self.store.make_id, self.lease)
        channels = {"sms": self.channel}
        return TurnRunner(turns, FewLines(answer), self.store.wakeups, channels, self.store.make_id, self.name)

    async def run_turns(self, answer: Answer = echo) -> None:
        """Run all waiting turns."""
        runner = self.turn_runner(answer)
        while lease := await runner.claim(None):
            await runner.run(lease)

    @asynccontextmanager
    async def working(
        self,
        redis_url: str,
        answer: Answer = echo,
        claimed: Iterable[ClaimedWork[Any]] = (),
        watch: DueWatch | None = None,
        chores: Iterable[Chore] = (),
    ) -> AsyncIterator[WorkerProcess]:
        """Run all parts of a worker process for the block. `claimed` is what it works off beside its turns."""
        outbox = Outbox(self.store.database, self.store.make_id, self.lease)
        wakeups, later = RedisWakeups(redis_url), LaterJobs(redis_url)
        await wakeups.start()
        await later.start()
        wakeups.queue_later(later)
        delivery = DeliveryRunner(outbox, {"sms": self.channel}, self.name, later=wakeups)
        turns = TurnStore(self.store.database, self.store.make_id, self.lease)
        runner = TurnRunner(turns, FewLines(answer), wakeups, {"sms": self.channel}, self.store.make_id, self.name)
        process = WorkerProcess(redis_url, runner, delivery, claimed=claimed, watch=watch, chores=chores)
        process.start()
        try:
            yield process
        finally:
            await process.stop(timedelta(seconds=2))
            await wakeups.stop()
            await later.stop()

    async def until_sent(self, count: int) -> None:
        """Wait until the channel has accepted `count` parts."""
        await eventually(lambda: len(self.channel.arrived) >= count, f"{count} parts that were sent")


@asynccontextmanager
async def waking_inbox(store: Store, redis_url: str) -> AsyncIterator[Inbox]:
    """Yield an inbox that wakes workers through Redis, as in the web process."""
    wakeups = RedisWakeups(redis_url)
    await wakeups.start()
    try:
        yield Inbox(store.database, wakeups, store.make_id, OPEN)
    finally:
        await wakeups.stop()
