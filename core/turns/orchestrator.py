"""The orchestrator: the steps of a turn, which a subclass can replace.

prepare_context -> should_process -> check_pending_agents -> react_loop -> post_process
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self

from core.agents.standard_agent import AgentResult, StandardAgent, Thinking, Valet
from core.agents.turn_agents import make_agent
from core.approvals.types import PendingApproval
from core.hooks.hooks import Hook
from core.loop.loop import LoopFailed
from core.loop.result import ReactLoopResult
from core.loop.scope import LoopTask
from core.tools.context import ToolExecutionContext
from core.turns.checks import ask
from core.turns.context import Check, Refusal, TurnContext
from core.turns.endings import with_reply
from core.turns.event_stream import StreamEvent, events_of
from core.turns.files import only_unreadable, take_in, taken_in
from core.turns.library_logs import log_to_program
from core.turns.model_away import without_model
from core.turns.parts import OrchestratorOptions, build_parts, takes
from core.turns.tools import AgentSteps, where
from core.turns.types import TurnRequest, TurnResult, TurnState, check_turn
from core.turns.waiting_agents import answered_plainly


class Orchestrator:
    """Answer turns. An instance serves a whole worker; it keeps nothing of a turn.

    Close it, or use it as `async with Orchestrator(...)`, and the model's connections are closed.
    """

    checks: tuple[Check, ...] = ()

    @takes(OrchestratorOptions)
    def __init__(self, options: OrchestratorOptions) -> None:
        """Build the parts. Raises `ConfigError` for tools and agents that do not go together."""
        log_to_program()
        self.llm_client = options.llm_client
        self.system_prompt = options.system_prompt
        self.momex = options.momex
        self.trigger_engine = options.trigger_engine
        self._parts = build_parts(options, AgentSteps(self.create_agent, self.execute_agent, self.tool_context))
        self.services = self._parts.services
        self.config = self._parts.config
        self.budgets = options.budgets
        self.clock = self.services.clock
        self.tools = self._parts.offer.tools
        self.agents, self.doing = self._parts.offer.agents, self._parts.offer.doing
        self.checks = tuple(options.checks)

    async def __aenter__(self) -> Self:
        """Return itself: it is ready as it is."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Close the model's connections; any other part is its owner's to close."""
        await self.llm_client.close()

    async def handle_message(self, request: TurnRequest) -> TurnResult:
        """Run a turn, such as `new_turn` makes, or resume it where its journal ends.

        Raises `LeaseLost` if another worker has it, `TurnDelayed` if it is tried again (a check could not decide, or
        no model answers), and `TypeError` for any other value.
        """
        check_turn(request)
        hooks = self._parts.hooks.plus(request.work.hooks)
        await hooks.tell(Hook.state_changed, where(request), TurnState.RUNNING)
        result = await self._handle(request)
        await hooks.tell(Hook.state_changed, where(request), result.state)
        return result

    def stream_message(self, request: TurnRequest) -> AsyncGenerator[StreamEvent]:
        """Run a turn as `handle_message` does, and yield its progress as events, EXECUTION_END last.

        Read to the end or close it: closing stops the turn. A slow reader slows the turn.
        """
        check_turn(request)
        work = self.handle_message
        return events_of(request.turn_id, lambda hook: work(request.watched_by(hook)), doing=self.doing)

    async def _handle(self, request: TurnRequest) -> TurnResult:
        request = await taken_in(request, self.services.files)
        context = await self.prepare_context(request)
        return replace(await self._answer(request, context), noted=context.noted)

    async def _answer(self, request: TurnRequest, context: TurnContext) -> TurnResult:
        if refusal := await self.should_process(request, context):
            return await self.reject_message(request, context, refusal)
        if answer := await self.check_pending_agents(request, context):
            return answer
        try:
            result = await self.react_loop(request, context)
        except LoopFailed as failed:
            patience = timedelta(seconds=self._parts.config.llm_outage_patience)
            return await self.post_process(request, context, await without_model(request, context, failed, patience))
        return await self.post_process(request, context, await self._parts.endings.end(request, context, result))

    async def prepare_context(self, request: TurnRequest) -> TurnContext:
        """Put together the model's input: prompt, recalled facts, history, the person's words."""
        return await self._parts.preparation.prepare(request)

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
        """Return the answer to a refused message, if any."""
        return TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason)

    async def check_pending_agents(self, request: TurnRequest, context: TurnContext) -> TurnResult | None:
        """Route the message to a waiting agent if it clearly answers one; otherwise return None."""
        if request.starts is not None and request.starts.says_result:
            return None  # an exact word: it answers nobody
        if answer := answered_plainly(request, context) or only_unreadable(request, context):
            return answer
        decisions = self._parts.agent_decisions
        return await decisions.decide(request, context) if decisions else None

    async def react_loop(self, request: TurnRequest, context: TurnContext) -> ReactLoopResult:
        """Let the model work on it with the tools."""
        if request.starts is not None and not await request.work.journal.recorded():
            await request.work.journal.write(request.starts.step(context.tools.hash))
        return await self._parts.loop.run(
            LoopTask(
                context.agents.scope,
                context.messages,
                context.tools,
                inbound=request.inbound,
                while_running=request.work.while_running,
                take_in=partial(take_in, self.services.files, request, waiting=context.waiting),
                state=context.state,
                go_on_at=request.go_on_at,
                says_result=request.starts is not None and request.starts.says_result,
            )
        )

    async def list_pending_approvals(self, tenant_id: str) -> list[PendingApproval]:
        """Return the approvals that wait for a person's decision, from any conversation, the oldest first."""
        approvals = self._parts.given.approvals
        return await approvals.list_pending(tenant_id) if approvals else []

    async def create_agent(
        self,
        valet: Valet,
        context: ToolExecutionContext,
        thinking: Thinking,
        values: Mapping[str, Any],
        instruction: str,
    ) -> StandardAgent:
        """Create an agent that the loop or a task calls for."""
        return await make_agent(valet, context, thinking, values, instruction)

    async def execute_agent(self, agent: StandardAgent, run: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
        """Run an agent's handler, which `run` does, within the agent's time; its result is journalled after this."""
        return await run()

    async def post_process(self, request: TurnRequest, context: TurnContext, result: TurnResult) -> TurnResult:
        """Finish the turn: the last chance to change the reply and the stored result."""
        hooks = self._parts.hooks.plus(request.work.hooks)
        reply = await hooks.pipe(Hook.post_call, result.reply, where(request))
        return result if reply == result.reply else with_reply(result, reply)

    def tool_context(self, request: TurnRequest, tool_name: str, idempotency_key: str) -> ToolExecutionContext:
        """Return the context for a tool."""
        context = replace(
            self.services.context_for(request.tenant, request.turn_id, request.channel, tool_name, idempotency_key),
            in_task=request.trigger is not None,
        )
        consents = self._parts.consents.for_turn(request)
        return context if consents is None else replace(context, consents=consents)
