"""A request as a turn: the worker's own orchestrator, a person of its own, and the model's calls."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from core.hooks.hooks import Hook, HookContext, PlannedCall, StepReport
from core.ids import make_id
from core.journal.in_memory import MemoryJournal
from core.json_types import JsonObject, read_json
from core.language.catalogue import speaking
from core.llm.types import ChatMessage, ModelAnswer, Role, TokenUsage
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.toolbox import SWITCH
from core.turns.services import TaskEngine
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnState, TurnWork
from onevalet.migrating import migrate
from onevalet.settings import load_settings
from onevalet.testing import StandingClock
from onevalet.wiring.assistant import Assistant, open_assistant
from onevalet.wiring.connections import open_connections
from tests.services import private_postgres, private_valkey
from workbench.benchmarks.assistant.matching import Call, Judged, judge
from workbench.benchmarks.assistant.scenarios import Scenario, now
from workbench.benchmarks.assistant.weather import weather_service

_NO_SECRET = "A" * 43 + "="
_MAIL: JsonObject = {"host": "mail.example", "user": "robin", "password": "none", "from": "robin@example.org"}
"""An account that nothing is ever sent from: sending waits for consent."""
_FAILED = Judged(right_tool=False, right_arguments=False)


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a request; `seconds` is the time from the message to the end of its turn."""

    scenario: Scenario
    judged: Judged
    called: list[Call]
    reply: str
    failure: str
    """The reason for the turn's failure; empty if it ended as it should."""
    model_calls: int
    usage: TokenUsage
    seconds: float


class Recorder(Hook):
    """Record the model's calls, before anything checks them."""

    def __init__(self) -> None:
        self.steps: list[list[Call]] = []
        self.usage = TokenUsage()
        self._places: dict[str, tuple[int, int]] = {}

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        if not context.agent_path:
            for number, call in enumerate(answer.tool_calls):
                self._places[call.id] = (len(self.steps), number)
            self.steps.append([Call(call.name, _as_written(call.arguments)) for call in answer.tool_calls])
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Replace a call's arguments, as the model wrote them, by how they were understood."""
        if place := self._places.get(call.id):
            self.steps[place[0]][place[1]] = Call(call.name, dict(call.arguments))
        return call

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        self.usage += report.usage


@dataclass(frozen=True, slots=True)
class Bench:
    """The assistant, and the database in which its people are."""

    assistant: Assistant
    admin: "asyncpg.Pool[asyncpg.Record]"

    async def run(self, scenario: Scenario) -> Run:
        """Run a request as the first turn of a new person."""
        tenant = TurnTenant(make_id("tn"), "Robin", scenario.language, str(now().tzinfo))
        await self.admin.execute(
            "insert into tenants (tenant_id, name, language, timezone) values ($1,$2,$3,$4)",
            tenant.id,
            tenant.name,
            tenant.language,
            tenant.timezone,
        )
        await self.assistant.credentials.save(tenant.id, "email", _MAIL)
        await self._plan(tenant, scenario)
        recorder, roles = Recorder(), (Role.USER, Role.ASSISTANT)
        request = TurnRequest(
            TurnWork(make_id("turn"), MemoryJournal(), hooks=(recorder,)),
            tenant,
            Place("telegram"),
            FromPerson((TurnMessage(make_id("msg"), scenario.text, now()),)),
            Kept(tuple(ChatMessage(roles[n % 2], said) for n, said in enumerate(scenario.earlier))),
        )
        began = time.monotonic()
        with speaking(tenant.language):
            result = await self.assistant.orchestrator.handle_message(request)
        took = time.monotonic() - began
        failure = result.reason if result.state is TurnState.FAILED else ""
        # To open a group of tools is a step on the way, and no choice of a tool.
        first, *later = [chosen for step in recorder.steps if (chosen := _chosen(step)) or not step] or [[]]
        return Run(
            scenario=scenario,
            judged=_FAILED if failure else await judge(scenario, first, [call for step in later for call in step]),
            called=[call for step in recorder.steps for call in step],
            reply=result.reply,
            failure=failure,
            model_calls=len(recorder.steps),
            usage=recorder.usage,
            seconds=took,
        )

    async def _plan(self, tenant: TurnTenant, scenario: Scenario) -> None:
        """Set the reminders that the person has already."""
        tasks = self.assistant.foundation.opened.get(TaskEngine).for_tenant(tenant.id)
        for number, text in enumerate(scenario.tasks, 1):
            at = (now() + timedelta(days=number)).replace(hour=9, minute=0)
            await tasks.create({"kind": "schedule", "at": at.isoformat()}, {"text": text}, executor="tell", title=text)


@asynccontextmanager
async def bench(model: str, **settings: object) -> AsyncIterator[Bench]:
    """Yield an assistant whose model is `model`, over servers of its own; `settings` replace others of the operator."""
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        weather = await stack.enter_async_context(weather_service())
        await migrate(postgres.url)
        own = {
            "database_url": postgres.url,
            "redis_url": valkey.url,
            "onevalet_model": model,
            "onevalet_secret_keys": _NO_SECRET,
            "onevalet_weather_url": weather,
            "onevalet_access": "open",
        }
        connections = await stack.enter_async_context(
            open_connections(load_settings(**(own | settings)), "onevalet benchmark")
        )
        assistant = await stack.enter_async_context(open_assistant(connections, StandingClock(now())))
        admin = await stack.enter_async_context(asyncpg.create_pool(postgres.url, min_size=1, max_size=4))
        yield Bench(assistant, admin)


def _chosen(step: list[Call]) -> list[Call]:
    return [call for call in step if call.name != SWITCH]


def _as_written(arguments: str) -> dict[str, object]:
    try:
        read = read_json(arguments or "{}")
    except ValueError:
        return {}
    return dict(read) if isinstance(read, dict) else {}
