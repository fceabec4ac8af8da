"""The tool with which the model pauses, resumes or drops an agent that waits, as the person said."""

from collections.abc import Collection

from core.agents.hand_over import hand_over_tool
from core.agents.pending_answers import HOLD, PendingAnswers
from core.json_types import JsonObject
from core.tools.tool import AnyTool

_SAYS = (
    "Pause what waits for the person's answer until they want to go on, resume what is paused, or drop either; only "
    "when they say so themselves."
)
_PARAMETERS: JsonObject = {
    "task": {"type": "integer", "minimum": 1, "description": "Which, by its number; needed where there are several."},
    "change": {"type": "string", "enum": ["pause", "resume", "drop"], "description": "What the person wants."},
}


def hold_tools(waiting: PendingAnswers, offered: Collection[str] = ()) -> list[AnyTool]:
    """Return the tool; nothing where no agent waits, unless it is among the tools that the conversation was offered."""
    if not waiting.held and HOLD not in offered:
        return []
    return [hand_over_tool(HOLD, _SAYS, _PARAMETERS, _PARAMETERS, ["change"], waiting.hold)]
