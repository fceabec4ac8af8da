"""Each channel, played through in a terminal against its simulated provider, with every wrong answer before."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from channels.slack.manifest import SCOPES
from channels.sms.setup import RETRIES
from tests.onevalet.init.terminal import CTRL_C, Terminal, opened, saved
from tests.ports import free_port
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock

pytestmark = pytest.mark.slow
CONFIG = SimulatorConfig()
WRONG = {
    "telegram": "123456:" + "A" * 35,
    "slack": "xoxb-of-nobody",
    "app": "xapp-of-nobody",
    "sid": "AC" + "f" * 32,
    "auth": "0" * 32,
    "signing": "0" * 32,
}


@dataclass(frozen=True, slots=True)
class Providers:
    """The simulated providers, and the settings by which `init` finds them and is found by them."""

    simulator: Simulator
    settings: Mapping[str, str]
    loop: asyncio.AbstractEventLoop
    address: str

    def act(self, provider: str, action: str, **arguments: str) -> None:
        """Do in a provider's app what a person does, from the thread that plays."""
        work = self.simulator.providers[provider].act("ada", action, dict(arguments))
        asyncio.run_coroutine_threadsafe(work, self.loop).result(30)


@asynccontextmanager
async def providers() -> AsyncIterator[Providers]:
    """Serve them; the address at which they call us is free until `init` listens there."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    config = SimulatorConfig(gateway_url=address, public_url=address, pace=0.01)
    async with serve_simulator(config, SystemClock()) as simulator:
        settings = {
            "PORT": str(port),
            "TWILIO_API_URL": simulator.twilio_url,
            "SLACK_API_URL": simulator.slack_url,
            "TELEGRAM_API_URL": simulator.telegram_url,
        }
        yield Providers(simulator, settings, asyncio.get_running_loop(), address)


def reach(terminal: Terminal, channel: str) -> None:
    """Answer what comes before a channel."""
    terminal.reply("Where will OneValet run?", "dev")
    terminal.reply("Set up a model?", "n")
    for name in ("Telegram", "SMS", "Slack"):
        terminal.reply(f"Set up {name}? [Y/n]", "" if name == channel else "n")
        if name == channel:
            return


async def test_telegram_by_polling_after_wrong_tokens(tmp_path: Path) -> None:
    token, name = CONFIG.telegram.bot_token, CONFIG.telegram.bot_username

    def play(terminal: Terminal) -> None:
        reach(terminal, "Telegram")
        terminal.see("BotFather", "█", "/newbot")
        terminal.reply("Token: ", "hunter2")
        terminal.see("TELEGRAM_BOT_TOKEN cannot be used: it has the form digits, a colon")
        terminal.reply("Token: ", "")
        terminal.see("An answer is needed here")
        terminal.reply("Token: ", WRONG["telegram"])
        terminal.see("Telegram does not take it: ")
        terminal.reply("Token: ", f"TELEGRAM_BOT_TOKEN='{token}'")
        terminal.see(f"It is the token of @{name}.")
        terminal.reply("How do messages come?", "")
        terminal.see("Set at Telegram: commands", f"Your bot is https://t.me/{name}", "█")
        terminal.reply("Set up SMS?", "n")
        terminal.reply("Set up Slack?", "n")
        terminal.reply("Set up Email?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0
        assert token not in terminal.shown

    async with providers() as world:
        with opened(tmp_path, settings=world.settings) as terminal:
            await asyncio.to_thread(play, terminal)
        called = [call.endpoint for call in world.simulator.wire.journal.calls(provider="telegram")]
    assert saved(tmp_path) == {"TELEGRAM_BOT_TOKEN": token}
    assert called[:2] == ["telegram.getMe", "telegram.getMe"]
    assert "telegram.setMyCommands" in called


async def test_telegram_by_webhook_is_reached_through_telegram_itself(tmp_path: Path) -> None:
    token = CONFIG.telegram.bot_token

    def play(terminal: Terminal, world: Providers) -> None:
        reach(terminal, "Telegram")
        terminal.reply("Token: ", token)
        terminal.reply("How do messages come?", "webhook")
        terminal.reply("Public address", "http://valet.example.com")
        terminal.see("Providers call https:// addresses only")
        terminal.reply("Public address", "valet")
        terminal.see("PUBLIC_URL cannot be used")
        terminal.reply("Public address", "https://nowhere.invalid")
        terminal.see("The name nowhere.invalid leads nowhere", "answer the same once more")
        terminal.reply("Public address", world.address)
        terminal.see("A call to it came out here.", "Set at Telegram: webhook", "Write anything to it now")
        terminal.type()
        terminal.see("Telegram reports no failure, and 0 waiting")
        terminal.reply("Try again?", "y")
        terminal.see("Write anything to it now")
        world.act("telegram", "start")
        terminal.type()
        terminal.see("Telegram reached this machine")
        terminal.reply("Set up SMS?", "n")
        terminal.reply("Set up Slack?", "n")
        terminal.reply("Set up Email?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0

    async with providers() as world:
        with opened(tmp_path, settings=world.settings) as terminal:
            await asyncio.to_thread(play, terminal, world)
    values = saved(tmp_path)
    assert values.keys() == {"TELEGRAM_BOT_TOKEN", "TELEGRAM_WEBHOOK_SECRET", "PUBLIC_URL"}
    assert values["PUBLIC_URL"] == world.address


async def test_sms_after_wrong_accounts_is_reached_through_twilio(tmp_path: Path) -> None:
    twilio = CONFIG.twilio

    def play(terminal: Terminal, world: Providers) -> None:
        reach(terminal, "SMS")
        terminal.see("console.twilio.com", "A2P 10DLC")
        terminal.reply("Account SID:", "+14155550100")
        terminal.see("TWILIO_ACCOUNT_SID cannot be used: it has the form AC and 32")
        terminal.reply("Account SID:", twilio.account_sid)
        terminal.reply("Auth Token: ", WRONG["auth"])
        terminal.see("Twilio does not let us in")
        terminal.reply("Auth Token: ", twilio.auth_token)
        terminal.see("Twilio knows the account; its numbers: ", "Which number?", twilio.number)
        terminal.reply("Number", "2")
        terminal.reply("SID of a Messaging Service", "MG1")
        terminal.see("MG1 is neither a number of this account")
        terminal.reply("SID of a Messaging Service", twilio.number)
        terminal.reply("Public address", world.address)
        terminal.see("A call to it came out here.", "Set at Twilio: SmsUrl", f"Text anything to {twilio.number} now")
        terminal.type()
        terminal.reply("No text has come in. Try again?", "y")
        terminal.see("Text anything")
        world.act("twilio", "say", text="hello")
        terminal.type()
        terminal.see("Twilio reached this machine, and its signature is right.")
        terminal.reply("Set up Slack?", "n")
        terminal.reply("Set up Email?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0
        assert twilio.auth_token not in terminal.shown

    async with providers() as world:
        with opened(tmp_path, settings=world.settings) as terminal:
            await asyncio.to_thread(play, terminal, world)
        number = world.simulator.providers["twilio"]._store.numbers[twilio.number]  # type: ignore[attr-defined]
        assert number.settings["SmsUrl"] == f"{world.address}/webhooks/sms{RETRIES}"
    assert saved(tmp_path) == {
        "TWILIO_ACCOUNT_SID": twilio.account_sid,
        "TWILIO_AUTH_TOKEN": twilio.auth_token,
        "TWILIO_FROM": twilio.number,
        "PUBLIC_URL": world.address,
    }


async def test_slack_by_a_socket_after_wrong_tokens(tmp_path: Path) -> None:
    slack = CONFIG.slack

    def play(terminal: Terminal, world: Providers) -> None:
        reach(terminal, "Slack")
        terminal.reply("How do messages come?", "")
        terminal.see("api.slack.com/apps?new_app=1", "socket_mode_enabled: true", "Install to Workspace")
        terminal.reply("Bot token: ", "T0KEN")
        terminal.see("SLACK_BOT_TOKEN cannot be used: it has the form xoxb-")
        terminal.reply("Bot token: ", WRONG["slack"])
        terminal.see("Slack does not take it")
        terminal.reply("Bot token: ", slack.bot_token)
        terminal.see("The app lacks ", "reinstall the app")
        world.act("slack", "set", scopes=[*SCOPES])  # type: ignore[arg-type]
        terminal.reply("Bot token: ", slack.bot_token)
        terminal.see(f"It is installed in {slack.team_name}, with every scope.", "connections:write")
        terminal.reply("App-level token: ", WRONG["app"])
        terminal.see("Slack opens no socket for it")
        terminal.reply("App-level token: ", slack.app_token)
        terminal.see("Slack lets it open a socket.")
        terminal.reply("Set up Email?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0

    async with providers() as world:
        await world.simulator.providers["slack"].act("ada", "set", {"scopes": ["chat:write"]})
        with opened(tmp_path, settings=world.settings) as terminal:
            await asyncio.to_thread(play, terminal, world)
    assert saved(tmp_path) == {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token}


async def test_slack_over_http_holds_the_secret_against_what_slack_signed(tmp_path: Path) -> None:
    slack = CONFIG.slack

    def play(terminal: Terminal, world: Providers) -> None:
        reach(terminal, "Slack")
        terminal.reply("How do messages come?", "http")
        terminal.reply("Public address", world.address)
        terminal.see(f"{world.address}/webhooks/slack")
        terminal.reply("Bot token: ", slack.bot_token)
        terminal.see("with every scope", "Verified beside the request URL")
        world.act("slack", "verify_url")
        terminal.reply("Signing secret: ", "shibboleth")
        terminal.see("A signing secret has 32 hexadecimal digits")
        terminal.reply("Signing secret: ", WRONG["signing"])
        terminal.see("Slack has signed its calls with another secret")
        terminal.reply("Signing secret: ", slack.signing_secret)
        terminal.see("Slack reached this machine, and its signature is right.")
        terminal.reply("Set up Email?", "n")
        terminal.see("Saved to .env")
        assert terminal.end() == 0

    async with providers() as world:
        await world.simulator.providers["slack"].act("ada", "set", {"scopes": [*SCOPES]})
        with opened(tmp_path, settings=world.settings) as terminal:
            await asyncio.to_thread(play, terminal, world)
    assert saved(tmp_path) == {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "PUBLIC_URL": world.address,
    }


async def test_ctrl_c_keeps_what_was_proved_and_nothing_of_the_rest(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# mine\nONEVALET_NAME=Otto\n")

    def play(terminal: Terminal) -> None:
        reach(terminal, "Telegram")
        terminal.reply("Token: ", CONFIG.telegram.bot_token)
        terminal.reply("How do messages come?", "polling")
        terminal.reply("Set up SMS?", "")
        terminal.reply("Account SID:", CONFIG.twilio.account_sid)
        terminal.see("Auth Token: ")
        terminal.press(CTRL_C)
        terminal.see("Stopped; saved so far: TELEGRAM_BOT_TOKEN. .env is whole: run `bin/onevalet init`")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.shown

    async with providers() as world:
        with opened(tmp_path, settings=world.settings) as terminal:
            await asyncio.to_thread(play, terminal)
    text = (tmp_path / ".env").read_text()
    assert text == f"# mine\nONEVALET_NAME=Otto\nTELEGRAM_BOT_TOKEN={CONFIG.telegram.bot_token}\n"
    assert os.listdir(tmp_path) == [".env"]
