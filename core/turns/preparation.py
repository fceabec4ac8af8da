"""What is put together for a turn before the loop: prompt, recalled facts, history, tools, agents."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from core.agents.holding import hold_tools
from core.llm.types import ChatMessage, Marker, Role
from core.loop.conversation_state import ConversationState
from core.loop.outside import for_later
from core.loop.steering import TakeIn
from core.loop.summary import since_summary, with_summary
from core.turns import decide_tool
from core.turns.agents import AgentSetup
from core.turns.context import TurnContext
from core.turns.files import take_joined, taken_in
from core.turns.prompt import Assistant, Known, context_message, system_prompt
from core.turns.results import said_in, with_person
from core.turns.services import TurnServices
from core.turns.tool_offer import ToolOffer
from core.turns.types import TurnRequest
from core.turns.waiting_agents import pending_in


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepare the turns of one orchestrator, which speaks as `persona` and is called `name`."""

    persona: str
    services: TurnServices
    offer: ToolOffer
    agents: AgentSetup
    name: str = ""

    async def prepare(self, request: TurnRequest) -> TurnContext:
        """Return what one turn begins with."""
        user_messages, now = said_in(request), self.services.clock.now()
        state = ConversationState.of(request.history)
        waiting = pending_in(request, self.offer.agents, now)
        known = Known(
            recalled=await self._recalled(request, user_messages),
            seen=state.seen,
            notes=(waiting.note(), decide_tool.note(request, request.approvals)),
        )
        assistant = Assistant(self.persona, self.name)
        prompt = system_prompt(assistant, request.tenant, request.channel, await self._profile(request))
        history = since_summary(request.history, state)
        context = context_message(request.tenant, now, known)
        messages = (ChatMessage(Role.SYSTEM, prompt), *history, context, *user_messages)
        agents = self.agents.for_turn(request)
        before = state.groups
        own = [*waiting.tools(before), *hold_tools(waiting, before), *self.agents.decide_tools(request, before)]
        tools = await self.offer.for_turn(request, agents, own)
        said = tuple(map(for_later, user_messages))
        return TurnContext(with_person(with_summary(messages, state)), said, tools, agents, state, waiting)

    async def take_in(self, request: TurnRequest) -> TurnRequest:
        """Return the turn whose messages have their files."""
        return await taken_in(request, self.services.files)

    def taker(self, request: TurnRequest) -> TakeIn:
        """Return what takes in the files of messages that come while the turn runs."""
        return partial(take_joined, self.services.files, request)

    async def _recalled(self, request: TurnRequest, user_messages: Sequence[ChatMessage]) -> Sequence[str]:
        memory = self.services.memory
        if memory is None or not user_messages:
            return ()
        words = "\n".join(message.text for message in user_messages if message.marker is not Marker.FILE)
        return await memory.recall(request.tenant.id, words, turn_id=request.turn_id) if words.strip() else ()

    async def _profile(self, request: TurnRequest) -> Sequence[str]:
        if self.services.people is None:
            return ()
        return await self.services.people.known(request.tenant.id) if request.known is None else request.known
