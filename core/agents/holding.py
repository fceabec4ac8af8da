"""The tool with which the model pauses, resumes or drops an agent that waits, as the person said."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from core import replies
from core.agents.pending_answers import HOLD, PendingAnswers
from core.journal.types import Effect, Outcome, StepKey
from core.json_types import Json, JsonObject
from core.llm.types import ToolCall
from core.tools.context import ToolExecutionContext
from core.tools.results import ToolEnd
from core.tools.schema import Signature
from core.tools.tool import AnyTool, Tool

_SAYS = (
    "Pause what waits for the person's answer until they want to go on, resume what is paused, or drop either; only "
    "when they say so themselves."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldTool(Tool[..., object]):
    """The tool that changes how an agent waits. It belongs to one turn."""

    waiting: PendingAnswers

    def parse(self, arguments: Json) -> dict[str, object]:
        return dict(arguments) if isinstance(arguments, dict) else {}  # `hold` checks them

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        told = self.waiting.hold(arguments)
        return ToolEnd(f"{told or 'Taken.'}{replies.HANDED_OVER}", Outcome.HANDED_OVER, told)


def hold_tools(waiting: PendingAnswers) -> list[AnyTool]:
    """Return the tool; nothing where no agent waits."""
    if not waiting.held:
        return []
    properties: JsonObject = {
        "task": {"type": "integer", "minimum": 1, "maximum": len(waiting.held), "description": "Which, by its number."},
        "change": {"type": "string", "enum": ["pause", "resume", "drop"], "description": "What the person wants."},
    }
    required: list[Json] = ["change", *(["task"] if len(waiting.held) > 1 else [])]
    schema: JsonObject = {"type": "object", "properties": properties, "required": required}
    tool = HoldTool(
        name=HOLD,
        description=_SAYS,
        fn=waiting.hold,
        signature=Signature(BaseModel, schema, frozenset(properties), {}),
        effect=Effect.READ,
        parallel=False,
        waiting=waiting,
    )
    return [tool]
