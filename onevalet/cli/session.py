"""Where a command finds the database and Redis: a running `dev`, else the settings."""

from dataclasses import dataclass

from core.errors import ConfigError
from onevalet.dev.embedded.home import find_running
from onevalet.settings import Settings


@dataclass(frozen=True, slots=True)
class Reached:
    """The addresses to use. `gateway_url` is empty beside processes that run apart."""

    database_url: str
    redis_url: str
    gateway_url: str = ""
    simulator_url: str = ""


def reach(settings: Settings) -> Reached:
    """Find a running system; raises `ConfigError` with one sentence when there is none."""
    running = find_running(settings.onevalet_home)
    if running is not None:
        return Reached(running.database_url, running.redis_url, running.url, running.simulator_url)
    if settings.database_url is None:
        raise ConfigError("OneValet is not running here: start `bin/dev`, or set DATABASE_URL and REDIS_URL.")
    redis = settings.redis_url.get_secret_value() if settings.redis_url else ""
    return Reached(settings.database_url.get_secret_value(), redis)
