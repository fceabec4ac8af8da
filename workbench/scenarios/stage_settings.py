"""The settings of a scenario's installation: its own, and nothing of this folder's `.env`."""

import os
from collections.abc import Mapping
from pathlib import Path

from onevalet.servers.port import free_port
from onevalet.settings import Settings, load_settings
from workbench.scenarios.scenario import Scenario
from workbench.scenarios.web_answers import PLACE

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
            "port": free_port(),
            "onevalet_model": "openai/scripted" if scenario.model == "scripted" else "",
            "onevalet_plugins": scenario.plugins,
            "onevalet_memory": "off",  # memory would call the model too, at moments of its own
            **own,
            **given,
        },
    )


def reaching(settings: Settings, *places: str) -> Settings:
    """Let tools reach the scenario's servers on this machine, which are barred otherwise."""
    hosts = (*settings.onevalet_fetch_hosts, *(place for place in places if place))
    return settings.model_copy(update={"onevalet_fetch_hosts": hosts})
