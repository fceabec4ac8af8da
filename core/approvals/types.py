"""An approval: a request for consent to a single, exact action, and its decision."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from core.approvals.other_deciders import AlsoAsked
from core.approvals.seal import Sealed
from core.json_types import JsonObject
from core.messaging.messages import FormField, FormFieldKind
from core.tools.tool import Risk

type Source = Literal["message", "trigger"]
"""The origin of the turn that asks."""
type DecidedBy = Literal["words", "again", "operator", "console"]
"""The ways of deciding an approval besides a button, a form or a code."""
HIGH: Risk = "high"
"""The risk that neither a text message alone nor words to the model may approve."""


class ApprovalState(StrEnum):
    """The state of a request."""

    PENDING = "pending"
    APPROVED = "approved"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    REPLACED = "replaced"
    """Superseded by another request: the person wants a change, or must be asked again."""


_ALSO = re.compile(r'\{"also":"([^"]+)"')
"""The beginning of a seal that names another person, which is canonical JSON."""
NOT_BOTH = "not_both"
"""The reason of a request that ended since the other person whose consent it needed did not agree, or not in time."""
NOT_SHOWN = "not_shown"
"""The reason of a request that expired since no card of it could be sent; `approvals.sql` writes it."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A request for consent as it is stored.

    `call_id` names the call within its turn; `generation` counts the requests for that call from 1. `rendered` is the
    card's content: every argument in full, by label. `proposed` holds the person's `changes` by field, if these
    replaced the request. `sent_at` is the time at which the card was first sent, None before.
    """

    id: str
    turn_id: str
    call_id: str
    generation: int
    conversation_id: str
    name: str
    summary: str
    arguments: JsonObject
    rendered: tuple[tuple[str, str], ...]
    form: tuple[FormField, ...]
    editable: bool
    risk: Risk
    source: Source
    code: str
    token: str
    sealed: Sealed
    hash: str
    state: ApprovalState
    reason: str
    expires_at: datetime | None
    decided_at: datetime | None
    decided_channel: str
    decided_how: str
    created_at: datetime
    proposed: JsonObject | None = None
    sent_at: datetime | None = None
    task_id: str | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Approval":
        """Read a row of `approvals`, with `sent_at` and `task_id`."""
        return cls(
            call_id=row["place"],
            rendered=tuple((label, text) for label, text in row["shown"]),
            form=read_form(row["form"]),
            sealed=Sealed(row["sealed_head"], row["sealed_tail"]),
            state=ApprovalState(row["state"]),
            **{name: row[name] for name in _PLAIN},
        )

    @property
    def also(self) -> str:
        """Return the tenant of the other person whose consent it needs; empty for nobody."""
        found = _ALSO.match(self.sealed.head)
        return found[1] if found else ""


_PLAIN = {f.name for f in fields(Approval)} - {"call_id", "rendered", "form", "sealed", "state"}
"""The fields of an approval that its row holds as they are."""


@dataclass(frozen=True, slots=True)
class NewApproval:
    """A request that a turn makes, to be committed together with its card."""

    id: str
    call_id: str
    generation: int
    name: str
    summary: str
    arguments: JsonObject
    rendered: tuple[tuple[str, str], ...]
    form: tuple[FormField, ...]
    risk: Risk
    source: Source
    code: str
    token: str
    seconds: float
    sealed: Sealed
    created_at: datetime
    changed: tuple[str, ...] = ()
    """The person's changes for the card, a line each."""
    note: str = ""
    """The reason why the request is made again; shown on the card."""
    editable: bool = True
    also: AlsoAsked | None = None
    """How another person is asked, without whose consent it does not run."""

    @property
    def high_risk(self) -> bool:
        """Return whether plain words must not approve it."""
        return self.risk == HIGH

    def to_json(self) -> JsonObject:
        return {name: getattr(self, name) for name in _STORED} | {
            "place": self.call_id,
            "shown": [list(pair) for pair in self.rendered],
            "form": [asdict(form_field) for form_field in self.form],
            "sealed_head": self.sealed.head,
            "sealed_tail": self.sealed.tail,
            "created_at": self.created_at.isoformat(),
            "also": self.also.to_json() if self.also else None,
        }


_STORED = {f.name for f in fields(NewApproval)} & (_PLAIN | {"seconds"})
"""The fields of a request that are committed as they are."""


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """An approval that waits for a person's decision, with its action."""

    code: str
    agent_name: str
    action_summary: str
    created_at: datetime
    expires_at: datetime | None
    source: Source
    risk: Risk = ""
    task_id: str | None = None
    details: JsonObject = field(default_factory=dict)


def read_form(rows: Any) -> tuple[FormField, ...]:
    return tuple(
        FormField(**row | {"kind": FormFieldKind(row["kind"]), "options": tuple(row["options"])}) for row in rows
    )
