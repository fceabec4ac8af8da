"""A trigger engine with one person, a standing clock, and turns that run at once."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfo

from abilities.tasks.engine import TriggerEngine
from abilities.tasks.runner import TriggerRunner
from abilities.tasks.runs.condition_checks import ConditionChecks
from abilities.tasks.runs.executors import RunExecutors
from abilities.tasks.runs.notifications import Notices
from abilities.tasks.types import ActionExecutor, ActionResult, Task, TaskRun, TriggerContext
from abilities.web.page import read_html
from core.errors import ToolFailed
from core.http.pages import Page
from core.http.types import HttpResponse
from core.json_types import JsonObject
from core.notifications.types import Notification, Notified, Notifier
from core.turns.orchestrator import Orchestrator
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.abilities.tasks.conversation_notifier import ConversationNotifier
from tests.clocks import StandingClock
from tests.core.builders import FakeModel, says
from tests.core.harness import Store

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
"""A Monday."""

type Answer = Callable[[TurnRequest], Awaitable[TurnResult]]


class Says(Orchestrator):
    """An orchestrator whose turns are answered by a function."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(FakeModel([says("never asked")]))
        self.answer = answer
        self.requests: list[TurnRequest] = []

    async def handle_message(self, request: TurnRequest) -> TurnResult:
        """Record the request and answer it."""
        self.requests.append(request)
        return await self.answer(request)


class Counting(ActionExecutor):
    """An executor that records its calls and returns or raises the prepared results."""

    name = "counting"
    effect = "once"

    def __init__(self) -> None:
        self.contexts: list[TriggerContext] = []
        self.results: list[ActionResult | BaseException] = []

    async def execute(self, context: TriggerContext) -> ActionResult:
        """Record the call and return the next result."""
        self.contexts.append(context)
        result = self.results.pop(0) if self.results else ActionResult(True, "counted")
        if isinstance(result, BaseException):
            raise result
        return result


@dataclass(slots=True)
class Recorded:
    """Record notifications and pass them on."""

    inner: Notifier
    said: list[Notification] = field(default_factory=list)

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Record a notification and pass it on."""
        self.said.append(notification)
        return await self.inner.notify(tenant_id, notification)


@dataclass(slots=True)
class World:
    """What conditions check: pages by URL and results by tool; an exception among them is raised."""

    pages: dict[str, object] = field(default_factory=dict)
    looks: int = 0

    async def read_page(self, answer: HttpResponse) -> Page:
        return await read_html(answer)

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        """Return a page."""
        self.looks += 1
        page = self.pages.get(url, ToolFailed("The server cannot be reached."))
        if isinstance(page, Exception):
            raise page
        return HttpResponse(200, {}, str(page).encode(), url)

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        """Return a tool's result."""
        return str(self.pages[tool])


async def echo(request: TurnRequest) -> TurnResult:
    """Answer with the first line of the trigger's message."""
    assert request.trigger is not None
    return TurnResult(TurnState.DONE, f"done: {request.trigger.content.splitlines()[0]}")


@dataclass(slots=True)
class Harness:
    """The parts of one worker, run step by step."""

    store: Store
    tenant: str
    clock: StandingClock
    engine: TriggerEngine
    notifier: Recorded
    world: World
    counting: Counting
    says: Says
    runner: TriggerRunner
    turns: TurnRunner

    async def work(self) -> int:
        """Run due tasks, checks, turns and notices; return how many tasks were due."""
        due = await self.runner.once()
        await self.engine.make_up()
        await self.runner.looked()
        while lease := await self.turns.claim(None):
            await self.turns.run(lease)
        while await self.runner.notices.hand_over():
            pass
        return due

    async def runs(self, task: Task) -> Sequence[TaskRun]:
        """Return a task's runs, the oldest first."""
        return list(reversed(await self.engine.runs(task.tenant_id, task.id, 1000)))

    async def states(self, task: Task) -> list[str]:
        """Return the states of a task's runs, the oldest first."""
        return [run.state.value for run in await self.runs(task)]

    async def again(self, task: Task) -> Task:
        """Return the current state of a task."""
        refreshed = await self.engine.get_task(task.tenant_id, task.id)
        assert refreshed is not None
        return refreshed

    async def sent(self) -> list[str]:
        """Return the texts of all replies, in order."""
        return cast("list[str]", await self.store.db.outbound.column("text", order="seq"))


async def make_harness(store: Store, answer: Answer = echo, sender: str = "+15550000001") -> Harness:
    """Return a harness on a store with one person, who has written once and been answered."""
    await store.say("hello", sender=sender)
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn)
    tenant = lease.tenant_id
    await store.db.tenants.change({"timezone": "Europe/Berlin"}, tenant_id=tenant)
    clock, world, counting = StandingClock(NOW), World(), Counting()
    engine = TriggerEngine(store.database, store.make_id, clock, store.wakeups, executors=[counting])
    notifier = Recorded(ConversationNotifier(store.database, store.wakeups))
    notices = Notices(engine.store, notifier, later=store.wakeups)
    speaker = Says(answer)
    runs = RunExecutors(engine, speaker, notifier, notices, world)
    looking = ConditionChecks(engine, world, clock, store.make_id)
    runner = TriggerRunner(engine, looking, notices, clock)
    turns = TurnRunner(store.turns, speaker, store.wakeups, {}, store.make_id, "w1", TurnFeatures(runs=runs))
    return Harness(store, tenant, clock, engine, notifier, world, counting, speaker, runner, turns)
