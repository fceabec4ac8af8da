"""A tool that hands something over to a turn that waits: an answer for its agent, or how the agent is to wait."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from core import replies
from core.journal.types import Effect, Outcome, StepKey
from core.json_types import Json, JsonObject
from core.llm.types import ToolCall
from core.tools.context import ToolExecutionContext
from core.tools.results import ToolEnd
from core.tools.schema import Signature
from core.tools.tool import Tool

type Take = Callable[[Mapping[str, object]], str | None]
"""Takes a call's arguments, which it checks; returns what the person is told, None where the waiting turn says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverTool(Tool[..., object]):
    """A tool of one turn, with whose result a waiting turn goes on."""

    take: Take

    def parse(self, arguments: Json) -> dict[str, object]:
        return dict(arguments) if isinstance(arguments, dict) else {}  # `take` checks them

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        told = self.take(arguments)
        return ToolEnd(f"{told or 'Taken.'}{replies.HANDED_OVER}", Outcome.HANDED_OVER, told)


def hand_over_tool(
    name: str, description: str, properties: JsonObject, shown: JsonObject, required: list[Json], take: Take
) -> HandOverTool:
    """Return the tool. `properties` are its parameters for what waits now, by which a call is read.

    The model is shown those that hold whatever waits: what differs from turn to turn is in the turn's note.
    """
    schema: JsonObject = {"type": "object", "properties": properties}
    return HandOverTool(
        name=name,
        description=description,
        fn=take,
        signature=Signature(BaseModel, schema, frozenset(properties), {}),
        shown={"type": "object", "properties": shown, "required": required},
        effect=Effect.READ,
        parallel=False,
        hands_on=True,
        of_turn=True,
        take=take,
    )
