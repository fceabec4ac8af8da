"""The prompt of a model call as it was sent, kept for a while so that people can look it up."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

from core.json_types import JsonObject, storable
from core.llm.types import ChatMessage, ModelLayer, ModelRequest

_FAST = 1
"""zlib's level: higher levels save a tenth of the bytes for twice the time."""
_FOR_PROVIDERS = ("thinking", "state")
"""The fields that providers get back as their own state, and no model reads."""


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A request that a model answered, and the layer to which it went."""

    request: ModelRequest
    layer: ModelLayer

    def packed(self) -> bytes:
        """Return the compressed form: tools by name, pictures by size, keys by number."""
        request = self.request
        prompt = {
            "model": self.layer.model,
            "layer": request.layer + 1,
            "key": self.layer.key,
            "tools": [tool.name for tool in request.tools] if request.use_tools else [],
            "messages": [_kept(message) for message in request.messages],
        }
        return zlib.compress(json.dumps(prompt, separators=(",", ":")).encode(), _FAST)


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A message of a kept prompt. `pictures` are their sizes in bytes."""

    message: ChatMessage
    pictures: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """A prompt that is read again. `layer` counts the models that are configured, from 1."""

    model: str
    layer: int
    key: int
    tools: tuple[str, ...]
    messages: tuple[KeptMessage, ...]

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return the prompt that `SentPrompt.packed` made."""
        kept = cast(JsonObject, storable(json.loads(zlib.decompress(packed))))
        return cls(
            str(kept["model"]),
            cast(int, kept["layer"]),
            cast(int, kept["key"]),
            tuple(cast(list[str], kept["tools"])),
            tuple(
                KeptMessage(ChatMessage.from_json(message), tuple(cast(list[int], message.get("pictures", []))))
                for message in cast(list[JsonObject], kept["messages"])
            ),
        )

    def begins_with(self, earlier: Sequence[KeptMessage]) -> bool:
        """Return whether this prompt begins with an earlier prompt's messages, and has more."""
        return len(earlier) < len(self.messages) and self.messages[: len(earlier)] == tuple(earlier)


def _kept(message: ChatMessage) -> JsonObject:
    kept = message.to_json()
    for name in _FOR_PROVIDERS:
        kept.pop(name, None)
    for call in cast(list[JsonObject], kept.get("tool_calls", [])):
        call.pop("extra", None)
    if message.pictures:
        kept["pictures"] = [len(picture) for picture in message.pictures]
    return kept
