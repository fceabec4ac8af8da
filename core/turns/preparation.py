"""What is put together for a turn before the loop: prompt, recalled facts, history, tools, agents."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from core.agents.holding import hold_tools
from core.agents.turn_agents import TurnAgents
from core.llm.tokens import estimate_tokens
from core.llm.types import ChatMessage, Marker, Role
from core.loop.context_window import ContextManager, Messages
from core.loop.control import TakeIn
from core.loop.conversation_state import ConversationState
from core.loop.outside import for_later
from core.loop.summary import since_summary, with_summary
from core.tools.groups import likely_groups
from core.tools.registry import ToolRegistry
from core.tools.tool import AnyTool
from core.turns import decide_tool
from core.turns.agents import AgentSetup
from core.turns.context import TurnContext
from core.turns.files import take_in, taken_in
from core.turns.prompt import Assistant, Known, context_message, system_prompt
from core.turns.results import said_in, with_person
from core.turns.services import TurnServices
from core.turns.tool_offer import ToolOffer
from core.turns.types import TurnRequest
from core.turns.waiting_agents import pending_in

_ROOM = 4_000
"""Tokens that the system prompt and the tools may take: what only just fits is not counted upon to be shown."""
_UNHURRIED = 5.0
"""Seconds that a task's run, for which nobody waits, gives to what memory is late with."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepare the turns of one orchestrator, which speaks as `persona` and is called `name`."""

    persona: str
    services: TurnServices
    offer: ToolOffer
    agents: AgentSetup
    window: ContextManager
    name: str = ""

    async def prepare(self, request: TurnRequest) -> TurnContext:
        """Return what one turn begins with."""
        user_messages, now = said_in(request), self.services.clock.now()
        state = ConversationState.of(request.kept.history)
        waiting = pending_in(request, self.offer.agents, now)
        history = since_summary(request.kept.history, state)
        agents = self.agents.for_turn(request)
        before = state.groups
        own = [*waiting.tools(before), *hold_tools(waiting, before), *self.agents.decide_tools(request, before)]
        recalled, profile, tools = await self._gathered(request, (*history, *user_messages), user_messages, agents, own)
        notes = (waiting.note(), decide_tool.note(request, request.kept.approvals))
        # Those of this turn only: what was closed stays closed until somebody speaks of it.
        state = state.opening(likely_groups((tool.group for tool in tools), _words(user_messages)))
        known = Known(recalled=recalled, seen=state.seen, notes=notes)
        prompt = system_prompt(Assistant(self.persona, self.name), request.tenant, request.channel, profile)
        context = context_message(request.tenant, now, known)
        messages = (ChatMessage(Role.SYSTEM, prompt), *history, context, *user_messages)
        said = tuple(map(for_later, user_messages))
        return TurnContext(with_person(with_summary(messages, state)), said, tools, agents, state, waiting)

    async def take_in(self, request: TurnRequest) -> TurnRequest:
        """Return the turn whose messages have their files."""
        return await taken_in(request, self.services.files)

    def taker(self, request: TurnRequest) -> TakeIn:
        """Return what takes in the files of messages that come while the turn runs."""
        return partial(take_in, self.services.files, request)

    async def _gathered(
        self,
        request: TurnRequest,
        messages: Messages,
        user_messages: Messages,
        agents: TurnAgents,
        own: Sequence[AnyTool],
    ) -> tuple[Sequence[str], Sequence[str], ToolRegistry]:
        """Return what memory adds to the messages, what is known of the person, and the tools of the turn."""
        memory = self.services.memory
        words = _words(user_messages)
        if memory is None or not words.strip():
            return (), *(await self._offered(request, agents, own))
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


def _words(messages: Messages) -> str:
    """Return what the person wrote, without what files hold."""
    return "\n".join(message.text for message in messages if message.marker is not Marker.FILE)
