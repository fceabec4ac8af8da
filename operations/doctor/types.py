"""What `doctor` examines and what it finds."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.db.database import Database
from core.http.guarded_client import GuardedClient
from core.messaging.channels import Check
from onevalet.settings import Settings
from onevalet.wiring.http import build_http


class Area(StrEnum):
    """Where a finding stands in the output, in this order."""

    SYSTEM = "system"
    DATABASE = "database"
    REDIS = "redis"
    WORK = "work"
    MODELS = "models"
    CHANNELS = "channels"
    MAIL_AND_PUSH = "mail and push"
    ACCOUNTS = "accounts"
    SEARCH = "search"
    FILES = "files"
    KEYS = "keys"


class State(StrEnum):
    """How things are: only what is red makes `doctor` fail."""

    RED = "red"
    ADVICE = "advice"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class Installation:
    """What is examined. `database` is None where none is configured; it then has no Redis either."""

    settings: Settings
    database: Database | None = None
    redis_url: str = ""

    def http(self, *hosts: str) -> GuardedClient:
        """Return a client as tools are handed it, which also reaches `hosts`. Raises `ConfigError` for what is none."""
        return build_http(self.settings, hosts)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the output: a state, a sentence and a fix."""

    area: Area
    what: str
    state: State
    detail: str
    fix: str = ""

    @classmethod
    def of(cls, area: Area, check: Check) -> "Finding":
        """Return a check's result as a finding: a fix for what is well is advice."""
        state = State.RED if not check.ok else State.ADVICE if check.fix else State.GOOD
        return cls(area, check.what, state, check.detail, check.fix)

    @property
    def ok(self) -> bool:
        return self.state is not State.RED


@dataclass(frozen=True, slots=True)
class Probe:
    """One look at one thing, with a time limit of its own. A look may raise: the finding then says so."""

    area: Area
    name: str
    look: Callable[[Installation], Awaitable[Sequence[Check]]]
    seconds: float = 15.0
    needs_database: bool = False


def over_database(
    area: Area, name: str, look: Callable[[Database], Awaitable[Sequence[Check]]], seconds: float = 15.0
) -> Probe:
    """Return a probe that needs nothing but the database; without one it finds nothing."""

    async def look_there(installation: Installation) -> Sequence[Check]:
        return await look(installation.database) if installation.database else ()

    return Probe(area, name, look_there, seconds, needs_database=True)


def over_settings(
    area: Area, name: str, look: Callable[[Settings], Awaitable[Sequence[Check]]], seconds: float = 30.0
) -> Probe:
    """Return a probe that needs nothing but the settings."""
    return Probe(area, name, lambda installation: look(installation.settings), seconds)
