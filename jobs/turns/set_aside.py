"""A turn that is given up: it fails together with all its messages."""

from core.llm.types import ChatMessage, Role
from core.loop.steering import spoken, taken_in
from core.turns.failures import Sorry
from core.turns.stored import BegunTurn
from core.turns.types import TurnResult, TurnState


async def set_aside(turn: BegunTurn, sorry: Sorry, reason: str) -> TurnResult:
    """Fail a turn together with all messages that it took in, since its work for them must not be repeated."""
    recorded = await turn.request.work.journal.recorded()
    steered, text = taken_in(recorded), sorry.text(recorded)
    spoken_messages = [line for message in (*turn.request.inbound, *steered) for line in spoken(message)]
    return TurnResult(
        TurnState.FAILED,
        reply=text,
        reason=reason,
        history=(*spoken_messages, ChatMessage(Role.ASSISTANT, text)),
        absorbed=tuple(id_ for message in steered for id_ in message.ids),
    )
