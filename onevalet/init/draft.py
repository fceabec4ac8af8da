"""The draft of `init`: the values of the file and the environment, and the proved and saved answers."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from onevalet.init.dialogue import Wrong
from onevalet.init.env_file import read_values, save_values
from onevalet.settings import Settings, sentence_of

_ALSO_READ = frozenset(
    [
        "HOST",
        "PORT",
        "TWILIO_API_URL",
        "SLACK_API_URL",
        "TELEGRAM_API_URL",
        "ONEVALET_TOOL_MODE",
    ]
)
"""Settings of the file that matter to each proof."""


class Draft:
    """The values of a `.env`.

    A part is saved after all its answers are proved, so the file is always complete; without `each`, `finish` saves all
    parts together.
    """

    def __init__(self, path: Path, *, each: bool = True) -> None:
        self.path = path
        self._each = each
        self._values = read_values(path)
        self.saved: dict[str, str] = {}

    def value(self, name: str) -> str:
        """Return the value that a process would read: the environment goes before the file. Empty if neither has it."""
        return os.environ.get(name) or self._values.get(name, "")

    def has(self, *names: str) -> bool:
        return all(self.value(name) for name in names)

    def settings(self, values: Mapping[str, str]) -> Settings:
        """Return settings with these values and no other parts of the file; raise `Wrong` for an invalid value."""
        known = {name: value for name, value in self._values.items() if name in _ALSO_READ} | dict(values)
        fields = {name.lower(): value for name, value in known.items() if name.lower() in Settings.model_fields}
        try:
            return Settings(_env_file=None, **fields)  # type: ignore[arg-type]
        except ValidationError as error:
            raise Wrong(sentence_of(error)) from error

    def save(self, changes: Mapping[str, str]) -> None:
        """Save a proved part. Raises `ConfigError` if the file cannot be written."""
        changed = {name: value for name, value in changes.items() if value != self._values.get(name, "")}
        self._values |= changed
        self.saved |= changed
        if self._each:
            self.finish()

    def finish(self) -> None:
        """Write the saved values. Raises `ConfigError` if the file cannot be written."""
        if self.saved:
            save_values(self.path, self.saved)

    @property
    def overruled(self) -> list[str]:
        """Return the names that were saved, and that the environment sets to something else."""
        return sorted(name for name, value in self.saved.items() if os.environ.get(name, value) != value)
