"""A person's part in a shared home, for abilities that keep something for all its members.

An ability offers `Sharing` as its service; without one, nobody shares anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from core.tools.context import TenantStorage


@dataclass(frozen=True, slots=True)
class Companion:
    """Somebody with whom a person shares. `id` is their tenant, `name` as others see it.

    `calendar`: how much of their calendars they show: `busy`, `titles` or nothing.
    """

    id: str
    name: str
    child: bool = False
    calendar: str = ""


@dataclass(frozen=True, slots=True)
class SharedHome:
    """A home that people share: its tenant and its name. `own_name`: the person's name, as the others see it.

    `child`: the person is a child in it.
    """

    id: str
    name: str
    others: tuple[Companion, ...] = ()
    own_name: str = ""
    child: bool = False


class Sharing(Protocol):
    """Access to the home that a person shares with others."""

    async def home(self) -> SharedHome | None:
        """Return the person's shared home; None for a person who shares nothing."""
        ...

    @property
    def storage(self) -> TenantStorage:
        """Return the values that all of them read and write: none for a person who shares nothing.

        To write there, a person must be in it at the commit: `core.errors.ToolFailed` otherwise.
        """
        ...


def sharing_among(services: Mapping[type, object]) -> Sharing | None:
    """Return the service of a turn by which its person shares; None without such an ability."""
    return cast("Sharing | None", services.get(Sharing))
