"""What a worker has besides its stores, which an orchestrator's tools reach."""

from dataclasses import dataclass

from core.approvals.store import ApprovalStore
from core.outreach.outreach import Outreach
from core.triggers.engine import TriggerEngine
from onevalet.wiring.senses import Files


@dataclass(frozen=True, slots=True)
class Rooms:
    """What there is; None for what a worker does not have."""

    approvals: ApprovalStore | None = None
    engine: TriggerEngine | None = None
    files: Files | None = None
    outreach: Outreach | None = None
    brought: tuple[object, ...] = ()
    """What a program brings besides the plugins' modules."""
