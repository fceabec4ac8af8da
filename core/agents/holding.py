"""The tool with which the model pauses, resumes or drops an agent that waits, as the person said."""

from core.agents.hand_over import hand_over_tool
from core.agents.pending_answers import HOLD, PendingAnswers
from core.json_types import Json, JsonObject
from core.tools.tool import AnyTool

_SAYS = (
    "Pause what waits for the person's answer until they want to go on, resume what is paused, or drop either; only "
    "when they say so themselves."
)


def hold_tools(waiting: PendingAnswers) -> list[AnyTool]:
    """Return the tool; nothing where no agent waits."""
    if not waiting.held:
        return []
    properties: JsonObject = {
        "task": {"type": "integer", "minimum": 1, "maximum": len(waiting.held), "description": "Which, by its number."},
        "change": {"type": "string", "enum": ["pause", "resume", "drop"], "description": "What the person wants."},
    }
    required: list[Json] = ["change", *(["task"] if len(waiting.held) > 1 else [])]
    return [hand_over_tool(HOLD, _SAYS, properties, required, waiting.hold)]
