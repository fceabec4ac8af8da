"""A group to try on the page: the simulated owner, Grace and one more with the assistant, in Telegram and in Slack."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, cast

from aiohttp import web

from core.db.database import Database
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from workbench.dev.bench.answers import answered
from workbench.dev.seed import let_in_as
from workbench.simulator.app import Simulator
from workbench.simulator.config import Person, SimulatorConfig

THIRD = "Hedy Lamarr"
TO_TRY = "groups on"


@dataclass(slots=True)
class GroupToTry:
    """Lets people in, who press START, and makes a group and a channel of them and the bot, which the owner runs."""

    database: Database
    parts: tuple[Simulator, SimulatorConfig] | None = field(default=None)

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.post("/bench/group", answered(self.make))]

    def attach(self, simulator: Simulator, config: SimulatorConfig) -> None:
        """Take the parts that exist only once the simulator runs."""
        self.parts = simulator, config

    async def make(self, _: web.Request) -> JsonObject:
        """Make it; return {"told"}, a sentence."""
        if self.parts is None or find_spec("abilities.groups") is None:
            raise RequestRefused("This assistant takes part in no groups.")
        simulator, config = self.parts
        if self._state(simulator)["group"]:
            raise RequestRefused("The group is here already: choose it in the panes of Telegram and Slack.")
        owner, *members = [*config.people, self._third(simulator, config)]
        for person in members:
            await let_in_as(self.database, config, person, PersonRole.MEMBER)
        telegram = simulator.providers["telegram"]
        for person in (owner, *members):
            if not self._state(simulator)["people"][person.key]["started"]:
                await telegram.act(person.key, "start", {})  # a bot never writes first
        await telegram.act(owner.key, "group_open", {"members": [person.key for person in members]})
        slack = simulator.providers["slack"]
        if not cast(dict[str, Any], slack.state())["channel"]["begun"]:
            await slack.act(owner.key, "channel_open", {})
        simulator.wire.journal.touch()
        names = " and ".join(person.name for person in members)
        told = f"{owner.name}, {names} are in a group with the assistant now, in Telegram and in Slack."
        return {"told": f"{told} To turn the assistant on there, write: {TO_TRY}"}

    def _third(self, simulator: Simulator, config: SimulatorConfig) -> Person:
        known = next((person for person in config.everyone if person.name == THIRD), None)
        return known or simulator.roster.add(THIRD)

    def _state(self, simulator: Simulator) -> dict[str, Any]:
        return cast(dict[str, Any], simulator.providers["telegram"].state())
