"""A pytest plugin for tests of code built on OneValet, and of scenario files: `-p onevalet.testing.plugin`.

A test has a folder and an environment of its own: no settings, and a fresh home. A test may be a coroutine, and imports
modules from the folder in which pytest was started. Each scenario file is a test.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.errors import ConfigError
from onevalet.environment import exported
from onevalet.servers.home import own_folder
from onevalet.testing.scenario_files import SUFFIXES, play_file

_NUMBERED = ("ONEVALET_LOOP_", "ONEVALET_OIDC_")
"""Prefixes of settings that may occur several times."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let tests import modules of their folder, and be coroutines if pytest-asyncio is installed."""
    folder = str(config.invocation_params.dir)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if getattr(config.option, "asyncio_mode", "") is None:  # not said, and pytest-asyncio is there
        config.option.asyncio_mode = "auto"


@pytest.fixture(autouse=True)
def own_home() -> Iterator[Path]:
    """Yield ONEVALET_HOME of this test; it is removed afterwards, and the environment is restored."""
    from onevalet.settings import Settings

    before = dict(os.environ)
    with own_folder("onevalet-test-home-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setitem(Settings.model_config, "env_file", None)
        for name in before:
            if name.startswith(_NUMBERED) or name.lower() in Settings.model_fields:
                del os.environ[name]
        os.environ["ONEVALET_HOME"] = str(folder / "home")
        yield folder / "home"
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
async def own_servers(own_home: Path) -> AsyncIterator[None]:
    """Start a Postgres and a Valkey for this test, and name them in DATABASE_URL and REDIS_URL."""
    from onevalet.servers.paths import make_home
    from onevalet.servers.services import embedded_services

    make_home(own_home)
    async with embedded_services(own_home, database=True, redis=True) as services:
        with exported({"DATABASE_URL": str(services.database_url), "REDIS_URL": str(services.redis_url)}):
            yield


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect files that are named as scenarios are."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


class ScenarioFile(pytest.File):
    """A scenario file, which is a single test."""

    def collect(self) -> Iterator["ScenarioItem"]:
        yield ScenarioItem.from_parent(self, name=self.path.name.partition(".")[0])


class ScenarioItem(pytest.Item):
    """A scenario as a test."""

    def runtest(self) -> None:
        asyncio.run(play_file(self.path))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str | object:  # type: ignore[override]
        """Return the first difference; a traceback would only show how scenarios are played."""
        if isinstance(excinfo.value, ConfigError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
