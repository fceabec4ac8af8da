"""Preferences that abilities bring: each is on or off, and off until the person turns it on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ConfigError

ON = frozenset(
    {"on", "turned on", "yes", "an", "ein", "ja", "sí", "si", "activado", "oui", "activé", "sim", "ligado", "开", "是"}
)
OFF = frozenset(
    {"", "off", "turned off", "no", "aus", "nein", "desactivado", "non", "désactivé", "não", "nao", "desligado"}
    | {"关", "否"}
)
"""The words for either, in any of our languages."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A preference that is on or off. `name`: the word that sets it, marked with `gettext_noop`.

    `words`: the same word in other languages. `title`: its name in the console. `idle`: returns the marked sentence
    that says why it does nothing under the settings; empty if it does something.
    """

    name: str
    words: tuple[str, ...]
    title: str
    idle: Callable[[Any], str] | None = None


_switches: dict[str, Switch] = {}


def use_switches(switches: Iterable[Switch]) -> None:
    """Register the switches of abilities, in place of any earlier switches.

    Raises `ConfigError` if two have the same name.
    """
    _switches.clear()
    for switch in switches:
        if _switches.setdefault(switch.name, switch) is not switch:
            raise ConfigError(f"Two preferences are named {switch.name!r}: rename the one of the ability.")


def switches() -> Mapping[str, Switch]:
    """Return the switches by name."""
    return _switches


def named_switch(word: str) -> str:
    """Return the name of the switch that a word means in any language, or the word itself."""
    meant = (switch.name for switch in _switches.values() if word.casefold() in (switch.name, *switch.words))
    return next(meant, word)
