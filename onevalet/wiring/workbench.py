"""The only way from the product to the workbench, which a clone has and an installed wheel lacks.

`dev`, the simulator, scenarios and the demo model are imported here, at their first use.
"""

import asyncio
from pathlib import Path

from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.wiring.extras import is_installed, is_package_here
from providers.models.local_model import LocalModel

_BENCH = Path(__file__).parents[2] / "workbench" / "simulator"


def has_workbench() -> bool:
    """Return whether the workbench lies beside the product; a package of this name elsewhere is foreign."""
    return _BENCH.is_dir()


async def start_dev(settings: Settings, stop: asyncio.Event, *, processes: bool = False) -> None:
    """Run `dev` until told to stop; `processes`: see `run_dev`. Raises `ConfigError` if it is left out."""
    if not (has_workbench() and is_installed("servers") and is_package_here("aiosmtpd")):
        raise ConfigError(
            "`dev` is not part of this installation: run bin/dev in a clone of the project, or `web` and `worker` here."
        )
    from workbench.dev.run import run_dev

    await run_dev(settings, stop, processes=processes)


def demo_model(home: Path | None = None) -> LocalModel | None:
    """Return the demo model, None if it is left out. `home`: the folder in which the page writes its trouble."""
    if not has_workbench():
        return None
    from workbench.demo.model import DEMO_MODEL
    from workbench.demo.trouble import FILE, troubled

    return troubled(DEMO_MODEL, home / FILE) if home else DEMO_MODEL


def wired_to_simulator(settings: Settings, simulator_url: str) -> Settings:
    """Return the settings, with missing accounts filled in from a running `dev`'s simulator."""
    from workbench.dev.simulator_wiring import simulator_config, wire_simulator

    return wire_simulator(settings, simulator_config(settings.onevalet_home), simulator_url).settings


async def simulate(file: Path, channel: str = "") -> None:
    """Play a scenario and print the talk. Raises `ConfigError` if scenarios are left out or the file is wrong."""
    _require_scenarios()
    from workbench.scenarios.command import simulate

    await simulate(file, channel)


async def watch(file: Path, channel: str, speed: str, back: str, *, held: bool) -> None:
    """Play a scenario on a simulator's page: see `workbench.scenarios.command.watch`. Raises as `simulate` does."""
    _require_scenarios()
    from workbench.scenarios.command import watch

    await watch(file, channel, speed, back, held=held)


def _require_scenarios() -> None:
    if not has_workbench():
        raise ConfigError("`simulate` is not part of this installation: run it in a clone of the project.")
