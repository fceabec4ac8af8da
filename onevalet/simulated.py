"""`dev` without accounts: whatever channel is not configured is wired to the simulator."""

from dataclasses import dataclass

from pydantic import SecretStr

from onevalet.settings import Settings
from simulator.config import SimulatorConfig


@dataclass(frozen=True, slots=True)
class Simulated:
    """Settings in which every channel is on, and the names of those that are simulated."""

    settings: Settings
    channels: frozenset[str]


def wire_simulator(settings: Settings, config: SimulatorConfig, simulator_url: str) -> Simulated:
    """Fill in what is not configured with the accounts and addresses of the simulator at that origin."""
    found: dict[str, object] = {}
    channels = set()
    if not settings.public_url:
        found["public_url"] = local_url(settings)
    if not settings.twilio_account_sid:
        channels.add("sms")
        found |= {
            "twilio_account_sid": config.twilio.account_sid,
            "twilio_auth_token": SecretStr(config.twilio.auth_token),
            "twilio_from": config.twilio.number,
            "twilio_api_url": f"{simulator_url}/twilio",
        }
    if not settings.slack_bot_token:
        channels.add("slack")
        found |= {
            "slack_bot_token": SecretStr(config.slack.bot_token),
            "slack_signing_secret": SecretStr(config.slack.signing_secret),
            "slack_api_url": f"{simulator_url}/slack/api/",
        }
    if not settings.telegram_bot_token:
        channels.add("telegram")
        found |= {
            "telegram_bot_token": SecretStr(config.telegram.bot_token),
            "telegram_api_url": f"{simulator_url}/telegram",
        }
    return Simulated(settings.model_copy(update=found), frozenset(channels))


def local_url(settings: Settings) -> str:
    """Give the address by which this machine reaches the gateway, whatever it listens on."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://{host}:{settings.port}"
