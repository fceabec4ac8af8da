"""A conversation with agents: a real database, turns as a worker runs them, and a scripted model over HTTP."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from core.agents.pool import Pool
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import StandardAgent
from core.agents.turn_agents import PoolLimits
from core.json_types import JsonObject
from core.loop.config import ReactLoopConfig
from core.tools.tool import AnyTool
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.runner import TurnRunner
from providers.models.litellm_client import LiteLLMClient
from tests.clocks import StandingClock
from tests.core.harness import LEASE, Store
from tests.jobs.harness import RecordingChannel
from tests.scripted_model import ModelCall, ScriptedModel

ANN, BOB = "+15550000001", "+15550000002"
CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001, llm_streaming=False)


@dataclass(slots=True)
class Talk:
    """The assistant of one worker. Another `Talk` over the same store acts as another process."""

    store: Store
    model: ScriptedModel
    client: LiteLLMClient
    agents: Iterable[type[StandardAgent]] = ()
    tools: Iterable[AnyTool] = ()
    persona: str = ""
    exposed: dict[str, bool] = field(default_factory=dict)
    limits: PoolLimits = field(default_factory=PoolLimits)
    clock: StandingClock = field(default_factory=StandingClock)
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def orchestrator(self) -> Orchestrator:
        """Create an orchestrator for each use, because it has no state."""
        return Orchestrator(
            self.client,
            self.persona,
            tools=self.tools,
            agents=AgentRegistry(self.agents, self.exposed),
            pool_limits=self.limits,
            config=CONFIG,
            clock=self.clock,
            **self.more,
        )

    @property
    def pool(self) -> Pool:
        """Return the pool."""
        return Pool(self.store.database, self.store.wakeups)

    async def say(self, text: str, sender: str = ANN, *, command: str = "") -> list[str]:
        """Write something as a person, run all waiting turns, and return their replies."""
        await self.store.say(text, sender=sender, command=command)
        return await self.work()

    async def work(self) -> list[str]:
        """Run all waiting turns and return their replies."""
        before = len(await self.queued())
        turns = TurnStore(self.store.database, self.store.make_id, LEASE)
        channels = {"sms": RecordingChannel()}
        runner = TurnRunner(turns, self.orchestrator, self.store.wakeups, channels, self.store.make_id, "w1")
        while lease := await runner.claim(None):
            await runner.run(lease)
        return (await self.queued())[before:]

    async def queued(self) -> list[str]:
        """Return all replies so far, in order."""
        return [str(text) for text in await self.store.db.outbound.column("text", order="created_at, seq")]

    async def states(self) -> list[tuple[str, str]]:
        """Return the state and reason of each turn, the oldest first."""
        rows = await self.store.admin.fetch("select state, reason from turns order by started_at, id")
        return [(row["state"], row["reason"]) for row in rows]

    @property
    def last(self) -> ModelCall:
        """Return the last request to the model."""
        return self.model.calls[-1]


def shown(call: ModelCall) -> list[JsonObject]:
    """Return the functions that a request offered to the model."""
    tools = call.body.get("tools")
    return [tool["function"] for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []  # type: ignore[misc]
