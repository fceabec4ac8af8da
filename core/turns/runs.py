"""A run's turn as the store of turns reads and ends it. Light: whatever serves turns imports it."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from core.db.database import Connection
from core.errors import LeaseLost
from core.json_types import JsonObject
from core.llm.types import ChatMessage
from core.loop.control import InterruptSignal, TurnControl, TurnMessage
from core.messaging.messages import Media
from core.people.access_policy import PersonRole
from core.people.tenant import TurnTenant

if TYPE_CHECKING:
    from core.turns.types import TurnRequest, TurnResult

MAX_FAILURES = 5
"""After so many failed runs in a row a task is disabled."""


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
class RunTurn:
    """What a run's turn works on. `channel` is None where the person has no conversation."""

    run_id: str
    tenant: TurnTenant
    channel: str | None
    conversation_id: str | None
    history: tuple[ChatMessage, ...]
    waiting_step: int | None


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
        """Learn that a run's note was stored here: its message to the person may go out."""
        ...


@dataclass(frozen=True, slots=True)
class RunControl:
    """Stop a run's turn on request. What the person writes belongs to their conversation's turns, not to this one."""

    whole: TurnControl = field(repr=False)

    @property
    def signal(self) -> InterruptSignal:
        return self.whole.signal

    async def stopped(self) -> str | None:
        """Return the message of a requested stop."""
        return await self.whole.stopped()

    async def absorb(self) -> Sequence[TurnMessage]:
        return ()


async def load_run_turn(
    connection: Connection, tenant_id: str, turn_id: str, channels: Collection[str] = ()
) -> RunTurn:
    """Read what a run's turn works on, and note that it runs. Raises `LeaseLost` where the run is gone.

    `channels`: those that are on, where the person may be spoken to; empty: any.
    """
    row = await connection.fetchrow(
        "select r.run_id, r.history, r.conversation_id, t.waiting_step,"
        " c.channel, p.name, nullif(p.language, '') as language,"
        " coalesce(nullif(p.timezone, ''), 'UTC') as timezone,"
        " p.timezone <> '' as timezone_known, p.role, nullif(p.tier, '') as tier from begin_run($1,$2,$3) r"
        " join turns t on t.tenant_id = $1 and t.id = $2 join tenants p on p.tenant_id = $1"
        " left join conversations c on c.tenant_id = $1 and c.id = r.conversation_id",
        tenant_id,
        turn_id,
        sorted(channels),
    )
    if row is None:
        raise LeaseLost
    return RunTurn(
        run_id=row["run_id"],
        tenant=TurnTenant(
            tenant_id,
            row["name"],
            row["language"],
            row["timezone"],
            PersonRole(row["role"]),
            row["tier"],
            row["timezone_known"],
        ),
        channel=row["channel"],
        conversation_id=row["conversation_id"],
        history=tuple(ChatMessage.from_json(message) for message in row["history"]),
        waiting_step=row["waiting_step"],
    )
