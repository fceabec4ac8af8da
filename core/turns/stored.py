"""A turn as the store hands it to a worker, and as the worker ends it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from core import tracing
from core.agents.pool_entry import PoolEntry
from core.approvals.cards import Card
from core.json_types import Json, JsonObject
from core.llm.types import ChatMessage, TokenUsage
from core.messaging.messages import Address, Command, OutboundMessage
from core.questions.wording import QuestionCard
from core.turns.runs import RunNote
from core.turns.types import TurnRequest, TurnResult, TurnState


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
    """The number of processes that crashed while it ran there."""
    solo_crashes: int = 0
    """The number of processes that crashed at its present place while it ran there alone."""
    quarantined: bool = False
    """Whether it runs alone, since it has crashed twice at one place, or too often."""
    traceparent: str | None = None
    """The context of the span in which its first message came in, or in which its run was started."""
    linked: tuple[str, ...] = ()
    """Those of the other messages that it took in."""


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """A turn's result, and the values that are stored with it. `note` is set for the turn of a task's run.

    `new_session`: the history before it is hidden from the model.
    """

    result: TurnResult
    note: RunNote | None = None
    new_session: bool = False


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The results of a turn that are stored at its end.

    A `run` has neither history nor outbound of a conversation: its state is noted instead. `cards_in`: the other
    conversation to which the cards go, to be held there with `hold_cards` until they are released, and `told`.
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
    noted: Mapping[str, Json] = field(default_factory=dict)

    def statement(
        self, lane: tuple[str, str, int], turn_id: str, steps: Sequence[JsonObject]
    ) -> tuple[str, tuple[object, ...]]:
        """Return the statement that stores it with a turn's last steps, and its arguments. `lane`: with its fence."""
        noted = ", close_steps($1,$4)" if self.state in (TurnState.FAILED, TurnState.POISON) else ""
        rows = [card.to_json() | {"held": self.hold_cards} for card in self.cards]
        asked = [card.to_json() for card in self.questions]
        more: tuple[object, ...] = ()
        if self.run:
            noted += ", note_run($1,$4,$6), enqueue($1,$7,$4,$8)"
            more = (self.run.to_json(), self.cards_in, rows)
        elif self.cards_in:
            noted += ", enqueue($1,$6,$4,$7)"
            more = (self.cards_in, [*(asdict(message) for message in self.told), *rows])
        results = {
            "state": self.state.value,
            "reason": self.reason,
            "usage": self.usage.to_json(),
            "history": [message.to_json() for message in self.history],
            "absorbed": list(self.absorbed),
            "new_session": self.new_session,
            "pool": [entry.to_json() for entry in self.pool],
            "waiting_step": self.waiting_step,
            "noted": dict(self.noted),
            "steps": list(steps) or None,
            "outbound": [*(asdict(message) for message in self.outbound), *asked, *([] if more else rows)],
            **tracing.carried(),
        }
        return f"select finish_turn($1,$2,$3,$4,$5) as more{noted}", (*lane, turn_id, results, *more)
