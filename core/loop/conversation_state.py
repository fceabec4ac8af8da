"""What a conversation carries from turn to turn beside its words: tool groups, entities seen, what was dropped.

It has no table of its own: the last message of a turn's history carries it, so it is committed with the turn, is
one session's only, and is gone when a fresh one starts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from core.json_types import JsonObject
from core.llm.types import ChatMessage
from core.tools.result_entities import Entity

MAX_SEEN = 30
"""Entities that are remembered; the oldest go first."""
_CARRIED_FAR = 100
"""Messages after which an unchanged state is written again, since history is not loaded for ever."""


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The state between two turns.

    `groups` are the tool groups that are switched on; `seen` the entities met in tool results, the newest last.
    `summary` is what was said up to the message whose digest is `summarised`.
    """

    groups: tuple[str, ...] = ()
    seen: tuple[Entity, ...] = ()
    summary: str = ""
    summarised: str = ""

    def having_seen(self, entities: Iterable[Entity]) -> "ConversationState":
        """Add entities; one that is known comes to be the newest."""
        fresh = tuple(entities)
        if not fresh:
            return self
        seen = {(one.tool, one.id): one for one in self.seen}
        for entity in fresh:
            seen.pop((entity.tool, entity.id), None)
            seen[entity.tool, entity.id] = entity
        return replace(self, seen=tuple(seen.values())[-MAX_SEEN:])

    def to_json(self) -> JsonObject:
        """Write it down; empty parts are left out."""
        out: JsonObject = {}
        if self.groups:
            out["groups"] = list(self.groups)
        if self.seen:
            out["seen"] = [one.to_json() for one in self.seen]
        if self.summary:
            out |= {"summary": self.summary, "summarised": self.summarised}
        return out

    @classmethod
    def from_json(cls, data: JsonObject) -> "ConversationState":
        """Read what `to_json` wrote."""
        return cls(
            tuple(str(one) for one in cast(list[str], data.get("groups", []))),
            tuple(Entity.from_json(one) for one in cast(list[JsonObject], data.get("seen", []))),
            str(data.get("summary", "")),
            str(data.get("summarised", "")),
        )

    @classmethod
    def of(cls, history: Sequence[ChatMessage]) -> "ConversationState":
        """Find the state in a conversation's history: that of the newest message that carries one."""
        return next((cls.from_json(one.state) for one in reversed(history) if one.state), cls())


def carrying(
    messages: tuple[ChatMessage, ...], state: ConversationState, history: Sequence[ChatMessage]
) -> tuple[ChatMessage, ...]:
    """Let the last of a turn's messages carry the state, unless the recent history before it has the same."""
    if not messages or ConversationState.of(history[-_CARRIED_FAR:]) == state:
        return messages
    # An empty state is written too: else a group that was switched off would be found on in an older message.
    return (*messages[:-1], replace(messages[-1], state=state.to_json() or {"groups": []}))
