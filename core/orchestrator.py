"""The orchestrator: what becomes of a turn, in steps that a subclass can replace.

prepare_context -> should_process -> check_pending_agents -> react_loop -> post_process
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import structlog

from core import sentences
from core.budgets import Budgets, NoBudget
from core.clock import Clock
from core.context import (
    CredentialAccess,
    HttpClient,
    NoCredentials,
    NoHttp,
    NoStorage,
    TenantStorage,
    ToolExecutionContext,
)
from core.context_manager import ContextManager
from core.conversation_state import ConversationState, carrying
from core.errors import ContextOverflow, ModelAuthError, ModelError, ModelRejected
from core.hooks import Hook, HookContext, Hooks
from core.model_errors import ModelCaller
from core.model_types import ChatMessage, ModelClient, Role
from core.offer import exposed, usable
from core.prompt import system_prompt
from core.react import LoopFailed, LoopTask, ReactLoop
from core.react_config import ReactLoopConfig
from core.react_result import Ended, ReactLoopResult
from core.registry import ToolRegistry
from core.steering import spoken
from core.streaming import StreamEvent, events_of
from core.summary import since_summary, with_summary
from core.tools import AnyTool
from core.turn_types import TurnRequest, TurnResult, TurnState

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What was prepared for a turn: `messages` begin with the system prompt and end with the person's words."""

    messages: tuple[ChatMessage, ...]
    said: tuple[ChatMessage, ...]
    """The person's messages of this turn, as they go into history."""
    tools: ToolRegistry
    state: ConversationState = field(default_factory=ConversationState)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a turn is not worked on; `reply` may be empty, and then nothing is said."""

    reason: str
    reply: str = ""


type Check = Callable[[TurnRequest, TurnContext], Awaitable[Refusal | None]]
"""One thing that may keep a turn from being worked on. One that cannot tell raises `TurnDelayed`."""


class Recall(Protocol):
    """Long-term memory, as far as a turn needs it."""

    async def search(self, tenant_id: str, query: str) -> Sequence[str]:
        """Give what is known and may matter, the most important first; nothing while memory is away."""
        ...


class CredentialStoreAccess(Protocol):
    """Where one tenant's credentials are looked up."""

    def for_tenant(self, tenant_id: str) -> CredentialAccess:
        """Give access to this tenant's credentials only."""
        ...


class StorageAccess(Protocol):
    """Where tools keep things for one tenant."""

    def for_tenant(self, tenant_id: str) -> TenantStorage:
        """Give access to this tenant's values only."""
        ...


