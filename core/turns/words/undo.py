"""The answer to the word that takes back."""

import json
from dataclasses import replace

from core.llm.types import ToolCall
from core.turns.types import TurnRequest
from core.turns.undo_words import UNDO_LAST
from core.turns.words.asked import Asked


async def take_back(asked: Asked) -> TurnRequest | None:
    """Begin the turn that takes back; None where other words follow."""
    number, request = asked.command.argument, asked.request
    if asked.rooms.orchestrator.services.undo is None or (number and not number.isdecimal()):
        return None
    arguments = json.dumps({"number": int(number)} if number else {})
    call = ToolCall(f"{asked.command.name}_{request.turn_id}", UNDO_LAST, arguments)
    return replace(request, starts=call, says_result=True)
