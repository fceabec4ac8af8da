"""Answers to the words about the person: who they are here, what is remembered, all that is kept."""

from dataclasses import replace

from core.llm.types import ToolCall
from core.memory.commands import answer_memory
from core.messaging.chat_words import CommandAnswer
from core.turns.types import TurnRequest
from core.turns.words.asked import Asked


async def about_person(asked: Asked) -> CommandAnswer | None:
    """Answer PREFS, PROFILE, LINK and UNLINK."""
    if (people := asked.rooms.people) is None:
        return None
    turn = asked.turn
    return await people.answer(asked.command, asked.request.tenant.id, turn.turn_id, turn.address.channel)


async def what_is_remembered(asked: Asked) -> CommandAnswer | None:
    """List the newest memories."""
    if (momex := asked.rooms.orchestrator.momex) is None:
        return None
    return CommandAnswer(await answer_memory(momex.for_tenant(asked.request.tenant.id, asked.turn.turn_id)))


async def export(asked: Asked) -> TurnRequest | None:
    """Begin the turn that exports all that is kept, which asks first."""
    return _begun(asked, "export_my_data")


async def forget(asked: Asked) -> TurnRequest | None:
    """Begin the turn that deletes all that is kept, which asks first."""
    return _begun(asked, "forget_me")


def _begun(asked: Asked, tool: str) -> TurnRequest | None:
    if asked.rooms.orchestrator.services.data is None:
        return None
    return replace(asked.request, starts=ToolCall(f"{asked.command.name}_{asked.request.turn_id}", tool, "{}"))
