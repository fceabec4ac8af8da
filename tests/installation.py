"""What tests of whole installations share: free ports, settings, and the wait until a web process serves."""

import asyncio
import base64
import random
import socket
from contextlib import suppress

import aiohttp

from simulator.config import SimulatorConfig
from tests.forker import Forked, plain_environment

SECRET_KEY = base64.b64encode(bytes(32)).decode()


def free_port() -> int:
    """Find a free port below the range from which the system takes ports for clients."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def common_settings(database_url: str, redis_url: str, model_url: str, public_url: str) -> dict[str, str]:
    """Return the environment of our processes: servers, a scripted model, everybody admitted, no rate limit."""
    return plain_environment() | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PUBLIC_URL": public_url,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_SECRET_KEYS": SECRET_KEY,
        "ONEVALET_RATE_PER_MINUTE": "100000",
        "ONEVALET_MODEL": "openai/scripted",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": model_url,
    }


def twilio_settings(config: SimulatorConfig, simulator_url: str) -> dict[str, str]:
    """Return the settings of SMS with the simulator as Twilio."""
    return {
        "TWILIO_ACCOUNT_SID": config.twilio.account_sid,
        "TWILIO_AUTH_TOKEN": config.twilio.auth_token,
        "TWILIO_FROM": config.twilio.number,
        "TWILIO_API_URL": f"{simulator_url}/twilio",
    }


def provider_settings(config: SimulatorConfig, simulator_url: str, webhook_secret: str) -> dict[str, str]:
    """Return the settings of all three channels with the simulator as their providers."""
    return twilio_settings(config, simulator_url) | {
        "SLACK_BOT_TOKEN": config.slack.bot_token,
        "SLACK_SIGNING_SECRET": config.slack.signing_secret,
        "SLACK_API_URL": f"{simulator_url}/slack/api/",
        "TELEGRAM_BOT_TOKEN": config.telegram.bot_token,
        "TELEGRAM_WEBHOOK_SECRET": webhook_secret,
        "TELEGRAM_API_URL": f"{simulator_url}/telegram",
    }


async def until_ready(url: str, process: Forked | None = None, within: float = 60) -> None:
    """Wait until a web process serves; raise if it ends before."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(within):
        while True:
            with suppress(aiohttp.ClientError):
                async with session.get(f"{url}/readyz") as answer:
                    if answer.status == 200:
                        return
            assert process is None or process.returncode is None, f"the web process at {url} ended"
            await asyncio.sleep(0.05)
