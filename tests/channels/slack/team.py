"""Slack as emulated, with the channel in front of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from channels.slack.receive import SlackChannel
from tests.channels.memory_sink import MemorySink
from tests.channels.slack.builders import Gateway, serve_channel
from tests.eventually import eventually
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SlackConfig, SystemClock
from workbench.simulator.slack import SlackSimulator

PUBLIC_URL = "https://valet.example.com"
ADA_DM = "D0ADA00001"


@dataclass
class Team:
    """The emulated team, the channel, and what the channel handed in."""

    simulator: Simulator
    channel: SlackChannel
    sink: MemorySink
    gateway: Gateway

    @property
    def slack(self) -> SlackSimulator:
        """Return the emulated provider."""
        return cast(SlackSimulator, self.simulator.providers["slack"])

    async def act(self, action: str, person: str = "ada", **arguments: Any) -> dict[str, Any]:
        """Let a person do something."""
        return cast(dict[str, Any], await self.slack.act(person, action, arguments))

    def person(self, key: str = "ada") -> dict[str, Any]:
        """Return what the page shows of a person."""
        return cast(dict[str, dict[str, dict[str, Any]]], self.slack.state())["people"][key]

    async def settled(self) -> None:
        """Wait until nothing is on its way to the gateway."""
        deliveries = self.slack.hub.world.deliveries
        await eventually(lambda: all(delivery.state != "pending" for delivery in deliveries))


@asynccontextmanager
async def running_team(*, socket_mode: bool = False, patience: float = 1.0, **changes: Any) -> AsyncIterator[Team]:
    """Serve simulator and channel, the channel started and knowing who it is."""
    slack = SlackConfig(socket_mode=socket_mode)
    config = SimulatorConfig(public_url=PUBLIC_URL, slack=slack, pace=0.001, patience=patience)
    async with serve_simulator(config, SystemClock()) as simulator:
        sink = MemorySink()
        values = {
            "bot_token": slack.bot_token,
            "signing_secret": "" if socket_mode else slack.signing_secret,
            "app_token": slack.app_token if socket_mode else "",
            "api_url": simulator.slack_url,
            "public_url": PUBLIC_URL,
            **changes,
        }
        channel = SlackChannel(**values, sink=sink)
        async with serve_channel(channel, sink) as gateway:
            simulator.wire.connect_gateway(f"http://127.0.0.1:{gateway.port}", PUBLIC_URL)
            await channel.start()
            await eventually(lambda: bool(channel.account))
            yield Team(simulator, channel, sink, gateway)
