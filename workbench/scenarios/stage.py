"""The installation that a scenario is played on: its people, its clock, and what may be broken."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from core.errors import RequestRefused
from core.json_types import JsonObject
from onevalet.testing.scripted_model import ScriptedModel
from workbench.dev.bench.routes import Bench
from workbench.scenarios.outside import Outside
from workbench.scenarios.phones import Phone, phone_of
from workbench.scenarios.settling import settle
from workbench.scenarios.steps import ScenarioError
from workbench.simulator.app import Simulator

_BREAKING: Mapping[str, JsonObject] = {
    "worker": {"kill": "worker"},
    "web": {"kill": "web"},
    "postgres": {"stop": "postgres"},
    "redis": {"flush": "valkey"},
}


@dataclass(slots=True)
class Stage:
    """An installation at work. `model` answers from its queue where the scenario is scripted."""

    simulator: Simulator
    model: ScriptedModel
    bench: Bench
    outside: Outside
    scripted: bool

    def phone(self, channel: str, person: str) -> Phone:
        return phone_of(self.simulator, channel, person)

    async def advance(self, span: timedelta) -> None:
        """Move everybody's clock ahead, once nothing is under way: the time of a card begins when it has arrived."""
        await settle(self.bench.database, self.simulator)
        self.bench.clock.jump(seconds=span.total_seconds())

    async def break_it(self, what: str) -> None:
        """Break something for real, or put the model right; raise `ScenarioError` where it is not there."""
        try:
            if what.startswith("model "):
                await self._trouble_model(what.removeprefix("model "))
            else:
                await self.bench.breaking.do(dict(_BREAKING[what]))
        except RequestRefused as refusal:
            raise ScenarioError(refusal.reason) from refusal

    async def _trouble_model(self, trouble: str) -> None:
        if not self.scripted:
            await self.bench.breaking.do({"model": "none" if trouble == "works" else trouble})
        elif trouble == "fails":
            self.model.trouble = "fails"
        else:
            self.model.trouble = "hangs" if trouble == "hangs" else ""
