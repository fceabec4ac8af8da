"""The answer to the word that takes back."""

import json
from dataclasses import replace

from core.llm.types import ToolCall
from core.tools.undo_store import number_of
from core.turns.types import FirstCall, TurnRequest
from core.turns.undo_wording import UNDO_LAST
from core.turns.words.asked import Asked


async def take_back(asked: Asked) -> TurnRequest | None:
    """Begin the turn that takes back; return None if other words follow."""
    which, request = asked.command.argument, asked.request
    is_named = which.isdecimal() or number_of(which)
    if asked.rooms.orchestrator.services.undo is None or (which and not is_named):
        return None
    arguments = json.dumps(({"task": int(which)} if which.isdecimal() else {"code": which.upper()}) if which else {})
    call = ToolCall(f"{asked.command.name}_{request.turn_id}", UNDO_LAST, arguments)
    return replace(request, starts=FirstCall(call, says_result=True))
