"""An agent or a tool's call that waits for a person, as the pool stores it: data only, for any worker to resume."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.agents.standard_agent import AgentStatus
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.questions.types import Asked, read_asks
from core.questions.wording import in_words

WAITING = frozenset({AgentStatus.WAITING_FOR_INPUT, AgentStatus.WAITING_FOR_APPROVAL, AgentStatus.PAUSED})


class PoolEnd(StrEnum):
    """The reason why an agent stopped waiting without completing."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    DROPPED = "dropped"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """An agent or a tool's call in the pool.

    `turn_id`, `agent_path` and `tool_call_id` name the call. `fields` are the collected values as JSON, `asked` the
    names of the fields that `question` asks for, which is None once it is answered. `answer` is the person's answer to
    a question about no field.
    `needs` are the needs for which no account is connected, `choices` the accounts among which the person is asked to
    choose. `asks` are the questions with choices, including those already answered.
    `revision` counts the changes: a change applies only to the revision that was read.
    """

    agent_id: str
    agent_type: str
    conversation_id: str | None
    turn_id: str
    agent_path: str
    tool_call_id: str
    status: AgentStatus
    schema_version: str
    expires_at: datetime
    fields: JsonObject = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    question: str | None = None
    instruction: str = ""
    answer: str | None = None
    state: JsonObject = field(default_factory=dict)
    reminded: bool = False
    reason: PoolEnd | None = None
    revision: int = 0
    needs: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    asks: tuple[Asked, ...] = ()

    @property
    def open_asks(self) -> tuple[Asked, ...]:
        """Return the questions with choices that are not answered yet."""
        return tuple(asked for asked in self.asks if asked.name in self.asked)

    @property
    def in_words(self) -> str:
        """Return the open questions, with the choices and the reply that picks each."""
        return in_words(self.open_asks) or self.question or ""

    @property
    def waits(self) -> bool:
        return self.status in WAITING or self.status is AgentStatus.WAITING_FOR_ACCOUNT

    @property
    def of_tool(self) -> bool:
        """Return whether it is a tool's call: it has no fields that could change while it waits."""
        return not self.schema_version

    @property
    def wakes(self) -> bool:
        """Return whether its turn may resume: the agent was answered, which clears the question, or ended."""
        return not self.waits or self.question is None

    @property
    def told_as(self) -> str:
        """Return the agent's name for the person: its question, or else the words of its type."""
        asked = (self.question or "").strip().partition("\n")[0]
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.agent_type.removesuffix("Agent")).replace("_", " ").lower()
        return f"“{asked}”" if asked else gettext(words)

    def completed(self) -> "PoolEntry":
        return replace(self, status=AgentStatus.COMPLETED)

    def ended(self, reason: PoolEnd) -> "PoolEntry":
        return replace(self, status=AgentStatus.CANCELLED, reason=reason)

    def to_json(self) -> JsonObject:
        return {name: getattr(self, name) for name in _PLAIN} | {
            "expires_at": self.expires_at.isoformat(),
            "collected_fields": self.fields,
            "reason": self.reason or "",
            "wakes": self.wakes,
            "context": {name: getattr(self, name) for name in _CONTEXT}
            | {name: list(getattr(self, name)) for name in _LISTED}
            | {"asks": [asked.to_json() for asked in self.asks]},
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "PoolEntry":
        values = {name: row[name] for name in _PLAIN}
        values |= {name: value for name, value in row["context"].items() if name in _CONTEXT}
        values |= {name: tuple(row["context"].get(name, ())) for name in _LISTED}
        values |= {"asks": read_asks(row["context"].get("asks"))}
        return cls(
            **values
            | {
                "conversation_id": row["conversation_id"],
                "status": AgentStatus(row["status"]),
                "expires_at": row["expires_at"],
                "fields": row["collected_fields"],
                "reason": PoolEnd(row["reason"]) if row["reason"] else None,
            }
        )


_PLAIN = ("agent_id", "agent_type", "turn_id", "agent_path", "tool_call_id", "status", "schema_version", "revision")
"""The fields of an entry that its row holds as they are."""
_CONTEXT = ("question", "instruction", "answer", "state", "reminded")
"""The fields that its row holds in `context`."""
_LISTED = ("asked", "needs", "choices")
"""The lists that its row holds in `context`."""
