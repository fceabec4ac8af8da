"""The orchestrator: what becomes of a turn, in steps that a subclass can replace.

prepare_context -> should_process -> check_pending_agents -> react_loop -> post_process
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, StandardAgent, Thinking
from core.agents.tool import agent_tools
from core.agents.turn_agents import PoolLimits, TurnAgents, make_agent, used_tokens
from core.agents.valet import Valet
from core.agents.voice import Voice, has_a_voice
from core.approvals.requests import ApprovalRequests
from core.approvals.store import ApprovalStore
from core.approvals.types import PendingApproval
from core.budgets.store import DailyBudgets
from core.budgets.types import NoBudget
from core.clock import Clock
from core.hooks.hooks import Hook, HookContext, Hooks
from core.http.types import HttpClient, NoHttp
from core.llm.types import ChatMessage, ModelClient, Role
from core.loop.config import ReactLoopConfig
from core.loop.context_window import ContextManager
from core.loop.conversation_state import ConversationState
from core.loop.loop import LoopFailed, LoopTask, ReactLoop
from core.loop.model_caller import ModelCaller
from core.loop.result import Ended, ReactLoopResult
from core.loop.summary import since_summary, with_summary
from core.memory.access import NoMemory
from core.people.tiers import Tiers
from core.tools.context import (
    CredentialAccess,
    NoCredentials,
    NoFiles,
    NoPerson,
    NoStorage,
    NoTasks,
    ToolExecutionContext,
)
from core.tools.files import Files
from core.tools.offer import exposed, remembering, usable
from core.tools.registry import ToolRegistry
from core.tools.tool import AnyTool
from core.turns import decide_tool
from core.turns.ask_check import ask
from core.turns.context import Check, Refusal, TurnContext
from core.turns.event_stream import StreamEvent, events_of
from core.turns.prompt import system_prompt
from core.turns.results import explain, first_step, said_in, turn_result, waiting_result, with_person, with_reply
from core.turns.services import CredentialStoreAccess, PeopleAccess, Recall, StorageAccess, TaskEngine
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import answered, notice, pending_in, reminder, stopped

_log = structlog.get_logger()


class Orchestrator:
    """Answer turns. One instance serves a whole worker; it keeps nothing of a turn."""

    checks: tuple[Check, ...] = ()

    def __init__(
        self,
        llm_client: ModelClient,
        system_prompt: str = "",
        momex: Recall | None = None,
        trigger_engine: TaskEngine | None = None,
        *,
        tools: Iterable[AnyTool] = (),
        tool_names: Sequence[str] | None = None,
        agents: AgentRegistry | None = None,
        agent_tool_filter: Sequence[str] | None = None,
        pool_limits: PoolLimits | None = None,
        approvals: ApprovalStore | None = None,
        config: ReactLoopConfig | None = None,
        hooks: Iterable[Hook] = (),
        checks: Iterable[Check] = (),
        tiers: Tiers | None = None,
        credentials: CredentialStoreAccess | None = None,
        storage: StorageAccess | None = None,
        budgets: DailyBudgets | None = None,
        http: HttpClient | None = None,
        settings: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        people: PeopleAccess | None = None,
        files: Files | None = None,
    ) -> None:
        """`tool_names` and `agent_tool_filter` name the tools and agents that are offered to the model, None for all.

        `checks` are asked in order. `settings` are for tools, as `context.settings`.
        """
        self.config = config or ReactLoopConfig()
        self.llm_client = llm_client
        self.system_prompt = system_prompt
        self.momex = momex
        self.trigger_engine = trigger_engine
        registry = ToolRegistry(tools)
        self.agents = agents or AgentRegistry()
        self.agents.check_names(registry)
        self._offered = self.agents.offered(agent_tool_filter)
        plain = None if agent_tool_filter is None else [one for one in agent_tool_filter if not self.agents.get(one)]
        self.tools = exposed(registry, tool_names, plain)
        self._pool_limits = pool_limits or PoolLimits()
        self._approvals = approvals
        self.checks = tuple(checks)
        self._tiers = tiers
        self.clock = clock or Clock()
        self._hooks = Hooks(hooks)
        self._credentials = credentials
        self._storage = storage
        self._people = people
        self._files = files
        self._budgets = budgets
        self._http = http or NoHttp()
        self._settings = dict(settings or {})
        self._caller = ModelCaller(llm_client, self.config, ContextManager(self.config))
        self._loop = ReactLoop(self._caller, self.config, self._hooks)

    @property
    def budgets(self) -> DailyBudgets | None:
        """Return the budgets that turns are paid from, for work done for people outside their turns."""
        return self._budgets

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
        return await self.post_process(request, context, await self._settle(request, context, result))

    async def prepare_context(self, request: TurnRequest) -> TurnContext:
        """Put together what the model sees: prompt, recalled facts, history, the person's words."""
        said = said_in(request)
        known: Sequence[str] = ()
        if self.momex and said:
            known = await self.momex.recall(
                request.tenant.id, "\n".join(one.text for one in said), turn_id=request.turn_id
            )
        state = ConversationState.of(request.history)
        prompt = system_prompt(
            self.system_prompt,
            request.tenant,
            request.channel,
            self.clock.now(),
            known=tuple(known),
            seen=state.seen,
            profile=tuple(await self._people.known(request.tenant.id)) if self._people else (),
        )
        waiting = pending_in(request, self.agents, self.clock.now())
        notes = (waiting.note(), decide_tool.note(request, request.approvals))
        prompt = "\n\n".join(part for part in (prompt, *notes) if part)
        messages = (ChatMessage(Role.SYSTEM, prompt), *since_summary(request.history, state), *said)
        messages = with_person(with_summary(messages, state))
        agents = self._turn_agents(request)
        as_tool = self.momex is not None and self.momex.as_tool
        tools = remembering(self._tools_in_tier(request), memory=self.momex is not None, as_tool=as_tool)
        if offered := agent_tools(self._offered_in(request), agents):
            tools = ToolRegistry([*tools, *offered])
        tools = await usable(tools, self._credentials_of(request), request.tenant.id)
        if more := [*waiting.tools(), *self._deciding(request)]:
            tools = ToolRegistry([*tools, *more])
        return TurnContext(messages, said, tools, agents, state, waiting)

    async def should_process(self, request: TurnRequest, context: TurnContext) -> Refusal | None:
        """Ask the checks in order; the first refusal counts. None: go on."""
        for check in self.checks:
            if refusal := await ask(check, request, context):
                return refusal
        return None

    async def check_command(self, request: TurnRequest) -> Refusal | None:
        """Ask the checks about a command, which is answered without a model. None: go on."""
        return await self.should_process(request, await self.prepare_context(request)) if self.checks else None

    async def reject_message(self, request: TurnRequest, context: TurnContext, refusal: Refusal) -> TurnResult:
        """Return what a refused message is answered with, if anything."""
        return TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason)

    async def check_pending_agents(self, request: TurnRequest, context: TurnContext) -> TurnResult | None:
        """Return what was said to an agent that waits for just that. None: the loop sees to it."""
        if decide_tool.open_to_words(request, request.approvals):
            return None  # the message may as well be about what waits for an approval
        taken = context.waiting.answer_plainly(request.inbound)
        if taken is None:
            return None
        reply, entries = notice(context.waiting), context.waiting.entries
        return TurnResult(TurnState.DONE, reply, answered([taken]), history=context.said, pool=entries)

    async def react_loop(self, request: TurnRequest, context: TurnContext) -> ReactLoopResult:
        """Let the model work on it with the tools."""
        if request.starts is not None and not await request.journal.recorded():
            await request.journal.write(first_step(request.starts, context.tools))
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
                budget=context.agents.budget,
                consents=context.agents.consents,
                go_on_at=request.go_on_at,
            )
        )

    async def list_pending_approvals(self, tenant_id: str) -> list[PendingApproval]:
        """Return what waits for a person's decision, wherever it was asked, the oldest first."""
        return await self._approvals.list_pending(tenant_id) if self._approvals else []

    async def create_agent(
        self,
        valet: Valet,
        context: ToolExecutionContext,
        thinking: Thinking,
        values: Mapping[str, Any],
        instruction: str,
    ) -> StandardAgent:
        """Make an agent that the loop or a task calls for."""
        return await make_agent(valet, context, thinking, values, instruction)

    async def execute_agent(self, agent: StandardAgent, run: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
        """Run an agent's handler, which `run` does, within the agent's time; its result is journalled after this."""
        return await run()

    async def post_process(self, request: TurnRequest, context: TurnContext, result: TurnResult) -> TurnResult:
        """Finish the turn: the last chance to change what is said and kept."""
        reply = await self._hooks.plus(request.hooks).post_call(self._where(request), result.reply)
        return result if reply == result.reply else with_reply(result, reply)

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
            person=self._people.for_turn(tenant.id, request.turn_id) if self._people else NoPerson(),
            files=self._files.for_turn(tenant.id, request.turn_id, request.channel) if self._files else NoFiles(),
            tasks=self.trigger_engine.for_tenant(tenant.id) if self.trigger_engine else NoTasks(),
            settings=self._settings,
            memory=self.momex.for_tenant(tenant.id, request.turn_id) if self.momex else NoMemory(),
        )

    def _credentials_of(self, request: TurnRequest) -> CredentialAccess:
        return self._credentials.for_tenant(request.tenant.id) if self._credentials else NoCredentials()

    def _names_in_tier(self, request: TurnRequest) -> tuple[str, ...] | None:
        return self._tiers.tools_of(request.tenant.role, request.tenant.tier) if self._tiers else None

    def _tools_in_tier(self, request: TurnRequest) -> ToolRegistry:
        names = self._names_in_tier(request)
        return self.tools if names is None else ToolRegistry(one for one in self.tools if one.name in names)

    def _where(self, request: TurnRequest) -> HookContext:
        return HookContext(request.turn_id, request.tenant.id, request.channel)

    def _turn_agents(self, request: TurnRequest) -> TurnAgents:
        return TurnAgents(
            loop=self._loop,
            where=self._where(request),
            journal=request.journal,
            make_context=lambda name, key: self.tool_context(request, name, key),
            config=self.config,
            clock=self.clock,
            conversation_id=request.conversation_id,
            entries={one.agent_path: one for one in request.pool if one.turn_id == request.turn_id},
            control=request.control,
            budget=self._budgets.of(request.payer) if self._budgets else NoBudget(),
            limits=self._pool_limits,
            make_agent=self.create_agent,
            execute_agent=self.execute_agent,
            hooks=self._hooks.plus(request.hooks),
            consents=(desk := self._desk(request)),
            new_approvals=desk.asked if desk else {},
        )

    def _desk(self, request: TurnRequest) -> ApprovalRequests | None:
        if self._approvals is None or not request.conversation_id:
            return None
        source = "message" if request.sender is not None else "trigger"
        return ApprovalRequests(
            self._approvals,
            request.tenant.id,
            request.turn_id,
            self.clock,
            request.approvals,
            source,
            most=self.config.max_cards_per_answer,
            too_long=request.too_long,
        )

    def _deciding(self, request: TurnRequest) -> Sequence[AnyTool]:
        if self._approvals is None:
            return ()
        made = decide_tool.decide_tool(request, self._approvals, self.clock, request.approvals)
        return () if made is None else (made,)

    def _offered_in(self, request: TurnRequest) -> Sequence[Valet]:
        """Return the agents of one turn: those that are offered, and one with which the turn begins."""
        names = self._names_in_tier(request)
        offered = [one for one in self._offered if names is None or one.name in names]
        started = self.agents.get(request.starts.name) if request.starts else None
        return offered if started is None or started in offered else [*offered, started]

    async def _settle(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        """Make of a loop's end what is said and what the pool keeps."""
        waiting = context.waiting
        waiting.replay(result.messages)
        if result.ended is Ended.WAITING:
            return await self._wait(request, context, result)
        if request.go_on_at is not None or context.agents.used:
            result = replace(result, token_usage=await used_tokens(request.journal))
        settled = turn_result(request, context.said, result)
        if result.ended is Ended.HANDED_OVER:
            told = decide_tool.told_of_decisions(result.messages)
            settled = replace(settled, reply=told, reason=answered(tuple(waiting.changed.values())))
        parts = [notice(waiting), settled.reply, reminder(waiting, result)]
        settled = with_reply(settled, "\n\n".join(part for part in parts if part))
        return replace(settled, pool=waiting.entries)

    async def _wait(self, request: TurnRequest, context: TurnContext, result: ReactLoopResult) -> TurnResult:
        """Stop a turn whose agents wait: ask what is new, in the persona's voice, and put them into the pool."""
        left = stopped(request, result, tuple(context.agents.waiting.values()), self._pool_limits)
        text = left.text
        if text and has_a_voice(self.system_prompt, request.tenant):
            voice = Voice(self._caller, request.journal, context.agents.budget, self._where(request))
            text = await voice.say(result.turns - 1, (*context.messages, *result.messages), text)
        reply = "\n\n".join(part for part in (notice(context.waiting), text, left.notice) if part)
        left = replace(left, entries=(*left.entries, *context.waiting.entries))
        cards = context.agents.cards
        return waiting_result(request, context.said, result, reply, left, await used_tokens(request.journal), cards)

    def _failure(self, request: TurnRequest, context: TurnContext, failed: LoopFailed) -> TurnResult:
        reason, reply = explain(failed.error, request.channel)
        _log.error(
            "turn_failed",
            turn=request.turn_id,
            reason=reason,
            cause=type(failed.error).__name__,
            detail=str(failed.error),
        )
        result = turn_result(request, context.said, failed.partial)
        told = ChatMessage(Role.ASSISTANT, reply)
        context.waiting.replay(failed.partial.messages)
        return replace(
            result,
            state=TurnState.FAILED,
            reply=reply,
            reason=reason,
            history=(*result.history, told),
            pool=context.waiting.entries,
        )
