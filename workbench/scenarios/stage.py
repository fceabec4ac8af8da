"""The installation that a scenario is played on: its people, its clock, and its breakable parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from core.errors import RequestRefused
from core.json_types import JsonObject
from onevalet.testing.scripted_model import ScriptedModel
from workbench.dev.bench.routes import Bench
from workbench.scenarios.outside import Outside
from workbench.scenarios.phones import Phone, phone_of
from workbench.scenarios.settling import done, settle
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
    """An installation at work. `model` answers from its queue if the scenario is scripted."""

    simulator: Simulator
    model: ScriptedModel
    bench: Bench
    outside: Outside
    scripted: bool

    def phone(self, channel: str, person: str) -> Phone:
        return phone_of(self.simulator, channel, person)

    async def advance(self, span: timedelta) -> None:
        """Move the shared clock ahead, after work under way has finished: a card's time begins at its arrival."""
        await settle(self.bench.database, self.simulator)
        self.bench.clock.jump(seconds=span.total_seconds())

    async def wait_for(self, work: str, within: float) -> None:
        """Wait until a worker has done all that is due of a kind of work; raise `ScenarioError` if it has not."""
        await settle(self.bench.database, self.simulator)
        if not await done(self.bench.database, self.bench.clock.told(), work, within):
            raise ScenarioError(f"{work} was not done within {within:g} s.")

    async def break_it(self, what: str) -> None:
        """Break a part for real, or put the model right; raise `ScenarioError` if it does not exist."""
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
