"""The state that a conversation carries from turn to turn: tool groups, entities seen, a summary.

It has no table of its own: the last message of a turn's history carries it. So it is committed with the turn, belongs
to one session, and ends with the session.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import cast

from core.json_types import JsonObject
from core.llm.types import ChatMessage
from core.tools.result_entities import Entity

MAX_SEEN = 30
"""Entities to remember; the oldest go first."""
_CARRIED_FAR = 100
"""Messages after which an unchanged state is written again, since only recent history is loaded."""


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The state between two turns.

    `groups` are the tool groups that are open, and the tools of single turns that go on to be offered, in the order in
    which they came; `seen` the entities of tool results, the newest last.
    `summary` covers the history up to the message whose digest is `summarised`; `refused` is the digest of the message
    up to which no summary could be had.
    """

    groups: tuple[str, ...] = ()
    seen: tuple[Entity, ...] = ()
    summary: str = ""
    summarised: str = ""
    refused: str = ""

    def opening(self, groups: Iterable[str]) -> "ConversationState":
        """Return the state with more groups that are open; the new ones come last."""
        opened = tuple(dict.fromkeys((*self.groups, *groups)))
        return self if opened == self.groups else replace(self, groups=opened)

    def having_seen(self, entities: Iterable[Entity]) -> "ConversationState":
        """Return the state with more entities; a known one moves to the end."""
        fresh = tuple(entities)
        if not fresh:
            return self
        seen = {(entity.tool, entity.id): entity for entity in self.seen}
        for entity in fresh:
            seen.pop((entity.tool, entity.id), None)
            seen[entity.tool, entity.id] = entity
        return replace(self, seen=tuple(seen.values())[-MAX_SEEN:])

    def to_json(self) -> JsonObject:
        """Return the state as JSON without its empty parts."""
        out: JsonObject = {}
        if self.groups:
            out["groups"] = list(self.groups)
        if self.seen:
            out["seen"] = [asdict(entity) for entity in self.seen]
        if self.summary:
            out |= {"summary": self.summary, "summarised": self.summarised}
        if self.refused:
            out["refused"] = self.refused
        return out

    @classmethod
    def from_json(cls, data: JsonObject) -> "ConversationState":
        return cls(
            tuple(str(group) for group in cast(list[str], data.get("groups", []))),
            tuple(Entity(**entity) for entity in cast(list[dict[str, str]], data.get("seen", []))),
            str(data.get("summary", "")),
            str(data.get("summarised", "")),
            str(data.get("refused", "")),
        )

    @classmethod
    def of(cls, history: Sequence[ChatMessage]) -> "ConversationState":
        """Return the state of the newest message in a history that carries one."""
        return next((cls.from_json(message.state) for message in reversed(history) if message.state), cls())


def carrying(
    messages: tuple[ChatMessage, ...], state: ConversationState, history: Sequence[ChatMessage]
) -> tuple[ChatMessage, ...]:
    """Return a turn's messages, the last with the state, unless the recent history has the same."""
    if not messages or ConversationState.of(history[-_CARRIED_FAR:]) == state:
        return messages
    # An empty state is written too: otherwise an older message would switch a group on again.
    return (*messages[:-1], replace(messages[-1], state=state.to_json() or {"groups": []}))
