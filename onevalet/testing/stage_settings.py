"""The settings of a scenario's installation: its own, and nothing of this folder's `.env`."""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from onevalet.settings import Settings, load_settings
from onevalet.testing.scenario import Scenario
from onevalet.testing.web_answers import PLACE

_SERVERS = {"database_url": "ONEVALET_SCENARIO_DATABASE_URL", "redis_url": "ONEVALET_SCENARIO_REDIS_URL"}


def settings_of(scenario: Scenario, home: Path, clock: Path, answers: str, given: Mapping[str, object]) -> Settings:
    """Return a scenario's settings; `answers` is the address of the server for its `web`."""
    own = {name.lower(): value.replace(PLACE, answers) for name, value in scenario.settings.items()}
    servers = {name: os.environ[variable] for name, variable in _SERVERS.items() if os.environ.get(variable)}
    return load_settings(
        _env_file=None,
        **{
            "database_url": None,
            "redis_url": None,
            **servers,
            "onevalet_home": home,
            "onevalet_clock": clock,
            "port": _free_port(),
            "onevalet_model": "openai/scripted" if scenario.model == "scripted" else "",
            "onevalet_plugins": scenario.plugins,
            "onevalet_memory": "off",  # what is remembered is asked of the model too, at moments of its own
            "onevalet_profile": "off",
            **own,
            **given,
        },
    )


def reaching(settings: Settings, *places: str) -> Settings:
    """Let tools reach what the scenario serves on this machine, which they may not otherwise."""
    hosts = (*settings.onevalet_fetch_hosts, *(place for place in places if place))
    return settings.model_copy(update={"onevalet_fetch_hosts": hosts})


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables that litellm reads itself, and put back what was there."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
