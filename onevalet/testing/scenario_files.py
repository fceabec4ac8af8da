"""Files with scenarios, which the workbench reads and plays: a clone has it, and an installation by `pip` has not."""

import importlib
from pathlib import Path

from core.errors import ConfigError
from onevalet.wiring.workbench import has_workbench

SUFFIXES = (".scenario.toml", ".scenario.json")
NAMES = frozenset({"Scenario", "ScenarioError", "read_scenario"})
"""Names of `onevalet.testing` that the workbench defines."""
_LEFT_OUT = "Scenarios are read and played in a clone of the project: they are not part of this installation."


def load_name(name: str) -> object:
    """Return a member of `NAMES`. Raises `ImportError` if scenarios are left out."""
    if not has_workbench():
        raise ImportError(_LEFT_OUT)
    return getattr(importlib.import_module("workbench.scenarios.scenario"), name)


async def play_file(path: Path) -> None:
    """Play a scenario. Raises `ConfigError` at its first difference, and if scenarios are left out."""
    if not has_workbench():
        raise ConfigError(_LEFT_OUT)
    from workbench.scenarios.playing import play
    from workbench.scenarios.scenario import read_scenario

    await play(read_scenario(path))