class Orchestrator:
    """Answer turns. One instance serves a whole worker; it keeps nothing of a turn."""

    def __init__(
        self,
        llm_client: ModelClient,
        system_prompt: str = "",
        momex: Recall | None = None,
        *,
        tools: Iterable[AnyTool] = (),
        tool_names: Sequence[str] | None = None,
        agent_tool_filter: Sequence[str] | None = None,
        config: ReactLoopConfig | None = None,
        hooks: Iterable[Hook] = (),
        checks: Iterable[Check] = (),
        credentials: CredentialStoreAccess | None = None,
        storage: StorageAccess | None = None,
        budgets: Budgets | None = None,
        http: HttpClient | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`tool_names` and `agent_tool_filter` name the tools and agents that are offered to the model, None for all.

        `checks` are asked in order.
        """
        self.config = config or ReactLoopConfig()
        self.llm_client = llm_client
        self.system_prompt = system_prompt
        self.momex = momex
        registry = ToolRegistry(tools)
        self.tools = exposed(registry, tool_names, agent_tool_filter)
        self.checks = tuple(checks)
        self.clock = clock or Clock()
        self._hooks = Hooks(hooks)
        self._credentials = credentials
        self._storage = storage
        self._budgets = budgets
        self._http = http or NoHttp()
        caller = ModelCaller(llm_client, self.config, ContextManager(self.config))
        self._loop = ReactLoop(caller, self.config, self._hooks)

    async def handle_message(self, request: TurnRequest) -> TurnResult:
        """Run a turn, or on from where its journal ends.

        Raises `LeaseLost` when another worker has it, and `TurnDelayed` when a check could not tell.
        """
        hooks, where = self._hooks.plus(request.hooks), self._where(request)
        await hooks.state_changed(where, "running")
        result = await self._handle(request)
        await hooks.state_changed(where, result.state.value)
        return result

    def stream_message(self, request: TurnRequest) -> AsyncGenerator[StreamEvent]:
        """Run a turn as `handle_message` does, and give what happens in it as events, EXECUTION_END last.

        Read to the end or close it: closing stops the turn. Whoever reads slowly slows the turn.
        """
        return events_of(
            request.turn_id, lambda hook: self.handle_message(replace(request, hooks=(*request.hooks, hook)))
        )

    async def _handle(self, request: TurnRequest) -> TurnResult:
        context = await self.prepare_context(request)
        if refusal := await self.should_process(request, context):
            return await self.reject_message(request, context, refusal)
        if pending := await self.check_pending_agents(request, context):
            return pending
        try:
            result = await self.react_loop(request, context)
        except LoopFailed as failed:
            return await self.post_process(request, context, self._failure(request, context, failed))
        return await self.post_process(request, context, _turn_result(request, context, result))

    async def prepare_context(self, request: TurnRequest) -> TurnContext:
        """Put together what the model sees: prompt, recalled facts, history, the person's words."""
        said = tuple(message for inbound in request.inbound for message in spoken(inbound))
        known: Sequence[str] = ()
        if self.momex and said:
            known = await self.momex.search(request.tenant.id, "\n".join(one.text for one in said))
        state = ConversationState.of(request.history)
        prompt = system_prompt(
            self.system_prompt, request.tenant, request.channel, self.clock.now(), known=tuple(known), seen=state.seen
        )
        messages = (ChatMessage(Role.SYSTEM, prompt), *since_summary(request.history, state), *said)
        messages = with_summary(messages, state)
        tools = await usable(self.tools, self._credentials_of(request), request.tenant.id)
        return TurnContext(messages, said, tools, state)

    async def should_process(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        """Ask the checks in order; the first refusal counts. None: go on."""
        for check in self.checks:
            if refusal := await check(request, context):
                return refusal
        return None

    async def reject_message(self, request: TurnRequest, context: TurnContext, refusal: Refusal) -> TurnResult:
        """Say what a refused message is answered with, if anything."""
        return TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason)

    async def check_pending_agents(self, request: TurnRequest, context: TurnContext) -> TurnResult | None:
        """Give the turn to an agent that waits for this person. None: nobody waits."""
        return None

    async def react_loop(self, request: TurnRequest, context: TurnContext) -> ReactLoopResult:
        """Let the model work on it with the tools."""
        return await self._loop.run(
            LoopTask(
                where=self._where(request),
                messages=context.messages,
                tools=context.tools,
                journal=request.journal,
                make_context=lambda name, key: self.tool_context(request, name, key),
                inbound=request.inbound,
                control=request.control,
                while_running=request.while_running,
                state=context.state,
                hooks=request.hooks,
                budget=self._budgets.for_turn(request) if self._budgets else NoBudget(),
            )
        )

    async def post_process(self, request: TurnRequest, context: TurnContext, result: TurnResult) -> TurnResult:
        """Finish the turn: the last chance to change what is said and kept."""
        reply = await self._hooks.plus(request.hooks).post_call(self._where(request), result.reply)
        return result if reply == result.reply else _with_reply(result, reply)

    def tool_context(self, request: TurnRequest, tool_name: str, idempotency_key: str) -> ToolExecutionContext:
        """Make what a tool is handed."""
        tenant = request.tenant
        return ToolExecutionContext(
            tenant_id=tenant.id,
            turn_id=request.turn_id,
            idempotency_key=idempotency_key,
            clock=self.clock,
            credentials=self._credentials_of(request),
            http=self._http,
            log=structlog.get_logger().bind(turn=request.turn_id, tool=tool_name),
            timezone=tenant.timezone,
            language=tenant.language,
            storage=self._storage.for_tenant(tenant.id) if self._storage else NoStorage(),
        )

    def _credentials_of(self, request: TurnRequest) -> CredentialAccess:
        return self._credentials.for_tenant(request.tenant.id) if self._credentials else NoCredentials()

    def _where(self, request: TurnRequest) -> HookContext:
        return HookContext(request.turn_id, request.tenant.id, request.channel)

    def _failure(self, request: TurnRequest, context: TurnContext, failed: LoopFailed) -> TurnResult:
        reason, reply = _explain(failed.error, request.channel)
        _log.error(
            "turn_failed",
            turn=request.turn_id,
            reason=reason,
            cause=type(failed.error).__name__,
            detail=str(failed.error),
        )
        result = _turn_result(request, context, failed.partial)
        told = ChatMessage(Role.ASSISTANT, reply)
        return replace(result, state=TurnState.FAILED, reply=reply, reason=reason, history=(*result.history, told))


def _turn_result(request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
    state = TurnState.INTERRUPTED if result.ended in (Ended.INTERRUPTED, Ended.SUPERSEDED) else TurnState.DONE
    return TurnResult(
        state,
        reply=result.response,
        history=carrying((*context.said, *result.messages), result.state, request.history),
        usage=result.token_usage,
        turns=result.turns,
        absorbed=result.absorbed,
        reason="" if result.ended is Ended.ANSWERED else result.ended.value,
    )


def _with_reply(result: TurnResult, reply: str) -> TurnResult:
    """Change the reply in history too: the model must know what the person read."""
    history = result.history
    if history and history[-1].role is Role.ASSISTANT and not history[-1].tool_calls:
        history = (*history[:-1], replace(history[-1], text=reply))
    return replace(result, reply=reply, history=history)


def _explain(error: ModelError, channel: str) -> tuple[str, str]:
    match error:
        case ContextOverflow():
            return "context_overflow", sentences.too_long(channel)
        case ModelAuthError():
            return "model_auth", sentences.MODEL_AUTH
        case ModelRejected():
            return "model_rejected", sentences.MODEL_REFUSED
        case _:
            return "model_down", sentences.MODEL_DOWN
