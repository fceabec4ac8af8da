"""Probes of `doctor` and their findings."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.db.database import Database
from core.http.guarded_client import GuardedClient
from core.messaging.channels import Check
from onevalet.settings import Settings
from onevalet.wiring.http import build_http


class Area(StrEnum):
    """The areas of findings, in the order of the output."""

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
    """States of a finding: only red makes `doctor` fail."""

    RED = "red"
    ADVICE = "advice"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation to examine. `database` is None if none is configured; it then has no Redis either."""

    settings: Settings
    database: Database | None = None
    redis_url: str = ""

    def http(self, *hosts: str) -> GuardedClient:
        """Return a client like that of tools, which also reaches `hosts`. Raises `ConfigError` for an invalid host."""
        return build_http(self.settings, hosts)


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the output: a state, a sentence and a fix."""

    area: Area
    what: str
    state: State
    detail: str
    fix: str = ""

    @classmethod
    def of(cls, area: Area, check: Check) -> "Finding":
        """Return a check's result as a finding: a fix for a passed check is advice."""
        state = State.RED if not check.ok else State.ADVICE if check.fix else State.GOOD
        return cls(area, check.what, state, check.detail, check.fix)

    @property
    def ok(self) -> bool:
        return self.state is not State.RED


@dataclass(frozen=True, slots=True)
class Probe:
    """A look at a part, with a time limit of its own. If the look raises, the finding reports the error."""

    area: Area
    name: str
    look: Callable[[Installation], Awaitable[Sequence[Check]]]
    seconds: float = 15.0
    needs_database: bool = False


def over_database(area: Area, name: str, look: Callable[[Database], Awaitable[Sequence[Check]]]) -> Probe:
    """Return a probe that needs only the database; without a database it finds nothing."""

    async def look_there(installation: Installation) -> Sequence[Check]:
        return await look(installation.database) if installation.database else ()

    return Probe(area, name, look_there, needs_database=True)


def over_settings(
    area: Area, name: str, look: Callable[[Settings], Awaitable[Sequence[Check]]], seconds: float = 30.0
) -> Probe:
    """Return a probe that needs nothing but the settings."""
    return Probe(area, name, lambda installation: look(installation.settings), seconds)
