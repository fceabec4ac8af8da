"""The abilities of this installation: those whose folders are there. Nothing else says which there are."""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from onevalet.ability import Ability

PACKAGE = "abilities"


@cache
def all_abilities() -> tuple[Ability, ...]:
    """Return the abilities of this installation, each after those that it needs; one that lacks another is left out."""
    return in_order(declared_abilities())


def declared_abilities() -> tuple[Ability, ...]:
    """Return what the folders of `abilities` declare."""
    folders = importlib.import_module(PACKAGE).__path__
    return tuple(
        _declared(name) for name in sorted(found.name for found in pkgutil.iter_modules(folders) if found.ispkg)
    )


def folder_of(ability: Ability) -> Path:
    """Return the folder of an ability."""
    return Path(next(iter(importlib.import_module(PACKAGE).__path__))) / ability.name


def in_order(declared: Iterable[Ability]) -> tuple[Ability, ...]:
    """Return abilities, each after those that it needs, without those that lack one.

    Raises `graphlib.CycleError` if they need one another.
    """
    by_name = {ability.name: ability for ability in declared}
    order = TopologicalSorter({name: sorted(ability.needs) for name, ability in by_name.items()}).static_order()
    found: dict[str, Ability] = {}
    for name in order:
        if name in by_name and found.keys() >= set(by_name[name].needs):
            found[name] = by_name[name]
    return tuple(found.values())


def _declared(name: str) -> Ability:
    ability = importlib.import_module(f"{PACKAGE}.{name}.ability").ABILITY
    if not isinstance(ability, Ability) or ability.name != name:
        raise TypeError(f"{PACKAGE}/{name}/ability.py must declare ABILITY, an Ability named {name!r}")
    return ability
