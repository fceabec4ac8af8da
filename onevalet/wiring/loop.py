"""The loop's configuration, read from the settings, and the hooks of abilities."""

import types
from dataclasses import fields
from typing import Union, get_args, get_origin, get_type_hints

from core.errors import ConfigError
from core.hooks.hooks import Hook
from core.llm.types import ModelClient
from core.loop.config import ReactLoopConfig
from core.tools.storage import Storage
from onevalet.ability_registry import all_abilities
from onevalet.foundations import HookFoundation
from onevalet.settings import LOOP_PREFIX, Settings


def hooks_of_abilities(
    settings: Settings, config: ReactLoopConfig, client: ModelClient, storage: Storage | None = None
) -> list[Hook]:
    """Create the hooks that the abilities declare, such as rules from a file, and judges."""
    foundation = HookFoundation(settings, config, client, storage)
    return [hook for ability in all_abilities() if ability.hooks is not None for hook in ability.hooks(foundation)]


def loop_config(values: dict[str, str]) -> ReactLoopConfig:
    """Parse `ONEVALET_LOOP_<NAME>`; raise `ConfigError` for an unknown name or an invalid number."""
    hints = get_type_hints(ReactLoopConfig)
    known = {field.name: hints[field.name] for field in fields(ReactLoopConfig)}
    read: dict[str, object] = {}
    for name, text in values.items():
        if name not in known:
            names = ", ".join(sorted(f"{LOOP_PREFIX}{field}".upper() for field in known))
            raise ConfigError(f"{LOOP_PREFIX.upper()}{name.upper()} does not exist; there are {names}.")
        read[name] = _value(name, text, known[name])
    return ReactLoopConfig(**read)  # type: ignore[arg-type]


def _value(name: str, text: str, kind: object) -> object:
    if get_origin(kind) in (Union, types.UnionType):
        if text.lower() == "none":
            return None
        kind = next(option for option in get_args(kind) if option is not type(None))
    if get_origin(kind) is tuple:
        return tuple(name for part in text.split(",") if (name := part.strip()))
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"{LOOP_PREFIX.upper()}{name.upper()} is {text!r}; write true or false.")
        return text.lower() in ("true", "1")
    try:
        return int(text) if kind is int else float(text)
    except ValueError as error:
        raise ConfigError(f"{LOOP_PREFIX.upper()}{name.upper()} is {text!r}; write a number.") from error
