"""What the tests of the loop share: a scripted model in process and constant values."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from core.budgets.types import NoBudget, TurnBudget
from core.clock import Clock
from core.hooks.hooks import Hook, HookContext, Hooks
from core.journal.in_memory import MemoryJournal
from core.journal.types import Journal
from core.json_types import Json
from core.llm.types import (
    ChatMessage,
    ModelAnswer,
    ModelLayer,
    ModelRequest,
    Role,
    TokenUsage,
    ToolCall,
)
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnControl
from core.loop.conversation_state import ConversationState
from core.loop.loop import ReactLoop
from core.loop.reasoning import ModelCaller
from core.loop.result import ReactLoopResult
from core.loop.scope import LoopTask, TurnScope
from core.people.tenant import WhileRunning
from core.tools.context import NO_WEB, ToolExecutionContext
from core.tools.tool import AnyTool
from core.tools.toolbox import ToolRegistry
from onevalet.testing import MemoryCredentials

type Step = ModelAnswer | Exception | Callable[[ModelRequest], ModelAnswer | Awaitable[ModelAnswer]]

SYSTEM = ChatMessage(Role.SYSTEM, "You are a test.")
USAGE = TokenUsage(100, 10)


def a_context(
    *, tenant_id: str = "tenant", turn_id: str = "turn", idempotency_key: str = "key", timezone: str = "UTC"
) -> ToolExecutionContext:
    """Create the context of a tool call."""
    return ToolExecutionContext(
        tenant_id=tenant_id,
        turn_id=turn_id,
        idempotency_key=idempotency_key,
        clock=Clock(),
        credentials=MemoryCredentials(),
        http=NO_WEB,
        log=structlog.get_logger(),
        timezone=timezone,
    )


def says(text: str) -> ModelAnswer:
    """Return an answer of text."""
    return ModelAnswer(text, usage=USAGE, model="fake")


def wants(*calls: tuple[str, Json], beside: str = "") -> ModelAnswer:
    """Return an answer of calls: (name, arguments), with a string for malformed JSON."""
    wanted = tuple(
        ToolCall(f"c{index}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for index, (name, arguments) in enumerate(calls)
    )
    return ModelAnswer(beside, wanted, usage=USAGE, model="fake")


def user(text: str, *, internal: bool = False) -> ChatMessage:
    """Create a message of the person."""
    return ChatMessage(Role.USER, text, internal=internal)


@dataclass
class FakeModel:
    """Return scripted answers in process, for tests of the loop's logic; the wire has tests of its own."""

    script: list[Step]
    layers: Sequence[ModelLayer] = (ModelLayer("fake"),)
    requests: list[ModelRequest] = field(default_factory=list)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the next answer of the script."""
        self.requests.append(request)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, ModelAnswer):
            return step
        given = step(request)
        return given if isinstance(given, ModelAnswer) else await given

    async def close(self) -> None:
        """Release nothing."""

    @property
    def last(self) -> tuple[ChatMessage, ...]:
        """Return the messages of the last request."""
        return self.requests[-1].messages

    def told(self, index: int = -1) -> list[str]:
        """Return the tool results in a request."""
        return [message.text for message in self.requests[index].messages if message.role is Role.TOOL]


async def run_loop(
    script: Iterable[Step] | FakeModel,
    tools: Iterable[AnyTool] = (),
    *,
    config: ReactLoopConfig | None = None,
    journal: Journal | None = None,
    hooks: Iterable[Hook] = (),
    history: Iterable[ChatMessage] = (),
    control: TurnControl | None = None,
    while_running: WhileRunning = WhileRunning.STEER,
    state: ConversationState | None = None,
    budget: TurnBudget | None = None,
    **more: Any,
) -> tuple[ReactLoopResult, FakeModel]:
    """Run one turn of the loop over a scripted model."""
    model = script if isinstance(script, FakeModel) else FakeModel(list(script))
    numbers = config or ReactLoopConfig(llm_retry_base_delay=0.001)
    caller = ModelCaller(model, numbers, chance=lambda: 0.5)
    where = HookContext("turn", "tenant", "terminal")
    scope = TurnScope(
        where,
        journal or MemoryJournal(),
        lambda name, key: a_context(idempotency_key=key),
        config=numbers,
        hooks=Hooks(hooks),
        control=control,
        budget=budget or NoBudget(),
        **more,
    )
    task = LoopTask(
        scope,
        (SYSTEM, *history, user("Hello")),
        ToolRegistry(tools),
        while_running=while_running,
        state=state or ConversationState(),
    )
    return await ReactLoop(caller).run(task), model
