"""What the parts of one run of the loop share."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.approvals.requests import ApprovalRequests
from core.budgets.types import TurnBudget
from core.hooks.hooks import HookContext, Hooks
from core.journal.types import Journal, StepKey, StepRecord
from core.loop.account_check import TurnAccounts
from core.loop.attached import TurnFiles
from core.loop.config import ReactLoopConfig
from core.loop.outside import OutsideText


@dataclass(frozen=True, slots=True)
class TurnScope:
    """What a run of the loop is bound to. `recorded` is what the journal held when the run began."""

    where: HookContext
    journal: Journal
    recorded: Mapping[StepKey, StepRecord]
    hooks: Hooks
    budget: TurnBudget
    approval_requests: ApprovalRequests | None
    config: ReactLoopConfig
    outside: OutsideText
    files: TurnFiles
    accounts: TurnAccounts

    @property
    def pending_approvals(self) -> tuple[str, ...]:
        return self.approval_requests.pending if self.approval_requests else ()
