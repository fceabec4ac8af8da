"""What a turn is given and what it gives back: the border between the jobs and the orchestrator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.agents.pool_entry import PoolEntry
from core.approvals.cards import Card
from core.approvals.types import Approval, NewApproval
from core.budgets.types import Payer
from core.hooks.hooks import Hook
from core.journal.types import Journal
from core.llm.types import ChatMessage, TokenUsage, ToolCall
from core.loop.control import TurnControl, TurnMessage
from core.messaging.messages import Address, Command, Media, OutboundMessage
from core.messaging.programs import CHANNEL
from core.messaging.states import IdentityState
from core.people.access_policy import Admission
from core.people.tenant import TurnTenant, WhileRunning
from core.questions.types import AskedOf
from core.questions.wording import QuestionCard
from core.tools.tool import NOTHING_DESCRIBED, Described
from core.turns.outage import ModelOutage
from core.turns.runs import RunNote
from core.turns.trigger_message import TriggerMessage


@dataclass(frozen=True, slots=True)
class TurnSender:
    """The identity that a turn's messages came from: how it was let in, and whether it said STOP."""

    account: str
    user_key: str
    state: IdentityState = IdentityState.ACTIVE
    admitted: Admission | None = Admission.OPEN


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn to run; `history` is what was said before, oldest first.

    `inbound` is in order of receipt. `attempt` counts from 1; above it the journal may hold rows. `hooks` are for
    this turn only, in addition to the orchestrator's.
    """

    turn_id: str
    tenant: TurnTenant
    channel: str | None
    """The channel's name; None for a run without a conversation."""
    inbound: tuple[TurnMessage, ...]
    journal: Journal
    history: tuple[ChatMessage, ...] = ()
    attempt: int = 1
    control: TurnControl | None = None
    sender: TurnSender | None = None
    """None for a run that no message began."""
    while_running: WhileRunning = WhileRunning.STEER
    hooks: tuple[Hook, ...] = ()
    conversation_id: str | None = None
    """None for a run that belongs to no conversation."""
    pool: tuple[PoolEntry, ...] = ()
    """The agents that wait for this person, anywhere, and all of this turn's own; the oldest first."""
    approvals: tuple[Approval, ...] = ()
    """This turn's own approvals, and all that are pending for this person; the oldest first."""
    go_on_at: int | None = None
    """For a turn that waited: the model answer whose calls waited. It has no inbound then."""
    was_passed_on: bool = False
    """For a turn that waited: whether words of others came with the messages that it had."""
    starts: ToolCall | None = None
    """The call that this turn begins with: of a task's or a command's agent, offered to the model or not, or `undo`."""
    says_result: bool = False
    """The turn ends with the result of the call that it begins with: no model is asked."""
    too_long: Callable[[NewApproval], bool] = lambda _: False
    """Tells whether a request for approval cannot be shown in full in this conversation."""
    has_buttons: bool = False
    """Whether the conversation's channel shows buttons: each question with choices is a message of its own there."""
    says_heard: bool = False
    """Whether there is room to say back what was heard in voice notes."""
    joined: list[TurnMessage] = field(default_factory=list)
    """The messages that came while it ran, with their files."""
    trigger: TriggerMessage | None = None
    """What began a run that no message began; never the person's words."""
    outage: ModelOutage | None = None
    """What it may do while its model is down; None: fail."""
    known: tuple[str, ...] | None = None
    """What the person's profile holds, a line each; None where nobody has read it yet."""
    described: Described = NOTHING_DESCRIBED
    """What was read with the turn of the person's stored values."""
    task_id: str | None = None
    """The task whose run this is: what it spends counts as the task's, too."""

    @property
    def by_client(self) -> bool:
        """Return whether a program of the person's asks. A turn that waited and goes on has no message that tells."""
        return self.channel == CHANNEL

    @property
    def passed_on(self) -> bool:
        """Return whether words of others came with its messages: passed on, pointed at, or written by a program."""
        return self.by_client or self.was_passed_on or any(not message.is_own for message in self.inbound)

    @property
    def payer(self) -> Payer:
        """Return for whom the turn's model calls are made."""
        tenant = self.tenant
        return Payer(tenant.id, self.turn_id, tenant.role, tenant.tier, tenant.timezone, self.task_id)


class TurnState(StrEnum):
    """How a turn stands, or how it ended."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    WAITING = "waiting"
    """Agents of it wait for the person; it goes on at `TurnResult.waiting_step`."""
    POISON = "poison"
    """It was set aside, since processes died of it."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What became of a turn.

    Either `reply` is Markdown for the person, or it is empty and `reason` says why nothing is said. `reason`
    is also set for all but a plain answer (`model_down`, `context_overflow`, `max_turns`, …). `history` is to be
    appended to the conversation's: the inbound messages of this turn, unchanged, and all that followed.
    """

    state: TurnState
    reply: str = ""
    reason: str = ""
    history: tuple[ChatMessage, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    turns: int = 0
    """How many model answers it took."""
    absorbed: tuple[str, ...] = ()
    """Ids of inbound messages taken in while it ran."""
    pool: tuple[PoolEntry, ...] = ()
    """New and changed entries of the pool."""
    approvals: tuple[NewApproval, ...] = ()
    """What the person is asked to consent to, each with a card of its own after the reply."""
    questions: tuple[AskedOf, ...] = ()
    """Questions with buttons, each with a message of its own after the reply."""
    waiting_step: int | None = None
    media: tuple[Media, ...] = ()
    """The files that go out with the reply."""


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """A turn that is ours to run. `attempts` above 1: earlier workers died while they had it."""

    turn_id: str
    attempts: int
    address: Address
    request: TurnRequest
    command: Command | None
    newest_message: str | None = None
    """The provider's id of the last message that it took in at its beginning."""
    run_id: str | None = None
    """The run of a task whose turn it is."""
    crashes: int = 0
    """How many processes crashed while it ran there."""
    solo_crashes: int = 0
    """How many crashed at the place where it is, and it ran there alone."""
    quarantined: bool = False
    """Whether it runs alone, as it has crashed twice at one place, or too often."""
    traceparent: str | None = None
    """The context of the span in which its first message came in, or in which its run was started."""
    linked: tuple[str, ...] = ()
    """Those of the other messages that it took in."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """All that a turn leaves behind.

    A `run` has neither history nor outbound of a conversation: it is noted instead how it stands. `cards_in`: the other
    conversation to which the cards go, to be held there with `hold_cards` until somebody lets them go, and `told`.
    """

    state: TurnState
    reason: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    history: Sequence[ChatMessage] = ()
    outbound: Sequence[OutboundMessage] = ()
    absorbed: Sequence[str] = ()
    new_session: bool = False
    pool: Sequence[PoolEntry] = ()
    waiting_step: int | None = None
    run: RunNote | None = None
    cards: Sequence[Card] = ()
    questions: Sequence[QuestionCard] = ()
    cards_in: str | None = None
    told: Sequence[OutboundMessage] = ()
    hold_cards: bool = False
