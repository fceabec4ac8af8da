"""A streamed answer while it comes in: its pieces, how much of it is read, and the answer that they make.

What a provider wrote ahead is all there at once: reading it would hold the event loop until its end, and with it
everybody else's turns. So each piece gives the loop back, and an answer far beyond the length asked for is cut.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.json_types import storable

if TYPE_CHECKING:
    from types import ModuleType

CUT = "length"
"""The `finish_reason` of an answer that ends where it reached its greatest length."""
USUAL_TOKENS = 32_768
"""What is read at the most of an answer for which no greatest length was asked."""
_CHARACTERS_A_TOKEN = 8
"""Texts in Latin script have four or five: what goes beyond this was not written by the tokens that were asked for."""
_PIECES_A_TOKEN = 2


@dataclass(slots=True)
class StreamedAnswer:
    """The pieces of one answer of at most `most_tokens`. `cut`: the provider had written more."""

    most_tokens: int | None
    cut: bool = False
    _pieces: list[Any] = field(default_factory=list)
    _characters: int = 0

    async def read(self, response: Any) -> AsyncGenerator[str]:
        """Yield the text of each piece; some have none."""
        async for piece in response:
            self._pieces.append(piece)
            self._characters += _length(piece)
            yield _text(piece)
            await asyncio.sleep(0)
            if self._too_long():
                self.cut = True
                return

    async def whole(self, litellm: "ModuleType", response: Any) -> Any:
        """Return the answer that the pieces make, as litellm gives it for a call that is not streamed."""
        # litellm ends a stream that broke off cleanly with a "stop" of its own.
        if not (self.cut or response.received_finish_reason or response.intermittent_finish_reason):
            raise ValueError("the stream ended in the middle")
        return await asyncio.to_thread(litellm.stream_chunk_builder, self._pieces)

    def _too_long(self) -> bool:
        most = self.most_tokens or USUAL_TOKENS
        return self._characters > most * _CHARACTERS_A_TOKEN or len(self._pieces) > most * _PIECES_A_TOKEN


def _text(piece: Any) -> str:
    said = piece.choices[0].delta.content if piece.choices else None
    return storable(str(said)) if said else ""


def _length(piece: Any) -> int:
    """Return how many characters a piece adds, those of calls included."""
    if not piece.choices:
        return 0
    delta = piece.choices[0].delta
    written = [call.function.arguments for call in getattr(delta, "tool_calls", None) or () if call.function]
    return sum(len(text) for text in (delta.content, getattr(delta, "reasoning_content", None), *written) if text)
