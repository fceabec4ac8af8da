"""The simulator's configuration: its people, accounts, speed, and the gateway's address."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """People's time; the product's own clock fits, and is handed in by the caller that starts the simulator."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        ...

    async def sleep(self, span: timedelta) -> None:
        """Wait for a span of the clock's time."""
        ...


class SystemClock:
    """The machine's own time, for a simulator that stands alone."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, span: timedelta) -> None:
        await asyncio.sleep(span.total_seconds())


@dataclass(frozen=True, slots=True)
class Person:
    """A person with a phone, a Slack user and a Telegram user. `key` names them in the control API.

    `language` is Telegram's `language_code`, a BCP 47 tag in lower case; Slack's locale follows from it.
    """

    key: str
    name: str
    phone: str
    slack_user: str
    telegram_user: int
    telegram_username: str = ""
    language: str = "en"
    timezone: str = "Europe/London"

    @property
    def mail(self) -> str:
        """Return the mail address that Slack knows."""
        return f"{self.key}@example.com"


PEOPLE = (
    Person("ada", "Ada Lovelace", "+14155550101", "U0ADA00001", 700100001, "ada_lovelace"),
    Person("grace", "Grace Hopper", "+14155550102", "U0GRACE002", 700100002, "grace_hopper"),
)


@dataclass(frozen=True, slots=True)
class TwilioConfig:
    """An account with a number. `numbers` are further senders; `services` maps MG ids to their numbers.

    `answers_stop` is Twilio's default handling of STOP, START and HELP. `webhook_url` is the number's SmsUrl at start
    (absolute, a fragment with connection overrides allowed); empty: public URL + /webhooks/sms. `tells_opt_out` adds
    OptOutType to the webhook, as Advanced Opt-Out does. `campaign` is the status of the services' A2P 10DLC campaign
    and `verification` that of the numbers' toll-free verification; empty: there is none.
    """

    account_sid: str = "AC0123456789abcdef0123456789abcdef"
    auth_token: str = "5eed5eed5eed5eed5eed5eed5eed5eed"  # noqa: S105 - the emulated account's
    number: str = "+14155550100"
    numbers: tuple[str, ...] = ()
    services: tuple[tuple[str, tuple[str, ...]], ...] = ()
    webhook_url: str = ""
    answers_stop: bool = True
    tells_opt_out: bool = True
    campaign: str = "VERIFIED"
    verification: str = ""


@dataclass(frozen=True, slots=True)
class SlackConfig:
    """A team with an app. `events_url` is its request URL; empty: public URL + /webhooks/slack.

    `socket_mode` on delivers over Socket Mode alone, as Slack does once an app has it switched on.
    """

    team_id: str = "T0SIM00001"
    team_name: str = "Simulator"
    app_id: str = "A0SIM00001"
    bot_user: str = "U0BOT00001"
    bot_id: str = "B0BOT00001"
    bot_name: str = "valet"
    bot_token: str = "xoxb-simulator-bot-token"  # noqa: S105 - the emulated app's
    app_token: str = "xapp-1-simulator-app-token"  # noqa: S105
    signing_secret: str = "51a51a51a51a51a51a51a51a51a51a51"  # noqa: S105
    verification_token: str = "simulator-verification"  # noqa: S105
    events_url: str = ""
    socket_mode: bool = False


@dataclass(frozen=True, slots=True)
class TelegramConfig:
    """A bot; the gateway sets a webhook through setWebhook, or else polls."""

    bot_token: str = "7000000001:AAsimulator-telegram-token-0123456789"  # noqa: S105 - the emulated bot's
    bot_username: str = "simulator_valet_bot"
    bot_name: str = "Valet"

    @property
    def bot_id(self) -> int:
        return int(self.bot_token.split(":", 1)[0])


@dataclass(frozen=True, slots=True)
class SimulatorConfig:
    """The whole configuration.

    `gateway_url` is the real address of the gateway; `public_url` is the address in signatures and at the beginning of
    webhook URLs (empty: the same). Both are origins. Either may be set later with `Wire.connect_gateway`. `pace`
    multiplies every wait of the providers (retry delays, delivery ticks); `patience` multiplies how long they wait for
    an answer. Both are 1 in life, small in tests. `kept_in` is the folder in which the providers' chats, ids and
    settings outlive the simulator; without a folder they end with it.
    """

    gateway_url: str = ""
    public_url: str = ""
    people: tuple[Person, ...] = PEOPLE
    twilio: TwilioConfig = field(default_factory=TwilioConfig)
    slack: SlackConfig = field(default_factory=SlackConfig)
    telegram: TelegramConfig = field(default_factory=TelegramConfig)
    pace: float = 1.0
    patience: float = 1.0
    journal_path: Path | None = None
    kept_in: Path | None = None
    seed: int = 0
    joined: list[Person] = field(default_factory=list, compare=False)
    """People added while the simulator ran."""

    @property
    def everyone(self) -> list[Person]:
        """Return those who are there from the start, and those who joined."""
        return [*self.people, *self.joined]

    def person(self, key: str) -> Person | None:
        """Find a person by key, or None."""
        return next((person for person in self.everyone if person.key == key), None)
