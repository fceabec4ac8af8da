"""A turn for a program that has an orchestrator alone: nothing of it is stored."""

from collections.abc import Sequence

from core.clock import Clock
from core.ids import make_id
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.turns.trigger_message import TriggerMessage
from core.turns.types import FromPerson, FromTask, Kept, Place, TurnRequest, TurnWork


def new_turn(
    text: str | TriggerMessage,
    tenant: str,
    *,
    history: Sequence[ChatMessage] = (),
    channel: str | None = None,
    timezone: str = "UTC",
) -> TurnRequest:
    """Return a turn over a person's words, for `Orchestrator.handle_message` and `stream_message`.

    A trigger's message may begin it in place of a person's words. `history` is the earlier conversation, oldest first:
    the `history` of the results so far, in sequence. The journal is in memory: the turn ends with this process.
    """
    if isinstance(text, TriggerMessage):
        came: FromPerson | FromTask = FromTask(text)
    else:
        came = FromPerson((TurnMessage(make_id("msg"), text, Clock().now()),))
    turn, person = TurnWork(make_id("turn"), MemoryJournal()), TurnTenant(tenant, timezone=timezone)
    return TurnRequest(turn, person, Place(channel), came, Kept(tuple(history)))
