"""The budget of a turn: money is reserved before a model call and settled after it.

A reservation has the key of its step, so that a take-over neither reserves twice nor pays twice.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from core.errors import OneValetError
from core.journal.types import StepKey
from core.llm.types import ModelRequest, TokenUsage
from core.people.access_policy import PersonRole


class OutOfMoney(OneValetError):
    """The cap is reached; the message is the sentence for the person.

    `more` is the amount to ask the person for, in dollars, so that the turn can go on.
    """

    def __init__(self, sentence: str, more: Decimal = Decimal(0)) -> None:
        super().__init__(sentence)
        self.more = more


@dataclass(frozen=True, slots=True)
class Payer:
    """The person who pays for a model call, and the turn that it is charged to."""

    tenant_id: str
    turn_id: str
    role: PersonRole = PersonRole.MEMBER
    tier: str | None = None
    timezone: str = "UTC"
    task_id: str | None = None
    """The task of the run: the run's cost counts as the task's, too."""


class TurnBudget(Protocol):
    """The budget of a turn."""

    async def reserve(self, key: StepKey, request: ModelRequest) -> None:
        """Reserve the possible cost of a call. Raises `OutOfMoney`. Idempotent."""
        ...

    async def allow(self, key: StepKey, more: Decimal) -> None:
        """Raise the turn's limit, as the person agreed at this step. Idempotent."""
        ...

    async def settle(self, key: StepKey, usage: TokenUsage) -> None:
        """Charge the call's cost, or its reservation if the price is unknown; at most once."""
        ...

    async def release(self, key: StepKey) -> None:
        """Release the reservation of a call that failed."""
        ...


class NoBudget:
    """A budget without a limit. Implements `TurnBudget`."""

    async def reserve(self, key: StepKey, request: ModelRequest) -> None: ...

    async def allow(self, key: StepKey, more: Decimal) -> None: ...

    async def settle(self, key: StepKey, usage: TokenUsage) -> None: ...

    async def release(self, key: StepKey) -> None: ...
