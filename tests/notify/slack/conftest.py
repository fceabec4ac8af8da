"""Slack as emulated, and the sender that speaks to it through the official SDK."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from notify.slack.send import SlackNotification
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SlackConfig, SystemClock

SLACK = SlackConfig()


def make_sender(api_url: str, *, token: str = SLACK.bot_token, total_seconds: float = 20.0) -> SlackNotification:
    return SlackNotification(bot_token=token, api_url=api_url, connect_seconds=5.0, total_seconds=total_seconds)


async def act(simulator: Simulator, action: str, **arguments: Any) -> dict[str, Any]:
    """Let Ada do something."""
    return cast(dict[str, Any], await simulator.providers["slack"].act("ada", action, arguments))


def ada(simulator: Simulator) -> dict[str, Any]:
    """Return what the page shows of Ada."""
    return cast(dict[str, dict[str, dict[str, Any]]], simulator.providers["slack"].state())["people"]["ada"]


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url="https://valet.example.com", pace=0.001)
    async with serve_simulator(config, SystemClock()) as served:
        await act(served, "set", own_events=False)
        yield served


@pytest.fixture
async def slack(simulator: Simulator) -> AsyncIterator[SlackNotification]:
    sender = make_sender(simulator.slack_url)
    yield sender
    await sender.close()


@pytest.fixture
async def hasty(simulator: Simulator) -> AsyncIterator[SlackNotification]:
    """A sender that waits for no answer that hangs."""
    sender = make_sender(simulator.slack_url, total_seconds=0.6)
    yield sender
    await sender.close()
