"""The small ReAct loop of an agent: the turn's loop, under the agent's path and with the agent's tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.agents.standard_agent import StandardAgent, Valet
from core.agents.turn_agents import MAX_NESTING, TurnAgents, nesting
from core.agents.valet import valet_of
from core.clock import Clock
from core.errors import ConfigError
from core.journal.types import Outcome
from core.llm.types import ChatMessage, Role
from core.loop.loop import LoopFailed
from core.loop.result import Ended
from core.tools.tool import AnyTool, Tool
from core.tools.toolbox import ToolRegistry


class WaitsInside(Exception):
    """An inner agent waits for the person; the message is its question."""


@dataclass(slots=True)
class OwnLoop:
    """The loop of an agent during a run of a handler."""

    turn: TurnAgents
    valet: Valet
    path: str
    clock: Clock
    as_tool: Callable[[Valet, TurnAgents], AnyTool]
    run_number: int
    thoughts: int = 0

    async def think(self, instruction: str, tools: Sequence[AnyTool | type[StandardAgent]], system_prompt: str) -> str:
        """Return the loop's answer. Raises `WaitsInside` if an inner agent waits."""
        self.thoughts += 1
        # Each loop of the agent has journal rows of its own.
        first = (self.run_number, self.thoughts) == (1, 1)
        path = self.path if first else f"{self.path}:{self.run_number}.{self.thoughts}"
        now = self.clock.now().isoformat(timespec="minutes")
        system = f"{system_prompt}\n\nYou work for the person's assistant: your answer is read by it. It is {now}."
        messages = (ChatMessage(Role.SYSTEM, system), ChatMessage(Role.USER, instruction))
        registry = self._registry(tools)
        try:
            result = await self.turn.run_loop(path, messages, registry)
        except LoopFailed as failed:
            raise failed.error from failed
        if result.ended is Ended.WAITING:
            waiting = (call.text for call in result.stopped_at if call.outcome is Outcome.WAITING)
            raise WaitsInside("\n".join(waiting))
        return result.response

    def _registry(self, given: Sequence[AnyTool | type[StandardAgent]]) -> ToolRegistry:
        plain = [item for item in given if isinstance(item, Tool)]
        valets = [valet_of(item) for item in given if not isinstance(item, Tool)]
        if None in valets:
            raise ConfigError(f"{self.valet.place}: the tools of {self.valet.name} are @tool and @valet objects.")
        deep = nesting(self.path) >= MAX_NESTING
        inner = [] if deep else [self.as_tool(valet, self.turn) for valet in valets if valet is not None]
        return ToolRegistry([*plain, *inner])
