"""The available scenarios: those that are shipped, and those that its user recorded or put into a folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from onevalet.testing.scenario_files import SUFFIXES
from workbench.scenarios.scenario import Scenario, ScenarioError, read_scenario, read_text

SHIPPED = Path(__file__).parents[2] / "docs" / "scenarios"
OWN = "scenarios"
"""The folder of the user's own scenarios, in ONEVALET_HOME."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


@dataclass(frozen=True, slots=True)
class Listed:
    """A scenario in the list: `own` if it is not shipped; `error`: why it cannot be read."""

    name: str
    path: Path
    own: bool
    scenario: Scenario | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Both folders. `own` is made at the first save."""

    own: Path
    shipped: Path = SHIPPED

    def all(self) -> list[Listed]:
        """Return the user's own scenarios first, each folder by name."""
        return [*self._in(self.own, own=True), *self._in(self.shipped, own=False)]

    def find(self, name: str) -> Listed:
        """Return a scenario by its name, the user's own first; raise `ScenarioError` if there is none."""
        found = next((one for one in self.all() if one.name == name), None)
        if found is None:
            raise ScenarioError(f"There is no scenario {name!r}.")
        return found

    def save(self, name: str, text: str) -> Path:
        """Save a scenario of the user's own; raise `ScenarioError` for a bad name, a taken name, or an invalid text."""
        if not _NAME.fullmatch(name):
            raise ScenarioError("A name has small letters a to z, digits and dashes, such as late-for-lunch.")
        path = self.own / f"{name}{SUFFIXES[0]}"
        if any(one.name == name for one in self.all()):
            raise ScenarioError(f"There is a scenario {name!r} already: choose another name.")
        read_text(text, path)
        self.own.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def delete(self, name: str) -> None:
        """Delete a scenario of the user's own; raise `ScenarioError` for any other."""
        found = self.find(name)
        if not found.own:
            raise ScenarioError("What ships is not deleted here.")
        found.path.unlink()

    @staticmethod
    def _in(folder: Path, *, own: bool) -> Iterator[Listed]:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not path.name.endswith(SUFFIXES):
                continue
            name = path.name.partition(".")[0]
            try:
                yield Listed(name, path, own, read_scenario(path))
            except ScenarioError as error:
                yield Listed(name, path, own, error=str(error))
