"""The run of a task: its states, its note, and its executor. Light: whatever serves turns imports it."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from core.json_types import JsonObject
from core.llm.types import ChatMessage
from core.messaging.messages import Media

if TYPE_CHECKING:
    from core.turns.types import TurnRequest, TurnResult

MAX_FAILURES = 5
"""The number of failed runs in a row that disables a task."""


class RunState(StrEnum):
    """The states of a run."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PENDING_APPROVAL = "PENDING_APPROVAL"
    """It waits for the person's consent or answer."""
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    EXPIRED = "EXPIRED"
    """The person did not decide in time."""
    SKIPPED = "SKIPPED"
    """It was missed, and its task's policy skips missed runs; or it must not run."""
    CANCELLED = "CANCELLED"


class NoticeKind(StrEnum):
    """The kind of a run's notice to its person."""

    END = "end"
    QUESTION = "question"
    """The run waits for an answer to it."""
    DISABLED = "disabled"
    """Its task failed too often and does not run any more."""


@dataclass(frozen=True, slots=True)
class RunNote:
    """The state of a run after its turn: `text` is sent to the person, once for its `kind` and `waiting_step`.

    `history` is kept while it waits; `disabled` is the message to the person if the task has failed too often.
    """

    state: RunState
    reason: str = ""
    history: tuple[ChatMessage, ...] = ()
    kind: NoticeKind = NoticeKind.END
    waiting_step: int | None = None
    text: str = ""
    disabled: str = ""
    media: tuple[Media, ...] = ()
    """The files that go with the text."""
    outside: bool = False
    """Whether the text has words of others."""

    def to_json(self) -> JsonObject:
        """Return the argument of `note_run`."""
        return {
            "state": self.state.value,
            "reason": self.reason,
            "history": [message.to_json() for message in self.history],
            "kind": self.kind.value,
            "key": self.kind.value if self.waiting_step is None else f"{self.kind.value} {self.waiting_step}",
            "text": self.text,
            "max_failures": MAX_FAILURES,
            "disabled": self.disabled,
            "media": [asdict(media) for media in self.media],
            "outside": self.outside,
        }


class Runs(Protocol):
    """The executor of runs, each in a turn of its own."""

    async def result(self, request: "TurnRequest", run_id: str) -> "tuple[TurnResult, RunNote]":
        """Do a run's work in its turn. Raises only `LeaseLost`, `StoreUnavailable` and `TurnDelayed`."""
        ...

    def noted(self) -> None:
        """Respond to a run's note that was stored here: its message to the person may go out."""
        ...
