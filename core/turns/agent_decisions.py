"""Decisions in words that an agent reads by itself, before the model does (`StandardAgent.parse_approval_async`).

They count under the same conditions as decisions that the model hands on (`core.turns.decide_tool`), and only if a
single action of a single agent can be meant.
"""

import asyncio
from dataclasses import dataclass

import structlog

from core.agents.agent_call import fields_in
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import ApprovalDecision
from core.approvals.exact_replies import Verb
from core.approvals.outcomes import DecisionOutcome, decided_text
from core.approvals.store import ApprovalStore
from core.approvals.types import Approval
from core.clock import Clock
from core.errors import ToolFailed
from core.turns.context import TurnContext
from core.turns.decide_tool import open_to_words
from core.turns.types import TurnRequest, TurnResult, TurnState

_SECONDS = 5.0
_VERBS = {ApprovalDecision.APPROVE: Verb.APPROVE, ApprovalDecision.CANCEL: Verb.CANCEL}
"""The decisions that take effect at once; changes are read by the model."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class AgentDecisions:
    """Let the agent of a pending approval read the person's answer."""

    agents: AgentRegistry
    store: ApprovalStore
    clock: Clock

    async def decide(self, request: TurnRequest, context: TurnContext) -> TurnResult | None:
        """Decide by the answer and confirm it to the person; return None if the model has to read the answer."""
        asked = list(open_to_words(request, request.kept.approvals).values())
        if len(asked) != 1 or len(request.inbound) != 1 or context.waiting.offered:
            return None
        [approval], [message] = asked, request.inbound
        if message.media_count or request.channel in self.store.codes_only:
            return None
        verb = await self._read(approval, message.text, context)
        if verb is None:
            return None
        decided = await self.store.decide(
            request.tenant.id,
            approval.id,
            verb,
            how="words",
            channel=request.channel,
            now=self.clock.now(),
            said_in=message.id,
        )
        if not decided:
            return None
        said = decided_text(DecisionOutcome(verb), approval.code, approval.summary)
        return TurnResult(TurnState.DONE, said, f"decision: {approval.code}", history=context.said)

    async def _read(self, approval: Approval, text: str, context: TurnContext) -> Verb | None:
        valet = self.agents.find(approval.name)
        if valet is None:
            return None
        fields = {name: value for name, value in fields_in(approval.arguments).items() if name in valet.inputs}
        try:
            async with asyncio.timeout(_SECONDS):
                values = {name: valet.inputs[name].from_json(value) for name, value in fields.items()}
                tools = context.agents.scope.make_context(valet.name, f"{context.agents.scope.where.turn_id}.reads")
                agent = await context.agents.make_agent(valet, tools, _no_loop, values, "")
                read = await agent.parse_approval_async(text)
        except Exception as error:  # an agent may raise anything; the model reads the answer then
            _log.warning("agent_failed", agent=valet.name, error=type(error).__name__, moment="parse_approval_async")
            return None
        return _VERBS.get(read) if read is not None else None


async def _no_loop(*_: object) -> str:
    raise ToolFailed("An answer to an approval is read without a loop.")
