"""An agent that waits for a person, as the pool stores it: data only, so that any worker can resume it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from core.agents.standard_agent import AgentStatus
from core.json_types import JsonObject

WAITING = frozenset({AgentStatus.WAITING_FOR_INPUT, AgentStatus.WAITING_FOR_APPROVAL, AgentStatus.PAUSED})


class PoolEnd(StrEnum):
    """Why an agent waits no more, although it did not complete."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    DROPPED = "dropped"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """One agent in the pool.

    `turn_id`, `agent_path` and `tool_call_id` name the call. `fields` are the collected values as JSON, `asked` the
    names of the fields that `question` asks for. `answer` is the person's answer to a question about no field.
    `revision` counts the changes: a change applies only to the revision that was read.
    """

    agent_id: str
    agent_type: str
    conversation_id: str
    turn_id: str
    agent_path: str
    tool_call_id: str
    status: AgentStatus
    schema_version: str
    expires_at: datetime
    fields: JsonObject = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    question: str = ""
    instruction: str = ""
    answer: str = ""
    state: JsonObject = field(default_factory=dict)
    reminded: bool = False
    reason: PoolEnd | None = None
    revision: int = 0

    @property
    def waits(self) -> bool:
        return self.status in WAITING

    @property
    def wakes(self) -> bool:
        """Return whether its turn may resume: the agent was answered, which clears the question, or ended."""
        return not self.waits or not self.question

    @property
    def told_as(self) -> str:
        """Return what to call the agent to the person: the question, or else the words of its name."""
        asked = self.question.strip().partition("\n")[0]
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.agent_type.removesuffix("Agent")).replace("_", " ").lower()
        return f"“{asked}”" if asked else words

    def completed(self) -> "PoolEntry":
        return replace(self, status=AgentStatus.COMPLETED)

    def ended(self, reason: PoolEnd) -> "PoolEntry":
        return replace(self, status=AgentStatus.CANCELLED, reason=reason)

    def to_json(self) -> JsonObject:
        return {
            "agent_id": self.agent_id,
            "agent_type": self.agent_type,
            "turn_id": self.turn_id,
            "agent_path": self.agent_path,
            "tool_call_id": self.tool_call_id,
            "status": self.status.value,
            "schema_version": self.schema_version,
            "expires_at": self.expires_at.isoformat(),
            "collected_fields": self.fields,
            "reason": self.reason or "",
            "revision": self.revision,
            "wakes": self.wakes,
            "context": {
                "asked": list(self.asked),
                "question": self.question,
                "instruction": self.instruction,
                "answer": self.answer,
                "state": self.state,
                "reminded": self.reminded,
            },
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "PoolEntry":
        context = cast(dict[str, Any], row["context"])
        return cls(
            agent_id=row["agent_id"],
            agent_type=row["agent_type"],
            conversation_id=row["conversation_id"] or "",
            turn_id=row["turn_id"],
            agent_path=row["agent_path"],
            tool_call_id=row["tool_call_id"],
            status=AgentStatus(row["status"]),
            schema_version=row["schema_version"],
            expires_at=row["expires_at"],
            fields=row["collected_fields"],
            asked=tuple(context.get("asked", ())),
            question=context.get("question", ""),
            instruction=context.get("instruction", ""),
            answer=context.get("answer", ""),
            state=context.get("state", {}),
            reminded=context.get("reminded", False),
            reason=PoolEnd(row["reason"]) if row["reason"] else None,
            revision=row["revision"],
        )
