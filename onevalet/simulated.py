"""`dev` without accounts: whatever channel is not configured is wired to the simulator."""

from dataclasses import dataclass

from pydantic import SecretStr

from onevalet.settings import Settings
from simulator.app import Simulator
from simulator.config import SimulatorConfig


@dataclass(frozen=True, slots=True)
class Simulated:
    """Settings in which every channel is on, and the names of those that are simulated."""

    settings: Settings
    channels: frozenset[str]


def wire_simulator(settings: Settings, config: SimulatorConfig, simulator: Simulator) -> Simulated:
    """Fill in what is not configured with the simulator's accounts and addresses."""
    found: dict[str, object] = {}
    channels = set()
    if not settings.public_url:
        found["public_url"] = f"http://{settings.host}:{settings.port}"
    if not settings.twilio_account_sid:
        channels.add("sms")
        found |= {
            "twilio_account_sid": config.twilio.account_sid,
            "twilio_auth_token": SecretStr(config.twilio.auth_token),
            "twilio_from": config.twilio.number,
            "twilio_api_url": simulator.twilio_url,
        }
    if not settings.slack_bot_token:
        channels.add("slack")
        found |= {
            "slack_bot_token": SecretStr(config.slack.bot_token),
            "slack_signing_secret": SecretStr(config.slack.signing_secret),
            "slack_api_url": simulator.slack_url,
        }
    return Simulated(settings.model_copy(update=found), frozenset(channels))
