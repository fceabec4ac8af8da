"""A chosen model as settings by their names, kept in a file of ONEVALET_HOME for its owner's eyes only."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from core.errors import ConfigError
from onevalet.init.env_file import read_values, save_values
from onevalet.init.presets import NAMES, PRESETS
from onevalet.settings import Settings, sentence_of
from providers.models.speech import SILENT

FILE = "model.env"
"""Its name in ONEVALET_HOME."""
EXPORTED = tuple(name for name in NAMES if not name.startswith("ONEVALET_"))
"""Variables that litellm reads from the environment."""
_VOICE = "onevalet_speech_model"
_FIELDS = ("onevalet_model", "onevalet_model_keys", "onevalet_memory", _VOICE)


@dataclass(frozen=True, slots=True)
class Choice:
    """Values by the names of settings; none for the demo model."""

    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """Return litellm's name; empty for the demo model."""
        return self.values.get("ONEVALET_MODEL", "")

    @property
    def name(self) -> str:
        """Return the model's name at its provider."""
        return self.model.partition("/")[2]

    @property
    def where(self) -> str:
        """Return the provider of the answers: the address of a server, or a provider's title."""
        for base in ("OPENAI_API_BASE", "AZURE_API_BASE"):
            if base in self.values:
                return self.values[base]
        return title_of(self.model)


def title_of(model: str) -> str:
    """Return the title of a model's provider, or litellm's word for it."""
    provider = model.partition("/")[0]
    titles = {preset.model.partition("/")[0]: preset.title for preset in PRESETS if preset.model}
    return titles.get(provider, provider)


def read_choice(home: Path) -> Choice:
    """Return the saved choice, else the demo model. Raises `ConfigError` for a file that cannot be read."""
    values = read_values(home / FILE)
    return Choice({name: value for name, value in values.items() if name in NAMES})


def keep_choice(home: Path, choice: Choice) -> None:
    """Save a choice in place of an earlier choice. Raises `ConfigError` if it cannot be written."""
    if choice.model:
        save_values(home / FILE, dict.fromkeys(NAMES, "") | dict(choice.values))
    else:
        (home / FILE).unlink(missing_ok=True)


class Baseline:
    """The settings and the environment without a choice."""

    def __init__(self, settings: Settings) -> None:
        self._fields = {name: getattr(settings, name) for name in _FIELDS if name in Settings.model_fields}
        self._loop = settings.loop
        self._exported = {name: os.environ.get(name) for name in EXPORTED}

    def with_choice(self, settings: Settings, choice: Choice) -> Settings:
        """Return the settings with a choice instead of any earlier choice. Raises pydantic's `ValidationError`.

        The demo model has a voice unless the operator names one: it does not speak for a real model.
        """
        chosen = {name.lower(): value for name, value in choice.values.items() if name.lower() in Settings.model_fields}
        read = Settings(_env_file=None, **chosen)  # type: ignore[arg-type]
        fields = {name: getattr(read, name) for name in _FIELDS if name in chosen}
        loop = {
            name.removeprefix("ONEVALET_LOOP_").lower(): value
            for name, value in choice.values.items()
            if name.startswith("ONEVALET_LOOP_")
        }
        update = self._fields | fields | {"loop": self._loop | loop}
        if not update["onevalet_model"] and update.get(_VOICE) == "":
            update[_VOICE] = SILENT
        return settings.model_copy(update=update)

    def environment(self, choice: Choice) -> dict[str, str]:
        """Return the variables that a choice sets for litellm."""
        told = {name: choice.values.get(name) or self._exported[name] for name in EXPORTED}
        return {name: value for name, value in told.items() if value}

    def export(self, choice: Choice) -> None:
        """Set those variables in this process, for the calls and the processes that begin from now on."""
        told = self.environment(choice)
        for name in EXPORTED:
            if name in told:
                os.environ[name] = told[name]
            else:
                os.environ.pop(name, None)


@dataclass(frozen=True, slots=True)
class KeptModel:
    """The start of `dev`: the settings with the saved choice, unless they name a model themselves (`is_fixed`)."""

    settings: Settings
    baseline: Baseline
    choice: Choice
    is_fixed: bool


def read_kept(settings: Settings) -> KeptModel:
    """Read and export the choice of an earlier `dev`. Raises `ConfigError` for a file that cannot be used."""
    baseline, is_fixed = Baseline(settings), bool(settings.onevalet_model)
    choice = Choice() if is_fixed else read_choice(settings.onevalet_home)
    try:
        chosen = baseline.with_choice(settings, choice)
    except ValidationError as error:
        raise ConfigError(
            f"{settings.onevalet_home / FILE} cannot be used: {sentence_of(error)} Delete it to have the demo model."
        ) from error
    baseline.export(choice)
    return KeptModel(chosen, baseline, choice, is_fixed)
