"""Let pytest run scenario files: `-p onevalet.testing.plugin`. Each file is a test."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from onevalet.testing.scenario import SUFFIXES, ScenarioError, read_scenario


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect files that are named as scenarios are."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


class ScenarioFile(pytest.File):
    """A scenario file, which is one test."""

    def collect(self) -> Iterator["ScenarioItem"]:
        yield ScenarioItem.from_parent(self, name=self.path.name.partition(".")[0])


class ScenarioItem(pytest.Item):
    """A scenario as a test."""

    def runtest(self) -> None:
        from onevalet.testing.playing import play

        asyncio.run(play(read_scenario(self.path)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str | object:  # type: ignore[override]
        """Say what went otherwise; a traceback would only show how scenarios are played."""
        if isinstance(excinfo.value, ScenarioError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
