"""One life of a worker process, as its keeper begins it."""

from collections.abc import Callable
from dataclasses import dataclass

from core.suspects import Suspects


@dataclass(frozen=True, slots=True)
class Life:
    """What a worker is told when it begins.

    `dead`: workers that are known to have died; what they held is taken over at once. `ask`: asks for a process for
    suspects.
    """

    dead: tuple[str, ...] = ()
    suspects: Suspects = Suspects.HERE
    ask: Callable[[], None] | None = None


ALONE = Life()
"""A worker without a keeper."""
