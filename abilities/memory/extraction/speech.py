"""Speech in chat messages: a person's own words, their quotations, and the assistant's words."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from abilities.memory.extraction.commands import is_command
from abilities.memory.types import ASSISTANT, PERSON, Kind, Utterance
from core.llm.types import ChatMessage, Marker, Role
from core.replies import CARD_SHOWN

FORGETTING_TOOLS = frozenset({"ask_to_forget", "forget"})
MEMORY_TOOLS = frozenset({"remember", "search_memory", "list_memories", "correct_memory", "undo_last"})
"""An answer after these alone repeats present memories, or memories that were taken back."""
_CARD = re.compile(f"^{re.sub(r'\\{\w+\\}', '.*', re.escape(CARD_SHOWN))}$", re.MULTILINE)
"""A line that only history has: the form of a card in it."""
_FORWARDED = ("forwarded message", "original message", "begin forwarded message")


def said_in_turn(turn_id: str, rows: Iterable[Mapping[str, Any]]) -> list[Utterance]:
    """Return the speech in the rows of a turn (`said_in_turns`), but for messages that would be remembered again.

    These are a turn that was about forgetting, and the assistant's answer from nothing but memories.
    """
    messages = [(row, ChatMessage.from_json(row["message"])) for row in rows]
    called = {call.name for _, message in messages for call in message.tool_calls}
    if called & FORGETTING_TOOLS:  # the row of the question may be gone by now
        return []
    if called and called <= MEMORY_TOOLS:
        messages = [(row, message) for row, message in messages if message.role is not Role.ASSISTANT]
    used_tools = any(message.role is Role.TOOL for _, message in messages)
    spoken: list[Utterance] = []
    for row, message in messages:
        key = f"history:{row['conversation_id']}:{row['position']}"
        at = datetime.fromisoformat(row["created_at"])
        spoken += spoken_of(key, message, at, turn_id, used_tools=used_tools)
    return spoken


def spoken_of(
    key: str, message: ChatMessage, at: datetime, turn_id: str | None = None, *, used_tools: bool = False
) -> list[Utterance]:
    """Return the speech of a chat message, marked with its source; empty for a command, or a line that is not speech.

    Text that a person quotes or forwards is not their own word, and the assistant's words are not its own either once
    it has used a tool.
    """
    match message.role:
        case Role.USER if not message.internal and message.marker is not Marker.NOTE:
            own, quoted = without_quotes(message.text)
            own = "" if message.outside or is_command(message.text) else own
            rest = [Utterance(f"{key}:quoted", quoted, "someone else", Kind.OUTSIDE, at, turn_id)] if quoted else []
            return [Utterance(key, own, PERSON, Kind.TOLD, at, turn_id), *rest] if own else rest
        case Role.ASSISTANT if not message.tool_calls and (text := _CARD.sub("", message.text).strip()):
            kind = Kind.OUTSIDE if used_tools else Kind.INFERRED
            return [Utterance(key, text, ASSISTANT, kind, at, turn_id)]
    return []


def without_quotes(text: str) -> tuple[str, str]:
    """Return a person's own words and their quotations: lines with `>`, and everything after a forward's head."""
    own: list[str] = []
    quoted: list[str] = []
    forwarded = False
    for line in text.splitlines():
        forwarded = forwarded or line.strip(" -*_").lower().startswith(_FORWARDED)
        words = line.lstrip("> ") if line.startswith(">") else line
        (quoted if forwarded or line.lstrip().startswith(">") else own).append(words)
    return "\n".join(own).strip(), "\n".join(quoted).strip()
