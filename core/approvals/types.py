"""What an approval is: a request for consent to one exact action, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.approvals.seal import Sealed
from core.json_types import JsonObject
from core.messaging.messages import FormField, FormFieldKind

HIGH = "high"
"""The risk that neither a text message alone nor words to the model may approve."""


class ApprovalState(StrEnum):
    """What became of a request."""

    PENDING = "pending"
    APPROVED = "approved"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    REPLACED = "replaced"
    """The person wants something changed, or it must be asked again: another one takes its place."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One request for consent as it is stored.

    `place` says which call of the turn it is for, `generation` counts the requests for that call from 1. `shown` is
    what the card shows: every argument in full, by label. `proposed` is what the person wants changed, where it was
    replaced for that: `changes` by field. `sent_at`: when its card was first sent, None before.
    """

    id: str
    turn_id: str
    place: str
    generation: int
    conversation_id: str
    name: str
    summary: str
    arguments: JsonObject
    shown: tuple[tuple[str, str], ...]
    form: tuple[FormField, ...]
    editable: bool
    risk: str
    source: str
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
    task_id: str = ""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Approval":
        """Read a row of `approvals`, with `sent_at` and `task_id`."""
        return cls(
            id=row["id"],
            turn_id=row["turn_id"],
            place=row["place"],
            generation=row["generation"],
            conversation_id=row["conversation_id"],
            name=row["name"],
            summary=row["summary"],
            arguments=row["arguments"],
            shown=tuple((label, text) for label, text in row["shown"]),
            form=read_form(row["form"]),
            editable=row["editable"],
            risk=row["risk"],
            source=row["source"],
            code=row["code"],
            token=row["token"],
            sealed=Sealed(row["sealed_head"], row["sealed_tail"]),
            hash=row["hash"],
            state=ApprovalState(row["state"]),
            reason=row["reason"],
            expires_at=row["expires_at"],
            decided_at=row["decided_at"],
            decided_channel=row["decided_channel"],
            decided_how=row["decided_how"],
            created_at=row["created_at"],
            proposed=row["proposed"],
            sent_at=row["sent_at"],
            task_id=row["task_id"],
        )


@dataclass(frozen=True, slots=True)
class NewApproval:
    """A request that a turn leaves behind, to be committed with its card."""

    id: str
    place: str
    generation: int
    name: str
    summary: str
    arguments: JsonObject
    shown: tuple[tuple[str, str], ...]
    form: tuple[FormField, ...]
    risk: str
    source: str
    code: str
    token: str
    seconds: float
    sealed: Sealed
    created_at: datetime
    changed: tuple[str, ...] = ()
    """What the person had changed, a line each; it stands on the card."""
    note: str = ""
    """Why it is asked again, where that is so."""
    editable: bool = True

    @property
    def high_risk(self) -> bool:
        """Return whether plain words must not approve it."""
        return self.risk == HIGH

    def to_json(self) -> JsonObject:
        """Write it down as the database takes it."""
        return {
            "id": self.id,
            "place": self.place,
            "generation": self.generation,
            "name": self.name,
            "summary": self.summary,
            "arguments": self.arguments,
            "shown": [list(pair) for pair in self.shown],
            "form": [form_field_json(one) for one in self.form],
            "editable": self.editable,
            "risk": self.risk,
            "source": self.source,
            "code": self.code,
            "token": self.token,
            "seconds": self.seconds,
            "sealed_head": self.sealed.head,
            "sealed_tail": self.sealed.tail,
            "created_at": self.created_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """What `list_pending_approvals` gives of each (seed 15.10)."""

    code: str
    agent_name: str
    action_summary: str
    created_at: datetime
    expires_at: datetime | None
    source: str
    risk: str = ""
    task_id: str = ""
    details: JsonObject = field(default_factory=dict)


def form_field_json(one: FormField) -> JsonObject:
    """Write a form's field down."""
    return {
        "name": one.name,
        "label": one.label,
        "value": one.value,
        "kind": one.kind.value,
        "options": list(one.options),
        "required": one.required,
    }


def read_form(rows: Any) -> tuple[FormField, ...]:
    """Read what `form_field_json` wrote."""
    return tuple(
        FormField(
            one["name"], one["label"], one["value"], FormFieldKind(one["kind"]), tuple(one["options"]), one["required"]
        )
        for one in rows
    )
