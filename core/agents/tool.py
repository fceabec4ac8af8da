"""An agent as a tool of the loop: offered by its fields, run by `core.agents.run`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel

from core.agents.agent_call import AgentCall
from core.agents.run import AgentRun
from core.agents.schema import agent_spec
from core.agents.standard_agent import AgentStatus, Valet
from core.agents.turn_agents import TurnAgents, agent_path
from core.errors import ToolRetry
from core.journal.types import Effect, Outcome, StepKey
from core.json_types import Json
from core.llm.types import ToolCall
from core.tools.account_argument import without_account
from core.tools.call_span import note_result, tool_span
from core.tools.context import ToolExecutionContext
from core.tools.results import ToolEnd
from core.tools.schema import Signature
from core.tools.tool import Tool

_GRACE = 10.0
"""Seconds in which an agent that is out of time may journal its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool(Tool[..., object]):
    """An agent as the model sees it. It belongs to a single turn.

    Its effect is "read": it journals its own steps that must not happen twice, so a turn may always enter it again.
    """

    valet: Valet
    turn: TurnAgents

    @property
    def in_thread(self) -> bool:
        return False

    @property
    def acts(self) -> bool:
        return self.valet.effect is not Effect.READ

    @property
    def place(self) -> str:
        return self.valet.place

    def parse(self, arguments: Json) -> dict[str, object]:
        """Return the arguments unchecked: the person is asked for invalid or missing fields."""
        if not isinstance(arguments, dict):
            raise ToolRetry(f"The arguments of {self.name} must be one JSON object.")
        if unknown := [name for name in arguments if name not in self.signature.names]:
            known = ", ".join(sorted(self.signature.names))
            raise ToolRetry(f"{self.name} has no parameter {unknown[0]!r}. It takes: {known}.")
        return dict(arguments)

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        path = agent_path(key, self.valet.name)
        run = AgentRun(AgentCall(self.turn, self.valet, path, call, context, agent_tool))
        with tool_span(self.name, call):
            text, outcome = await run.go(arguments)
            end = ToolEnd(text, outcome, files=tuple(context.attached) if outcome is Outcome.OK else ())
            note_result(end)
            return end

    def status_after(self, key: StepKey, outcome: Outcome) -> str | None:
        waits = self.turn.waiting.get(agent_path(key, self.name)) if outcome is Outcome.WAITING else None
        if waits is not None:
            return waits.status.value
        return (AgentStatus.COMPLETED if outcome is Outcome.OK else AgentStatus.ERROR).value


@lru_cache(1024)
def _described(valet: Valet) -> tuple[str, Signature]:
    """Return an agent's description for the model and its parameters, which are the same in every turn."""
    spec = agent_spec(valet)
    properties = spec.parameters["properties"]
    names = frozenset(properties) if isinstance(properties, dict) else frozenset()
    return spec.description, Signature(BaseModel, spec.parameters, names, {})


def agent_tool(valet: Valet, turn: TurnAgents) -> AgentTool:
    """Return an agent as a tool of a turn."""
    description, signature = _described(valet)
    shown = without_account(signature.shown) if valet.accounts else None
    return AgentTool(
        name=valet.name,
        description=description,
        fn=valet.agent.on_running,
        signature=signature,
        effect=Effect.READ,
        risk=valet.risk,
        group=valet.group,
        accounts=valet.accounts,
        agent=True,
        addresses=valet.addresses,
        hands_on=valet.hands_on,
        shown=shown,
        timeout=(valet.timeout or turn.scope.config.agent_tool_execution_timeout) + _GRACE,
        valet=valet,
        turn=turn,
    )
