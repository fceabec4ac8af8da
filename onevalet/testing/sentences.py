"""The sentences of a test's own package in another language, from the catalogues that it has as a plugin."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from core.language import catalogue

_SAYING = (catalogue.gettext, catalogue.ngettext, catalogue.gettext_noop)
_OURS = ("core", "onevalet")


@contextmanager
def speaking(tag: str | None) -> Iterator[None]:
    """Use a language, as a turn does in its person's; packages that are imported say it by their `locales`."""
    catalogue.add_catalogues_of(_packages())
    with catalogue.speaking(tag):
        yield


def _packages() -> list[ModuleType]:
    """Return the packages, and those around them, of which a module says sentences by `gettext`."""
    names = {name for name, module in list(sys.modules.items()) if _says(module)}
    around = {".".join(name.split(".")[:parts]) for name in names for parts in range(1, name.count(".") + 2)}
    return [sys.modules[name] for name in sorted(around) if name in sys.modules and name.split(".")[0] not in _OURS]


def _says(module: ModuleType) -> bool:
    return any(value is said for value in list(vars(module).values()) for said in _SAYING)
