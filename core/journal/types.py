"""The journal of a turn: what was said and done, so that another worker can finish it (promise 5).

A row per step, keyed (step, call_index, agent_path) inside one turn:

    step        the model's answers of the turn, counted from 0
    call_index  0 is the model's answer; 1, 2 … its calls in order, and after them what a judge found in
                them; below 0 what came in just before the answer
    agent_path  empty for the orchestrator's own loop; "2.1/EmailAgent" inside an agent-tool

A turn taken over reads `recorded()` once and replays: a done row is never done again. A started row without
its end follows the tool's effect: `read` runs again, `idempotent` again with the same key, `once` does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from core.journal.prompts import SentPrompt
from core.json_types import JsonObject
from core.llm.types import TokenUsage


class StepKind(StrEnum):
    """What a step is."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    STEER = "steer"
    """Messages of the person that came in while the turn ran and that the model was told of."""
    JUDGE = "judge"
    """What a judge found in what came before; `name` is its finding, `result` {"advice": what the model is told}."""


class StepState(StrEnum):
    """How far a step came."""

    STARTED = "started"
    DONE = "done"


class Effect(StrEnum):
    """What a tool does to the world, hence what may happen to a call that started and has no end."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    ONCE = "once"


class Outcome(StrEnum):
    """How a done step ended."""

    OK = "ok"
    ERROR = "error"
    """It failed, and the model was told why."""
    UNKNOWN = "unknown"
    """It started and may have taken effect; the same arguments are then refused without approval."""
    REFUSED = "refused"
    """It was not allowed to start."""
    WAITING = "waiting"
    """It waits for a person; never journalled, so that the call is entered again when the turn goes on."""
    HANDED_OVER = "handed_over"
    """A waiting turn goes on with it, and will say what there is to say."""


@dataclass(frozen=True, slots=True)
class StepKey:
    """Which step of the turn."""

    step: int
    call_index: int
    agent_path: str = ""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One row of the journal.

    `name` is the tool's or the model's; `arguments_hash` the canonical hash of a call's arguments, or of the
    tools that a model was offered. `result` is the model's answer (`ModelAnswer.to_json`), or of a call
    {"text": what the model is told, "chars": length before truncation}. `idempotency_key` is what the tool
    got. `prompt` is what a model was sent: written with its answer, never read back.
    """

    key: StepKey
    kind: StepKind
    name: str
    state: StepState
    arguments_hash: str = ""
    effect: Effect = Effect.READ
    outcome: Outcome = Outcome.OK
    result: JsonObject = field(default_factory=dict)
    usage: TokenUsage = field(default_factory=TokenUsage)
    duration_ms: int = 0
    idempotency_key: str = ""
    prompt: SentPrompt | None = field(default=None, compare=False, repr=False)

    def ended(self, outcome: Outcome, result: JsonObject, duration_ms: int) -> "StepRecord":
        """Return the row of the same step with what became of it; each call makes one: no `dataclasses.replace`."""
        return StepRecord(
            self.key,
            self.kind,
            self.name,
            self.state,
            self.arguments_hash,
            self.effect,
            outcome,
            result,
            self.usage,
            duration_ms,
            self.idempotency_key,
        )


class Journal(Protocol):
    """Where the loop of one turn writes what it did. Safe to call concurrently."""

    async def recorded(self) -> Sequence[StepRecord]:
        """Return every row of this turn, by key."""
        ...

    async def write(self, record: StepRecord) -> None:
        """Store a row under its key; it is committed when this returns.

        Repeating it changes nothing; a started row never replaces a done one. Raises `LeaseLost` when another
        worker has the turn by now: the loop then stops and does nothing more.
        """
        ...

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        """Return whether this tenant has a call of this tool with these arguments whose outcome is unknown.

        That covers earlier turns too, as far as the store keeps them; a later OK for the same call ends it.
        """
        ...
