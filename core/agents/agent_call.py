"""A call of an agent within a turn, and the agents made for it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.agents.own_loop import OwnLoop
from core.agents.schema import INSTRUCTION
from core.agents.standard_agent import AgentStatus, StandardAgent, Valet
from core.agents.turn_agents import TurnAgents
from core.hooks.hooks import Hook, PlannedCall
from core.journal.types import Effect, StepKey
from core.json_types import JsonObject, canonical_hash
from core.llm.types import ToolCall
from core.loop.account_check import with_account_in
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call of an agent. `path` is the agent's place in the turn, `instruction` the model's text besides the fields.

    `as_tool` returns an agent as a tool of an agent's own loop.
    """

    turn: TurnAgents
    valet: Valet
    path: str
    call: ToolCall
    context: ToolExecutionContext
    as_tool: Callable[[Valet, TurnAgents], AnyTool]
    instruction: str = ""

    def digest(self, fields: JsonObject) -> str:
        """Return the hash of a run's input: its fields and the instruction."""
        return canonical_hash({**fields, INSTRUCTION: self.instruction})

    def planned(self, fields: JsonObject) -> PlannedCall:
        """Return the call as rules and people see it."""
        arguments = fields | ({INSTRUCTION: self.instruction} if self.instruction else {})
        return PlannedCall(self.call.id, self.valet.name, arguments)

    @property
    def why_asked(self) -> str:
        """Return the reason why an agent that acts needs consent this time; empty if there is none."""
        return self.turn.scope.outside.why_to_act(self._asked_at) if self.valet.effect is not Effect.READ else ""

    def is_tainted(self, fields: JsonObject) -> bool:
        """Return whether third parties' text may have talked the model into the call."""
        return self.turn.scope.outside.taints(self._asked_at, fields, self.valet.addresses)

    @property
    def _asked_at(self) -> StepKey:
        """Return the step at which the model asked for the call."""
        loop, _, last = self.path.rpartition("/")[0].rpartition("/")
        step, _, index = last.partition(".")
        return StepKey(int(step), int(index), loop)

    async def make_agent(self, fields: JsonObject, state: JsonObject, run_number: int = 1) -> StandardAgent:
        inputs = self.valet.inputs
        given = {name: value for name, value in fields.items() if value is not None or not inputs[name].skip}
        values = {name: inputs[name].from_json(value) for name, value in given.items()}
        loop = OwnLoop(self.turn, self.valet, self.path, self.context.clock, self.as_tool, run_number)
        context = with_account_in(self.context, fields) if self.valet.accounts else self.context
        agent = await self.turn.make_agent(self.valet, context, loop.think, values, self.instruction)
        agent.state = dict(state)
        agent.must_ask = self.valet.asks_itself and (bool(self.why_asked) or self.context.in_task)
        return agent

    async def tell(self, status: AgentStatus) -> None:
        where = replace(self.turn.scope.where, agent_path=self.path)
        await self.turn.scope.hooks.tell(Hook.state_changed, where, status)


def fields_in(arguments: JsonObject) -> JsonObject:
    return {name: value for name, value in arguments.items() if name != INSTRUCTION}
