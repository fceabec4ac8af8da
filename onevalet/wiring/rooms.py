"""What a worker has besides its stores, which an orchestrator's tools reach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.approvals.store import ApprovalStore
from core.messaging.channels import NotificationChannel
from core.tools.tool import ToolSource
from core.turns.services import ForTurn, Notify, TaskEngine
from onevalet.wiring.senses import Files


@dataclass(frozen=True, slots=True)
class Rooms:
    """What there is; None for what a worker does not have."""

    approvals: ApprovalStore | None = None
    engine: TaskEngine | None = None
    files: Files | None = None
    channels: Mapping[str, NotificationChannel] = field(default_factory=dict)
    """The ways out that are on, by name."""
    notify: Notify | None = None
    brought: tuple[object, ...] = ()
    """What a program brings besides the plugins' modules."""
    sources: Sequence[ToolSource] = ()
    """What brings further tools, which abilities open."""
    prefixes: Sequence[str] = ()
    """What the names of their tools begin with."""
    services: Mapping[type, ForTurn] = field(default_factory=dict)
    """What abilities bring for tools."""
