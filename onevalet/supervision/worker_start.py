"""The start of a worker process by its supervisor."""

from collections.abc import Callable
from dataclasses import dataclass

from core.queue.quarantine import QuarantineMode
from onevalet.supervision.heartbeat import Heartbeat


@dataclass(frozen=True, slots=True)
class Dead:
    """A worker that has died. `hung_on` as in `TurnStore.end_leases`."""

    worker: str
    hung_on: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """The arguments of a worker's start.

    `dead`: workers whose leases it ends at once. `ask`: asks for a private process. `supervisor`: the pid of the
    parent, which watches the worker's `heartbeat`; the worker ends with it.
    """

    dead: tuple[Dead, ...] = ()
    quarantine: QuarantineMode = QuarantineMode.TAKE
    ask: Callable[[], None] | None = None
    supervisor: int = 0
    heartbeat: Heartbeat | None = None


ALONE = WorkerStart()
"""A worker without a supervisor."""
