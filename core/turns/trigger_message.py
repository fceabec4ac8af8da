"""The message that enters the loop when a trigger fires."""

from dataclasses import dataclass, field

from core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class TriggerMessage:
    """The message that enters the loop when a trigger fires: never the person's words, and marked as such.

    `content` begins with its mark. `metadata` names source, trigger_type and task_id.
    """

    tenant_id: str
    content: str
    metadata: JsonObject = field(default_factory=dict)
