"""The prompts of a turn's model calls as they were sent, as far as they are still kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.db.database import Connection
from core.journal.prompts import KeptMessage, KeptPrompt
from core.llm.types import ChatMessage, Role
from operations.paths.turn_path import TurnPath


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as the page shows it: its author, its text, and its attachments."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A step's prompt, if it is still there. `known`: how many messages the step before shows already."""

    kept: KeptPrompt | None = None
    known: int = 0

    @property
    def messages(self) -> tuple[ShownMessage, ...]:
        """Return the messages that no earlier step shows."""
        return tuple(_shown(message) for message in self.kept.messages[self.known :]) if self.kept else ()


type Prompts = Mapping[tuple[str, int], ShownPrompt]
"""Prompts by agent path and step."""


async def prompts_of(connection: Connection, path: TurnPath) -> Prompts:
    """Return the prompt of each of a turn's model steps: an empty prompt if it is not kept any more."""
    kept = await _read(connection, path.tenant_id, path.turn_id)
    return {span.asked: kept.get(span.asked, ShownPrompt()) for span in path.spans if span.asked}


async def _read(connection: Connection, tenant_id: str, turn_id: str) -> Prompts:
    rows = await connection.fetch(
        "select agent_path, step, packed from prompts where tenant_id = $1 and turn_id = $2 order by agent_path, step",
        tenant_id,
        turn_id,
    )
    shown: dict[tuple[str, int], ShownPrompt] = {}
    before: dict[str, tuple[KeptMessage, ...]] = {}
    for row in rows:
        kept, path = KeptPrompt.unpack(row["packed"]), row["agent_path"]
        earlier = before.get(path, ())
        shown[path, row["step"]] = ShownPrompt(kept, len(earlier) if kept.begins_with(earlier) else 0)
        before[path] = kept.messages
    return shown


def _shown(kept: KeptMessage) -> ShownMessage:
    message = kept.message
    calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
    pictures = (f"[picture, {size:,} bytes]" for size in kept.pictures)
    text = "\n".join(part for part in (message.text, *calls, *pictures) if part)
    return ShownMessage(_title(message), text)


def _title(message: ChatMessage) -> str:
    words = [f"result of {message.name}" if message.role is Role.TOOL and message.name else message.role.value]
    if message.marker:
        words.append(message.marker.value.replace("_", " "))
    if message.internal:
        words.append("ours, not the person's")
    if message.outside:
        words.append("written by others")
    return ", ".join(words)
