"""The journal of a turn: its answers and calls, so that another worker can finish it (promise 5).

A row per step, keyed (step, call_index, agent_path) inside a turn:

    step        the model's answers of the turn, counted from 0
    call_index  0 is the model's answer; 1, 2 … its calls in order, and after them a judge's findings about
                them; below 0 messages that came in just before the answer
    agent_path  empty for the orchestrator's own loop; "2.1/EmailAgent" inside an agent-tool

A turn taken over reads `recorded()` once and replays: a done row is never done again. A started row without
its end follows the tool's effect: `read` runs again, `idempotent` again with the same key, `once` does not. A result
that was only read and an answer without calls are written with the next row, or with the turn's end: if the worker
dies before that, they are read and asked for again.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self, cast

from core.journal.prompts import SentPrompt
from core.json_types import JsonObject
from core.llm.types import TokenUsage

if TYPE_CHECKING:
    import asyncpg


class StepKind(StrEnum):
    """The kind of a step."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    STEER = "steer"
    """Messages of the person that came in while the turn ran and that the model was shown."""
    JUDGE = "judge"
    """A judge's finding about earlier steps; `name` is the finding, `result` {"advice": the text for the model}."""


class StepState(StrEnum):
    """The progress of a step."""

    STARTED = "started"
    DONE = "done"


class Effect(StrEnum):
    """A tool's effect on the world, which decides whether a call that started and has no end may be repeated."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    ONCE = "once"


class Outcome(StrEnum):
    """The outcome of a done step."""

    OK = "ok"
    ERROR = "error"
    """It failed, and the model was given the reason."""
    UNKNOWN = "unknown"
    """It started and may have taken effect; the same arguments are then refused without approval."""
    REFUSED = "refused"
    """It was not allowed to start."""
    WAITING = "waiting"
    """It waits for a person; never journalled, so that the call is entered again when the turn goes on."""
    HANDED_OVER = "handed_over"
    """A waiting turn goes on with it, and will reply itself."""


@dataclass(frozen=True, slots=True)
class StepKey:
    """The key of a row within its turn."""

    step: int
    call_index: int
    agent_path: str = ""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A row of the journal.

    `name` is the tool's or the model's; `arguments_hash` the canonical hash of a call's arguments, or of the
    tools that a model was offered. `result` is the model's answer (`ModelAnswer.to_json`), or of a call
    {"text": the tool result for the model, "chars": its length before truncation}. `idempotency_key` is the
    key that the tool got. `prompt` is the prompt of a model call: written with its answer, never read back.
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
    may_wait: bool = field(default=False, compare=False, repr=False)
    """Whether it may be written with the next row: a step that is lost before that is taken again, and harms nobody."""

    @classmethod
    def from_row(cls, row: "asyncpg.Record") -> Self:
        """Return the row that was stored."""
        return cls(
            StepKey(row["step"], row["call_index"], row["agent_path"]),
            StepKind(row["kind"]),
            row["name"],
            StepState(row["state"]),
            arguments_hash=row["args_hash"],
            effect=Effect(row["effect"]),
            outcome=Outcome(row["outcome"]),
            result=cast(JsonObject, row["result"]),
            usage=TokenUsage.from_json(row["usage"]),
            duration_ms=row["duration_ms"],
            idempotency_key=row["idempotency_key"],
        )


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run turns on a lane until it is lost: every write carries the fence.

    `opened`: the turn that was begun with the claim, as `open_turn` returns it.
    """

    tenant_id: str
    lane_id: str
    fence: int
    owner: str
    opened: "asyncpg.Record | None" = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TurnNews:
    """News for a running turn: its person's stop, and their further messages, for `TurnMessage.from_json`.

    `halted`: all work is halted.
    """

    stop: str | None = None
    waiting: Sequence[JsonObject] = ()
    halted: bool = False
    heard_at: float = field(default_factory=time.monotonic)


class Journal(Protocol):
    """The journal that the loop of a turn writes. Safe to call concurrently."""

    async def recorded(self) -> Sequence[StepRecord]:
        """Return every row of this turn, by key."""
        ...

    async def write(self, *records: StepRecord) -> None:
        """Store rows under their keys; they are committed when this returns, or with the next if all may wait.

        Repeating it changes nothing; a started row never replaces a done row. Raises `LeaseLost` if another
        worker has the turn by now: the loop then stops and does nothing more.
        """
        ...

    async def flush(self) -> None:
        """Store the rows that wait."""
        ...

    def waiting(self) -> Sequence[JsonObject]:
        """Return the rows that wait, for the write that ends the turn."""
        ...

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        """Return whether this tenant has a call of this tool, with these arguments, of unknown outcome.

        That covers earlier turns too, as far as the store keeps them; a later OK for the same call ends it.
        """
        ...
