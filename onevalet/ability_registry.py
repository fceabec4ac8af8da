"""The abilities of this installation: those whose folders are there, and the packages that the operator named besides.

Nothing else says which there are. They are known before the settings, of which their own are a part.
"""

import importlib
import pkgutil
import traceback
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

from core.errors import ConfigError
from onevalet.ability import Ability
from onevalet.environment import named_plugins

PACKAGE = "abilities"


@cache
def all_abilities() -> tuple[Ability, ...]:
    """Return the abilities of this installation in order of their needs, without those whose needs are missing.

    Raises `ConfigError` for an operator's package without a valid declaration.
    """
    return in_order((*declared_abilities(), *_brought().values()))


def declared_abilities() -> tuple[Ability, ...]:
    """Return the declarations in the folders of `abilities`."""
    folders = importlib.import_module(PACKAGE).__path__
    return tuple(
        _declared(f"{PACKAGE}.{name}")
        for name in sorted(found.name for found in pkgutil.iter_modules(folders) if found.ispkg)
    )


def ability_of(package: str) -> Ability | None:
    """Return the ability in an operator's package; None if the package has only tools and agents.

    Raises `ConfigError` if the ability was unknown when the process began.
    """
    if (found := _brought().get(package)) is None and _folder(package) is not None:
        raise ConfigError(f"{package} is an ability: name it in ONEVALET_PLUGINS in the environment, or in .env.")
    return found


def is_shipped(ability: Ability) -> bool:
    """Return whether an ability ships in `abilities`."""
    return ability not in _brought().values()


def folder_of(ability: Ability) -> Path:
    """Return the folder of an ability."""
    for package, brought in _brought().items():
        if brought is ability and (folder := _folder(package)) is not None:
            return folder
    return Path(next(iter(importlib.import_module(PACKAGE).__path__))) / ability.name


def in_order(declared: Iterable[Ability]) -> tuple[Ability, ...]:
    """Return abilities in order of their needs, without those whose needs are missing.

    Raises `graphlib.CycleError` if they need one another.
    """
    by_name = {ability.name: ability for ability in declared}
    order = TopologicalSorter({name: sorted(ability.needs) for name, ability in by_name.items()}).static_order()
    found: dict[str, Ability] = {}
    for name in order:
        if name in by_name and found.keys() >= set(by_name[name].needs):
            found[name] = by_name[name]
    return tuple(found.values())


def _declared(package: str) -> Ability:
    ability = importlib.import_module(f"{package}.ability").ABILITY
    name = package.rpartition(".")[2]
    if not isinstance(ability, Ability) or ability.name != name:
        raise TypeError(f"{package.replace('.', '/')}/ability.py must declare ABILITY, an Ability named {name!r}")
    return ability


@cache
def _brought() -> Mapping[str, Ability]:
    """Return the abilities among the operator's packages, by package."""
    found: dict[str, Ability] = {}
    for package in named_plugins():
        if (folder := _folder(package)) is None:
            continue
        try:
            found[package] = _declared(package)
        except ConfigError:
            raise
        except Exception as error:  # it may raise anything while it is imported: name it, with its place
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(folder) in frame.filename]
            place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(folder / "ability.py")
            raise ConfigError(f"{place}: {type(error).__name__}: {error}.") from error
    ours = {path.name for path in Path(next(iter(importlib.import_module(PACKAGE).__path__))).iterdir()}
    for package, ability in found.items():
        if ability.name in ours:
            raise ConfigError(f"{package} has the name of an ability that ships: rename its folder.")
    return found


def _folder(package: str) -> Path | None:
    """Return the folder of a package that declares an ability, without importing the package; None for any other."""
    top, *below = package.split(".")
    spec = find_spec(top)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place, *below)
        if (folder / "ability.py").is_file():
            return folder
    return None
