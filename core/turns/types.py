"""The request and the result of a turn: the border between the jobs and the orchestrator."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from typing import cast

from core.agents.pool_entry import PoolEntry
from core.approvals.types import Approval, NewApproval
from core.budgets.types import Payer
from core.hooks.hooks import Hook
from core.journal.types import Journal, StepKey, StepKind, StepRecord, StepState
from core.json_types import Json, JsonObject
from core.llm.types import ChatMessage, ModelAnswer, TokenUsage, ToolCall
from core.loop.control import TurnControl, TurnMessage
from core.messaging.messages import Media
from core.messaging.programs import CHANNEL
from core.messaging.states import IdentityState
from core.people.access_policy import Admission
from core.people.tenant import TurnTenant, WhileRunning
from core.questions.types import AskedOf
from core.tools.tool import NOTHING_DESCRIBED, Described
from core.turns.outage import ModelOutage
from core.turns.trigger_message import TriggerMessage


@dataclass(frozen=True, slots=True)
class TurnSender:
    """The identity that sent a turn's messages: its admission, and whether it said STOP."""

    account: str
    user_key: str
    state: IdentityState = IdentityState.ACTIVE
    admitted: Admission | None = Admission.OPEN


@dataclass(frozen=True, slots=True)
class TurnWork:
    """The work on a turn: its journal, and the news that reach it while it runs."""

    id: str
    journal: Journal
    _: KW_ONLY
    attempt: int = 1
    """Counts from 1; above it the journal may hold rows."""
    control: TurnControl | None = None
    while_running: WhileRunning = WhileRunning.STEER
    hooks: tuple[Hook, ...] = ()
    """For this turn only, in addition to the orchestrator's."""
    outage: ModelOutage | None = None
    """The turn's options while its model is down; None: fail."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place that a turn writes to, and its capabilities."""

    channel: str | None = None
    """The channel's name; None for a run without a conversation."""
    conversation_id: str | None = None
    """None for a run that belongs to no conversation."""
    _: KW_ONLY
    too_long: Callable[[NewApproval], bool] = lambda _: False
    """Tells whether a request for approval cannot be shown in full in this conversation."""
    has_buttons: bool = False
    """Whether the channel shows buttons: each question with choices is a message of its own there."""
    says_heard: bool = False
    """Whether the heard words of voice notes are said back."""


@dataclass(frozen=True, slots=True)
class FromPerson:
    """A turn that messages began, in order of receipt; `sender` is None if no channel brought them."""

    inbound: tuple[TurnMessage, ...] = ()
    sender: TurnSender | None = None


@dataclass(frozen=True, slots=True)
class FromTask:
    """A turn that is the run of a task, which also counts as the task's spending."""

    trigger: TriggerMessage | None = None
    """The trigger's message, never the person's words; None until its task is read."""
    task_id: str | None = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """A turn that waited, for a decision or an answer, and goes on; `first` is its origin."""

    step: int
    """The model answer whose calls waited."""
    first: FromPerson | FromTask
    passed_on: bool = False
    """Whether words of others came with the messages that it had."""


type Came = FromPerson | FromTask | Resumed
"""The origin of a turn."""


AMONG = "among"
"""The name under which an ability's `sql/open_turn.sql` brings {tools, note, words} with a turn in a group."""


@dataclass(frozen=True, slots=True)
class Among:
    """A turn's group, in which several people read: its only tools, a note for the model, members' words before."""

    tools: frozenset[str]
    note: str
    words: str

    @classmethod
    def from_json(cls, row: JsonObject) -> "Among":
        """Parse the ability's row."""
        return cls(frozenset(cast(list[str], row["tools"])), str(row["note"]), str(row.get("words") or ""))


