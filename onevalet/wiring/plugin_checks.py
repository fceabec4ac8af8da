"""Checks of plugins' classes against their base classes: a mistake is reported at start, in a sentence.

Otherwise a hook with a misspelt parameter fails in each turn, and a rule without an instance guards nothing.
"""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import onevalet
from core.errors import ConfigError
from core.tools.tool import place_of


def check_methods(kind: type, base: type) -> None:
    """Raise `ConfigError` if a class overrides a method of `base` with an incompatible signature."""
    for name, method in inspect.getmembers(base, inspect.isfunction):
        own = inspect.getattr_static(kind, name)
        if name.startswith("_") or own is inspect.getattr_static(base, name):
            continue
        if not inspect.isfunction(own):
            raise ConfigError(f"{_called(kind)}: {name} is no method; write `{_head(method)}`.")
        if inspect.iscoroutinefunction(method) != inspect.iscoroutinefunction(own):
            asks = "must be async" if inspect.iscoroutinefunction(method) else "must not be async"
            raise ConfigError(f"{place_of(own)}: {_called(kind)}.{name} {asks}; write `{_head(method)}`.")
        given = [parameter.name for parameter in inspect.signature(method).parameters.values()]
        try:
            inspect.signature(own).bind(*given)
        except TypeError as error:
            raise ConfigError(
                f"{place_of(own)}: {_called(kind)}.{name} takes other parameters; write `{_head(method)}`."
            ) from error


def check_overridden(kind: type, base: type, name: str) -> None:
    """Raise `ConfigError` if a class does not override the method that does its work."""
    if inspect.getattr_static(kind, name) is inspect.getattr_static(base, name):
        raise ConfigError(f"{_called(kind)} has no {name}; write `{_head(getattr(base, name))}`.")


def check_instances(values: Sequence[object], base: type) -> None:
    """Raise `ConfigError` for a plugin's class that works only by its instances, and has none.

    Base, private and abstract classes need no instance.
    """
    kinds = [value for value in values if isinstance(value, type) and issubclass(value, base)]
    made = tuple(type(value) for value in values if isinstance(value, base))
    for kind in dict.fromkeys(kinds):
        ours = kind.__module__.partition(".")[0] in ("core", "onevalet")
        if ours or kind.__name__.startswith("_") or inspect.isabstract(kind):
            continue
        if not any(issubclass(one, kind) for one in (*made, *(other for other in kinds if other is not kind))):
            name = kind.__name__
            raise ConfigError(
                f"{_called(kind)} is not used: its module has no instance; write `{_small(name)} = {name}()`."
            )


def made_of[Kind](kind: type[Kind], *given: Any) -> Kind:
    """Return an instance of a plugin's class. Raises `ConfigError` if it cannot be created."""
    try:
        return kind(*given)
    except ConfigError:
        raise
    except Exception as error:  # a plugin may raise anything; the error names its class for the author
        raise ConfigError(f"{_called(kind)} cannot be made: {type(error).__name__}: {error}.") from error


def only_kinds[Kind](values: Iterable[object], base: type[Kind]) -> list[type[Kind]]:
    """Return the subclasses of `base` among values, each once, and not those that are there to be built on."""
    kinds = [value for value in values if isinstance(value, type) and issubclass(value, base)]
    public = set(onevalet.homes().values())
    return [
        kind
        for kind in dict.fromkeys(kinds)
        if kind.__module__ not in public and not kind.__module__.startswith("core.")
    ]


@dataclass(frozen=True, slots=True)
class FoundClasses:
    """The values in the modules of plugins. Implements `onevalet.ability.PluginClasses`."""

    values: Sequence[object] = ()

    def of[Kind](self, base: type[Kind], does: str = "") -> list[type[Kind]]:
        """Return the subclasses of a base; raise `ConfigError` for a wrong class. `does`: the method to override."""
        kinds = only_kinds(self.values, base)
        for kind in kinds:
            check_methods(kind, base)
            if does:
                check_overridden(kind, base, does)
        return kinds

    def make[Kind](self, kind: type[Kind]) -> Kind:
        """Return an instance of a class. Raises `ConfigError` if it cannot be created."""
        return made_of(kind)


def _called(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _head(method: Any) -> str:
    """Return the first line of a method as an author would write it, without annotations."""
    names = ", ".join(inspect.signature(method).parameters)
    return f"{'async ' if inspect.iscoroutinefunction(method) else ''}def {method.__name__}({names})"


def _small(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() and at else char.lower() for at, char in enumerate(name))
