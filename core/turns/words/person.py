"""Answers to the words about the person: their identities, preferences and stored data."""

from dataclasses import replace

from core.llm.types import ToolCall
from core.messaging.chat_words import CommandAnswer
from core.turns.types import FirstCall, TurnRequest
from core.turns.words.asked import Asked


async def link(asked: Asked) -> CommandAnswer | None:
    """Reply with a link code, or link the identity by a code."""
    people, turn = asked.rooms.people, asked.turn
    return await people.link(asked.command.argument, asked.request.tenant.id, turn.turn_id) if people else None


async def unlink(asked: Asked) -> CommandAnswer | None:
    """Part this channel from the person's others."""
    people = asked.rooms.people
    return await people.unlink(asked.request.tenant.id, asked.turn.turn_id) if people else None


async def prefer(asked: Asked) -> CommandAnswer | None:
    """List the person's preferences, or change a preference."""
    if (people := asked.rooms.people) is None:
        return None
    tenant, turn = asked.request.tenant, asked.turn
    return await people.prefer(asked.command.argument, tenant.id, turn.turn_id, turn.address.channel)


async def profile(asked: Asked) -> CommandAnswer | None:
    """List the known facts about the person, or delete some."""
    if (people := asked.rooms.people) is None:
        return None
    tenant, turn = asked.request.tenant, asked.turn
    return await people.profile(asked.command.argument, tenant.id, turn.turn_id, turn.address.channel)


async def export(asked: Asked) -> TurnRequest | None:
    """Begin the turn that exports all of the person's data, which asks first."""
    return _begun(asked, "export_my_data")


async def forget(asked: Asked) -> TurnRequest | None:
    """Begin the turn that deletes all of the person's data, which asks first."""
    return _begun(asked, "forget_me")


def _begun(asked: Asked, tool: str) -> TurnRequest | None:
    if asked.rooms.orchestrator.services.data is None:
        return None
    return replace(
        asked.request, starts=FirstCall(ToolCall(f"{asked.command.name}_{asked.request.turn_id}", tool, "{}"))
    )
