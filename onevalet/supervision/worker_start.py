"""One life of a worker process, as its keeper begins it."""

from collections.abc import Callable
from dataclasses import dataclass

from core.queue.quarantine import Suspects
from onevalet.supervision.heartbeat import Heartbeat


@dataclass(frozen=True, slots=True)
class Dead:
    """A worker that is known to have died. `hung_on` as in `TurnStore.end_leases`."""

    worker: str
    hung_on: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """What a worker is told when it begins.

    `dead`: what these held is taken over at once. `ask`: asks for a process for suspects. `keeper`: the process that
    began this one, without which it ends; it watches the `heartbeat`.
    """

    dead: tuple[Dead, ...] = ()
    suspects: Suspects = Suspects.HERE
    ask: Callable[[], None] | None = None
    keeper: int = 0
    heartbeat: Heartbeat | None = None


ALONE = WorkerStart()
"""A worker without a keeper."""
