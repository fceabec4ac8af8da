"""A process's connections to Postgres and Redis."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.db.database import Database
from core.errors import ConfigError
from core.queue.wakeups import RedisWakeups
from onevalet.doing_now import DoingNow
from onevalet.settings import Settings
from onevalet.wiring.extras import check_extras
from onevalet.wiring.secret_keys import secret_keys
from onevalet.wiring.shared_pauses import SharedPauses
from onevalet.wiring.workbench import has_workbench


@dataclass(frozen=True, slots=True)
class Connections:
    """The settings of a process, and the databases and wakeups that they name."""

    settings: Settings
    database: Database
    way_in: Database
    """The database that commits inbound messages, or the router to it if people are divided over several databases."""
    wakeups: RedisWakeups


def database_url(settings: Settings) -> str:
    """Return DATABASE_URL; raise `ConfigError` when it is missing."""
    if settings.database_url is None:
        raise ConfigError("DATABASE_URL is not set: give a Postgres address, or use `dev`, which brings one.")
    return settings.database_url.get_secret_value()


def doing_now(settings: Settings) -> DoingNow:
    """Return the live status of running turns."""
    return DoingNow(redis_url(settings))


def redis_url(settings: Settings) -> str:
    """Return REDIS_URL; raise `ConfigError` when it is missing."""
    if settings.redis_url is None:
        raise ConfigError("REDIS_URL is not set: give a Redis address, or use `dev`, which brings one.")
    return settings.redis_url.get_secret_value()


def check_worker(settings: Settings, *, demo: bool = False) -> None:
    """Raise `ConfigError` if a setting that every worker needs is missing. `demo`: the demo model may answer."""
    database_url(settings)
    redis_url(settings)
    if not settings.onevalet_model and not (demo and has_workbench()):
        raise ConfigError("ONEVALET_MODEL is not set: name a model, such as openai/gpt-5, and give its key.")
    secret_keys(settings)
    check_extras(settings)


@asynccontextmanager
async def open_connections(
    settings: Settings, name: str, *, patience: float = 5.0, size: int = 10
) -> AsyncIterator[Connections]:
    """Yield the connections of a process. `name`, `patience` and `size` are the database's."""
    postgres, redis = database_url(settings), redis_url(settings)
    database = way_in = Database(postgres, patience=patience, size=size, name=name)
    if settings.onevalet_router_url is not None:
        way_in = Database(settings.onevalet_router_url.get_secret_value(), patience=patience, size=5, name=name)
    wakeups, pauses = RedisWakeups(redis), SharedPauses(redis)
    try:
        await wakeups.start()
        await pauses.start()
        yield Connections(settings, database, way_in, wakeups)
    finally:
        await pauses.stop()
        await wakeups.stop()
        await database.close()
        await way_in.close()