@dataclass(frozen=True, slots=True)
class Kept:
    """The stored data of the person that is read with a turn."""

    history: tuple[ChatMessage, ...] = ()
    """The earlier messages, the oldest first."""
    pool: tuple[PoolEntry, ...] = ()
    """The agents that wait for this person, anywhere, and all of this turn's own; the oldest first."""
    approvals: tuple[Approval, ...] = ()
    """This turn's own approvals, and all that are pending for this person; the oldest first."""
    facts: tuple[str, ...] | None = None
    """The person's profile, a line for each entry; None if it was not read."""
    described: Described = NOTHING_DESCRIBED
    """The self-descriptions of the person's stored values."""
    brought: Mapping[str, Json] = field(default_factory=dict)
    """The results of the abilities' `sql/open_turn.sql`, read with the turn, by their names."""
    among: Among | None = None
    """The group of a turn; None for a turn of a person's own. Nobody is asked for consent in a group."""


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The call that a turn begins with: a task's or a command's agent, offered to the model or not, or `undo`."""

    call: ToolCall
    says_result: bool = False
    """The turn ends with the result of the call, without a model."""

    def step(self, tools_hash: str) -> StepRecord:
        """Return the record of a model answer that was never asked for."""
        result = ModelAnswer(tool_calls=(self.call,)).to_json()
        return StepRecord(StepKey(0, 0), StepKind.MODEL, "", StepState.DONE, tools_hash, result=result)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A turn to run: the work on it, the person, its place, its origin, and the data stored before."""

    work: TurnWork
    tenant: TurnTenant
    place: Place = field(default_factory=Place)
    came: Came = field(default_factory=FromPerson)
    kept: Kept = field(default_factory=Kept)
    starts: FirstCall | None = None

    @property
    def turn_id(self) -> str:
        """Return the turn's id."""
        return self.work.id

    @property
    def channel(self) -> str | None:
        """Return the name of the channel on which it answers."""
        return self.place.channel

    @property
    def first(self) -> FromPerson | FromTask:
        """Return the turn's origin, before it waited."""
        return self.came.first if isinstance(self.came, Resumed) else self.came

    @property
    def inbound(self) -> tuple[TurnMessage, ...]:
        """Return the messages that it answers, in order of receipt."""
        return self.first.inbound if isinstance(self.first, FromPerson) else ()

    @property
    def sender(self) -> TurnSender | None:
        """Return the sender; None for a run that no message began."""
        return self.first.sender if isinstance(self.first, FromPerson) else None

    @property
    def trigger(self) -> TriggerMessage | None:
        """Return the trigger's message of a run that no message began."""
        return self.first.trigger if isinstance(self.first, FromTask) else None

    @property
    def go_on_at(self) -> int | None:
        """Return the model answer at whose calls a turn that waited goes on."""
        return self.came.step if isinstance(self.came, Resumed) else None

    @property
    def by_client(self) -> bool:
        """Return whether a program of the person's sent it; a resumed turn has no message that shows it."""
        return self.channel == CHANNEL

    @property
    def passed_on(self) -> bool:
        """Return whether words of others came with its messages: passed on, pointed at, or written by a program."""
        waited = isinstance(self.came, Resumed) and self.came.passed_on
        return (
            self.by_client
            or waited
            or self.kept.among is not None
            or any(not message.is_own for message in self.inbound)
        )

    @property
    def payer(self) -> Payer:
        """Return for whom the turn's model calls are made."""
        tenant, first = self.tenant, self.first
        task_id = first.task_id if isinstance(first, FromTask) else None
        return Payer(tenant.id, self.work.id, tenant.role, tenant.tier, tenant.timezone, task_id)

    def began(self, first: FromPerson | FromTask) -> "TurnRequest":
        """Return the turn with another origin; a resumed turn stays resumed."""
        return replace(self, came=replace(self.came, first=first) if isinstance(self.came, Resumed) else first)

    def saying(self, inbound: Iterable[TurnMessage]) -> "TurnRequest":
        """Return the turn with these messages in place of its own."""
        return self.began(FromPerson(tuple(inbound), self.sender))

    def watched_by(self, *hooks: Hook) -> "TurnRequest":
        """Return the turn with further hooks of its own."""
        return replace(self, work=replace(self.work, hooks=(*self.work.hooks, *hooks)))


class TurnState(StrEnum):
    """The state of a turn."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    WAITING = "waiting"
    """Its agents wait for the person; it goes on at `TurnResult.waiting_step`."""
    POISON = "poison"
    """It was set aside, since processes died of it."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The result of a turn.

    Either `reply` is Markdown for the person, or it is empty and `reason` explains the silence. `reason` is also set
    for all but a plain answer (`model_down`, `context_overflow`, `max_turns`, …). `history` is to be appended to the
    conversation's: the inbound messages of this turn, unchanged, and all that followed.
    """

    state: TurnState
    reply: str = ""
    reason: str = ""
    history: tuple[ChatMessage, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    turns: int = 0
    """The number of its model answers."""
    absorbed: tuple[str, ...] = ()
    """Ids of inbound messages taken in while it ran."""
    pool: tuple[PoolEntry, ...] = ()
    """New and changed entries of the pool."""
    approvals: tuple[NewApproval, ...] = ()
    """The requests for the person's consent, each with a card of its own after the reply."""
    questions: tuple[AskedOf, ...] = ()
    """Questions with buttons, each with a message of its own after the reply."""
    waiting_step: int | None = None
    media: tuple[Media, ...] = ()
    """The files that go out with the reply."""
    joined: tuple[TurnMessage, ...] = ()
    """The messages that came while it ran, with their files."""
    noted: Mapping[str, Json] = field(default_factory=dict)
    """The abilities' notes about the turn, by their names: their `sql/finish_turn.sql` stores them."""


def check_turn(request: object) -> None:
    """Raise `TypeError` for an argument that is no turn, such as a plain text, and name the call to use instead."""
    if not isinstance(request, TurnRequest):
        raise TypeError(
            f"An Orchestrator takes a turn, not {type(request).__name__}: handle_message(new_turn(text, tenant)), with"
            " new_turn from onevalet; or let OneValet keep the conversation: OneValet.handle_message(text, tenant=...)."
        )
