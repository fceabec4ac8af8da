"""`dev` without accounts: every channel that is not configured is wired to the simulator.

Anyone who knows the secret of a simulated account can write as its people, who are admitted already. The secrets are
therefore random for each ONEVALET_HOME, and simulated channels serve this machine only.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import make_key, read_key
from workbench.dev.doors import CONSOLE, SIMULATED_CHANNELS, Shut
from workbench.simulator.config import SimulatorConfig, SlackConfig, TelegramConfig, TwilioConfig


@dataclass(frozen=True, slots=True)
class Simulated:
    """Settings with every possible channel on, and the names of the simulated channels.

    `off_because`: why channels without an account are off; empty if none is.
    """

    settings: Settings
    channels: frozenset[str]
    off_because: str = ""

    @property
    def console_shut(self) -> Shut | None:
        """Return why the console asks for a session even on this machine."""
        return CONSOLE.shut(self.settings)


def simulator_config(home: Path) -> SimulatorConfig:
    """Return the simulator's accounts with the secrets of this folder, which are created at the first use."""
    path = home / "simulator.key"
    if not path.exists():
        make_key(path)
    key = base64.b64decode(read_key(path, "delete it, and `dev` makes another"))
    bot_id = TelegramConfig().bot_id
    return SimulatorConfig(
        kept_in=home / "simulator",
        twilio=TwilioConfig(auth_token=_secret(key, "twilio auth token")[:32]),
        slack=SlackConfig(
            bot_token=f"xoxb-simulator-{_secret(key, 'slack bot token')}",
            app_token=f"xapp-1-simulator-{_secret(key, 'slack app token')}",
            signing_secret=_secret(key, "slack signing secret")[:32],
            verification_token=_secret(key, "slack verification token")[:24],
        ),
        telegram=TelegramConfig(bot_token=f"{bot_id}:AA{_secret(key, 'telegram bot token')[:33]}"),
    )


def choose_simulated(settings: Settings) -> tuple[frozenset[str], str]:
    """Return the channels to simulate, and why those without an account are off instead; empty if none is.

    Raise `ConfigError` if that would leave no channel.
    """
    accounts = {
        "sms": bool(settings.twilio_account_sid),
        "slack": bool(settings.slack_bot_token),
        "telegram": bool(settings.telegram_bot_token),
    }
    missing = frozenset(name for name, configured in accounts.items() if not configured)
    shut = SIMULATED_CHANNELS.shut(settings)
    if not missing or shut is None:
        return missing, ""
    because = f"simulated channels are for this machine only, but {shut.because}: {shut.cure}"
    if missing == accounts.keys():
        raise ConfigError(f"{because[0].upper()}{because[1:]}, or configure a channel.")
    return frozenset(), because


def wire_simulator(settings: Settings, config: SimulatorConfig, simulator_url: str) -> Simulated:
    """Fill the gaps in the settings with the accounts and addresses of the simulator at `simulator_url`."""
    channels, off_because = choose_simulated(settings)
    update: dict[str, object] = {}
    if not settings.public_url:
        update["public_url"] = local_url(settings)
    if "sms" in channels:
        update |= {
            "twilio_account_sid": config.twilio.account_sid,
            "twilio_auth_token": SecretStr(config.twilio.auth_token),
            "twilio_from": config.twilio.number,
            "twilio_api_url": f"{simulator_url}/twilio",
        }
    if "slack" in channels:
        update |= {
            "slack_bot_token": SecretStr(config.slack.bot_token),
            "slack_signing_secret": SecretStr(config.slack.signing_secret),
            "slack_api_url": f"{simulator_url}/slack/api/",
        }
    if "telegram" in channels:
        update |= {
            "telegram_bot_token": SecretStr(config.telegram.bot_token),
            "telegram_api_url": f"{simulator_url}/telegram",
        }
    return Simulated(settings.model_copy(update=update), channels, off_because)


def local_url(settings: Settings) -> str:
    """Return the gateway's address on this machine for any HOST."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def _secret(key: bytes, name: str) -> str:
    return hmac.new(key, name.encode(), hashlib.sha256).hexdigest()
