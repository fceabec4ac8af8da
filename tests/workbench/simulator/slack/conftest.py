"""A served Slack alone, a client of the official SDK for it, and a clock that a test may move."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from aiohttp.test_utils import TestServer
from slack_sdk.web.async_client import AsyncWebClient

from tests.eventually import eventually
from tests.workbench.simulator.conftest import PUBLIC_URL, FakeGateway, Heard, MovableClock
from workbench.simulator.app import Simulator
from workbench.simulator.base import Wire
from workbench.simulator.config import SimulatorConfig
from workbench.simulator.journal import Json
from workbench.simulator.slack import SlackSimulator

HOOK = "/webhooks/slack"
ADA_DM = "D0ADA00001"


@dataclass(slots=True)
class Team:
    """The emulated team and what the gateway hears of it."""

    slack: SlackSimulator
    wire: Wire
    clock: MovableClock
    gateway: FakeGateway

    async def act(self, action: str, person: str = "ada", **arguments: Json) -> dict[str, Any]:
        """Let a person do something."""
        return cast(dict[str, Any], await self.slack.act(person, action, arguments))

    def person(self, key: str = "ada") -> dict[str, Any]:
        """Return what the page shows of a person."""
        people = cast(dict[str, dict[str, dict[str, Any]]], self.slack.state())["people"]
        return people[key]

    def bubbles(self, key: str = "ada") -> list[dict[str, Any]]:
        """Return a person's bubbles."""
        return cast(list[dict[str, Any]], self.person(key)["bubbles"])

    async def heard(self, count: int = 1) -> list[Heard]:
        """Wait until the gateway heard that many requests, and give all."""
        await eventually(lambda: len(self.gateway.heard) >= count, "as many requests")
        return self.gateway.at(HOOK)

    async def settled(self) -> None:
        """Wait until nothing is on its way to the gateway."""
        deliveries = self.slack.hub.world.deliveries
        await eventually(lambda: all(delivery.state != "pending" for delivery in deliveries), "nothing on its way")

    async def events(self, count: int = 1) -> list[dict[str, Any]]:
        """Wait for that many requests and give their JSON bodies."""
        return [json.loads(request.body) for request in await self.heard(count)]


@pytest.fixture
def simulator_config() -> SimulatorConfig:
    """Retries come fast, deadlines are Slack's; `own_events` of the bot are switched off by `team`."""
    return SimulatorConfig(public_url=PUBLIC_URL, pace=0.001, patience=1.0)


@pytest.fixture
async def team(simulator_config: SimulatorConfig, gateway: FakeGateway) -> AsyncIterator[Team]:
    """A served Slack that calls the fake gateway."""
    clock = MovableClock()
    wire = Wire(replace(simulator_config, gateway_url=gateway.url), clock)
    slack = SlackSimulator(wire)
    simulator = Simulator(wire, [slack])
    server = TestServer(simulator.app)
    await simulator.wire.open()
    await server.start_server()
    wire.url = str(server.make_url("")).rstrip("/")
    slack.hub.world.switches.own_events = False
    yield Team(slack, wire, clock, gateway)
    await server.close()
    await simulator.stop()


@pytest.fixture
async def client(team: Team) -> AsyncWebClient:
    """The official client, at the emulated API; by default it would blindly repeat a call after a reset."""
    return AsyncWebClient(
        token=team.wire.config.slack.bot_token, base_url=f"{team.wire.url}/slack/api/", retry_handlers=[]
    )


def section(text: str = "Send it?") -> dict[str, Any]:
    """Make a section."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def buttons(*names: str) -> dict[str, Any]:
    """Make an actions block with a button for each action_id."""
    elements = [
        {"type": "button", "action_id": name, "text": {"type": "plain_text", "text": name}, "value": "7K"}
        for name in names
    ]
    return {"type": "actions", "block_id": "decide", "elements": elements}


def modal(**changes: Any) -> dict[str, Any]:
    """Make a modal with one input."""
    element = {"type": "plain_text_input", "action_id": "when", "initial_value": "2pm"}
    field = {
        "type": "input",
        "block_id": "time",
        "label": {"type": "plain_text", "text": "When?"},
        "element": element,
    }
    view = {
        "type": "modal",
        "callback_id": "edit",
        "title": {"type": "plain_text", "text": "Edit"},
        "submit": {"type": "plain_text", "text": "Save"},
        "blocks": [field],
    }
    return view | changes
