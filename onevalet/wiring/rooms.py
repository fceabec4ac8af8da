"""The parts of a worker besides its stores, for an orchestrator's tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.approvals.store import ApprovalStore
from core.messaging.channels import NotificationChannel
from core.tools.tool import ToolSource
from core.turns.services import ForTurn, Notify, TaskEngine
from onevalet.wiring.senses import Files


@dataclass(frozen=True, slots=True)
class Rooms:
    """The parts of a worker; None for a part that it does not have."""

    approvals: ApprovalStore | None = None
    engine: TaskEngine | None = None
    files: Files | None = None
    channels: Mapping[str, NotificationChannel] = field(default_factory=dict)
    """The ways out that are on, by name."""
    notify: Notify | None = None
    brought: tuple[object, ...] = ()
    """A program's own values besides the plugins' modules."""
    sources: Sequence[ToolSource] = ()
    """Sources of further tools, opened by abilities."""
    prefixes: Sequence[str] = ()
    """The prefixes of their tools' names."""
    services: Mapping[type, ForTurn] = field(default_factory=dict)
    """Services of abilities for tools."""
