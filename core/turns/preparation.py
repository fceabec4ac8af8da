"""The preparation of a turn before the loop: prompt, recalled facts, history, tools, agents."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core import replies
from core.agents.turn_agents import TurnAgents
from core.llm.types import ChatMessage, Marker, Role, estimate_tokens
from core.loop.context_window import ContextManager, Messages
from core.loop.conversation_state import ConversationState, since_summary, with_summary
from core.loop.outside import for_later
from core.loop.steering import spoken
from core.tools.tool import AnyTool
from core.tools.toolbox import ToolRegistry, likely_groups
from core.turns.context import TurnContext
from core.turns.prompt import Assistant, Known, approvals_note, context_message, group_notes, system_prompt
from core.turns.services import RecalledFacts, TurnServices
from core.turns.tools import AgentSetup, ToolOffer
from core.turns.types import TurnRequest
from core.turns.waiting_agents import pending_in

_ROOM = 4_000
"""Tokens that the system prompt and the tools may take: a message that only just fits does not count as shown."""
_UNHURRIED = 5.0
"""Seconds by which memory may be late in a task's run, for which nobody waits."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepare the turns of an orchestrator."""

    assistant: Assistant
    services: TurnServices
    offer: ToolOffer
    agents: AgentSetup
    window: ContextManager

    async def prepare(self, request: TurnRequest) -> TurnContext:
        """Return the context with which a turn begins."""
        user_messages, now = said_in(request), self.services.clock.now()
        state = ConversationState.of(request.kept.history)
        waiting = pending_in(request, self.offer.agents, now)
        history = since_summary(request.kept.history, state)
        agents = self.agents.for_turn(request)
        before = state.groups
        own = [*waiting.tools(before), *self.agents.decide_tools(request, before)]
        recalled, profile, tools = await self._gathered(request, (*history, *user_messages), user_messages, agents, own)
        notes = (waiting.note(), approvals_note(request, request.kept.approvals), *group_notes(request.kept.among))
        # Only this turn's words open groups: a group that was closed stays closed until the person speaks of it again.
        state = state.opening(likely_groups((tool.group for tool in tools), _words(user_messages)))
        known = Known(recalled=recalled.lines, seen=state.seen, notes=notes)
        prompt = system_prompt(self.assistant, request.tenant, request.channel, profile)
        context = context_message(request.tenant, now, known)
        messages = (ChatMessage(Role.SYSTEM, prompt), *history, context, *user_messages)
        said = tuple(map(for_later, user_messages))
        shown = with_person(with_summary(messages, state))
        return TurnContext(shown, said, tools, agents, state, waiting, recalled.noted)

    async def _gathered(
        self,
        request: TurnRequest,
        messages: Messages,
        user_messages: Messages,
        agents: TurnAgents,
        own: Sequence[AnyTool],
    ) -> tuple[RecalledFacts, Sequence[str], ToolRegistry]:
        """Return memory's part of the messages, the facts about the person, and the tools of the turn."""
        memory = self.services.memory
        words = _words(user_messages)
        if memory is None or not words.strip():
            return RecalledFacts(), *(await self._offered(request, agents, own))
        # The model is asked once all of this is there: until then memory has time.
        meanwhile = asyncio.create_task(self._offered(request, agents, own))
        try:
            recalled = await memory.recall(
                request.tenant.id,
                words,
                turn_id=request.turn_id,
                # Of the messages the model is shown those that fit.
                shown=self.window.fitting(messages, estimate_tokens(messages) + _ROOM),
                patience=_UNHURRIED if request.trigger is not None else 0.0,
                meanwhile=meanwhile,
                brought=request.kept.brought,
            )
            return recalled, *(await meanwhile)
        finally:
            meanwhile.cancel()

    async def _offered(
        self, request: TurnRequest, agents: TurnAgents, own: Sequence[AnyTool]
    ) -> tuple[Sequence[str], ToolRegistry]:
        return await self._profile(request), await self.offer.for_turn(request, agents, own)

    async def _profile(self, request: TurnRequest) -> Sequence[str]:
        if self.services.people is None:
            return ()
        return await self.services.people.known(request.tenant.id) if request.kept.facts is None else request.kept.facts


def said_in(request: TurnRequest) -> Messages:
    """Return the first messages of a turn: the person's, or a trigger's, which is marked as ours."""
    if request.trigger is not None and request.go_on_at is None:
        return (ChatMessage(Role.USER, request.trigger.content, internal=True),)
    return tuple(message for inbound in request.inbound for message in spoken(inbound))


def with_person(messages: Messages) -> Messages:
    """Add a user's message to a turn that has none: providers demand it in a conversation."""
    if any(message.role is Role.USER and message.marker is not Marker.CONTEXT for message in messages):
        return messages
    return (*messages, ChatMessage(Role.USER, replies.GO_ON, internal=True))


def _words(messages: Messages) -> str:
    """Return the person's own words, without the contents of files."""
    return "\n".join(message.text for message in messages if message.marker is not Marker.FILE)
