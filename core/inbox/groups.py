"""Groups at the door: abilities that take part in groups receive the messages and events there."""

from collections.abc import Awaitable, Callable, Iterable

from core.db.database import Database
from core.ids import IdMaker
from core.messaging.channels import Received
from core.messaging.messages import IgnoredMessage
from core.people.access_policy import Access
from core.queue.wakeups import Wakeups

type TakeInGroup = Callable[[Database, Wakeups, IdMaker, Access, IgnoredMessage], Awaitable[Received | None]]
"""Takes an event in a group, and returns the result; None for a group in which the ability takes no part."""

_of_abilities: list[TakeInGroup] = []


def use_groups(takers: Iterable[TakeInGroup]) -> None:
    """Register the takers of the abilities, in place of any earlier takers."""
    _of_abilities[:] = takers


def takers_in_groups() -> tuple[TakeInGroup, ...]:
    """Return the registered takers."""
    return tuple(_of_abilities)
