"""A call that wants to run, and the answer of the consent gate: it may, it waits for the person, or it may not."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar

from core.approvals.consent import ConsentTo
from core.consents.shape import Target
from core.consents.types import ConsentUse
from core.hooks.hooks import HookContext, PlannedCall
from core.journal.types import Effect, Outcome
from core.tools.tool import Risk


@dataclass(frozen=True, slots=True)
class GatedCall:
    """A call that wants to run. The journal knows the call by `arguments_hash`.

    `consent_to` returns the question for the person, from the call, the risk and a note with the reason; None if only a
    rule's denial counts.
    """

    where: HookContext
    planned: PlannedCall
    effect: Effect
    arguments_hash: str
    consent_to: Callable[[PlannedCall, Risk, str], ConsentTo] | None
    needs_approval: bool = False
    why: str = ""
    """The reason to ask for consent although it usually is not needed."""
    target: Target | None = None
    """The target by which standing consents know the call; None if none may cover it."""
    tainted: bool = False
    """Whether the model may have read others' words before it made the call."""
    clear: "Callable[[PlannedCall], Awaitable[PlannedCall | Waiting | Refused]] | None" = None
    """Returns the call with its account, or why it waits or is refused; called after the rules, before consent."""


@dataclass(frozen=True, slots=True)
class Granted:
    """A call that may run as `planned`. `call_id` is None if no consent was needed.

    `changed` describes the person's changes to the model; empty without any.
    """

    planned: PlannedCall
    call_id: str | None = None
    changed: str = ""
    use: ConsentUse | None = None
    """The use of the standing consent by which it runs."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits for the person's decision."""

    outcome: ClassVar[Outcome] = Outcome.WAITING
    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that may not run; the model reads `text`."""

    outcome: ClassVar[Outcome] = Outcome.REFUSED
    text: str


type Passage = Granted | Waiting | Refused
