"""A tool that hands a waiting turn an answer for its agent, or the order to pause, resume or drop the agent."""

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
"""Checks and takes a call's arguments; returns the message to the person, None if the waiting turn sends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverTool(Tool[..., object]):
    """A tool of a turn whose result resumes a waiting turn."""

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
    """Return the tool. `properties` are its parameters for the agents that wait now; calls are parsed by them.

    The model is shown `shown`, the parameters that are the same in every turn; the turn's note has the rest.
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
