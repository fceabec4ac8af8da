"""The doors that only `dev` opens: each with its reason, and the condition under which it stays shut.

The switches of `dev` in the product read this list; a test finds switches that are not in it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from channels.http.hosts import host_of, is_local_host
from onevalet.settings import Settings


@dataclass(frozen=True, slots=True)
class Shut:
    """The reason why a door is shut, and the remedy that opens it."""

    because: str
    cure: str


type Condition = Callable[[Settings], Shut | None]


@dataclass(frozen=True, slots=True)
class Door:
    """A door. `switches`: the settings and arguments of the product that only `dev` gives for it."""

    name: str
    reason: str
    shut: Condition
    switches: tuple[str, ...]

    def is_open(self, settings: Settings) -> bool:
        return self.shut(settings) is None


def reached_from_elsewhere(settings: Settings) -> Shut | None:
    """Return the setting that lets other machines reach us; None if there is none."""
    if not is_local_host(settings.host.lower()):
        return Shut(f"HOST is {settings.host}", "set HOST=127.0.0.1")
    if settings.public_url and not is_local_host(host_of(settings.public_url)):
        return Shut(f"PUBLIC_URL is {settings.public_url}", "unset PUBLIC_URL")
    return None


def _never(_: Settings) -> Shut | None:
    return None


def _with_a_model(settings: Settings) -> Shut | None:
    return Shut(f"ONEVALET_MODEL is {settings.onevalet_model}", "unset it") if settings.onevalet_model else None


CONSOLE = Door(
    "the console without signing in",
    "a newcomer looks at what the assistant does before any channel works; each request must also be of this machine",
    reached_from_elsewhere,
    ("open_web.local_console",),
)
SIMULATED_CHANNELS = Door(
    "channels without an account, in the simulator",
    "whoever has the simulated secrets writes as its people; each request must also be of this machine",
    reached_from_elsewhere,
    (
        "open_web.local",
        "twilio_account_sid",
        "twilio_auth_token",
        "twilio_from",
        "twilio_api_url",
        "slack_bot_token",
        "slack_signing_secret",
        "slack_app_token",
        "slack_api_url",
        "telegram_bot_token",
        "telegram_api_url",
    ),
)
FRONT_PAGE = Door(
    "the front page, which leads to the simulator's",
    "a newcomer opens the gateway's address; elsewhere it would lead to the reader's own machine",
    reached_from_elsewhere,
    ("open_web.extra_routes",),
)
DEMO_MODEL = Door(
    "the demo model",
    "it answers without an account, by rules, and gives nobody more than a model could",
    _with_a_model,
    ("open_worker.demo",),
)
SIMULATOR_PAGE = Door(
    "the simulator's page, with its control and bench",
    "it listens on a loopback address alone, and refuses other hosts' names and other pages' scripts",
    _never,
    ("onevalet_clock",),
)
SIMULATED_MAIL = Door(
    "the simulated person's mail server, which tools may reach on this machine",
    "that one port, which takes no mail out",
    _never,
    ("onevalet_fetch_hosts",),
)
SECRETS = Door(
    "secrets that nobody set",
    "they are random, of this folder alone, and readable by its owner alone",
    _never,
    (),
)
SERVICES = Door(
    "an embedded Postgres and Valkey",
    "their sockets are in a folder of its owner; who serves owns nothing",
    _never,
    ("database_url", "redis_url", "onevalet_backup_database_url", "public_url", "port"),
)
DOORS = (
    CONSOLE,
    SIMULATED_CHANNELS,
    FRONT_PAGE,
    DEMO_MODEL,
    SIMULATOR_PAGE,
    SIMULATED_MAIL,
    SECRETS,
    SERVICES,
)
