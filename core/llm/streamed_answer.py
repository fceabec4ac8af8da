"""A streamed answer while it comes in: its pieces, how much of it is read, and the answer that they make.

An answer that comes whole has the same bound: `bounded` cuts it where a streamed one would have ended.

What a provider wrote ahead is all there at once: reading it would hold the event loop until its end, and with it
everybody else's turns. So each piece gives the loop back, and an answer far beyond the length asked for is cut.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.json_types import storable
from core.llm.types import ModelAnswer, ToolCall

if TYPE_CHECKING:
    from types import ModuleType

CUT = "length"
"""The `finish_reason` of an answer that ends where it reached its greatest length."""
USUAL_TOKENS = 32_768
"""What is read at the most of an answer for which no greatest length was asked."""
_CHARACTERS_A_TOKEN = 8
"""Texts in Latin script have four or five: what goes beyond this was not written by the tokens that were asked for."""
_SPARE_PIECES = 100
"""Pieces beyond one a token: those that begin and end an answer bring none."""
_FREELY = 1_000
"""Pieces read as fast as they come. Further ones get a third of the time at the most: each costs half a millisecond,
and an answer of so many is no hurry."""
_AT_ONCE = 0.01
"""Seconds of reading between two pauses."""
_PAUSE = 0.02


@dataclass(slots=True)
class StreamedAnswer:
    """The pieces of one answer of at most `most_tokens`. `cut`: the provider had written more."""

    max_tokens: int | None
    cut: bool = False
    _pieces: list[Any] = field(default_factory=list)
    _characters: int = 0

    async def read(self, response: Any) -> AsyncGenerator[str]:
        """Yield the text of each piece; some have none."""
        loop = asyncio.get_running_loop()
        resumed = loop.time()
        async for piece in response:
            self._pieces.append(piece)
            self._characters += _length(piece)
            yield _text(piece)
            in_a_row = loop.time() - resumed > _AT_ONCE
            await asyncio.sleep(_PAUSE if in_a_row and len(self._pieces) > _FREELY else 0)
            if in_a_row:
                resumed = loop.time()
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
        most = self.max_tokens or USUAL_TOKENS
        return self._characters > max_characters(most) or len(self._pieces) > most + _SPARE_PIECES


def max_characters(max_tokens: int | None) -> int:
    """Return how many characters are read of an answer of at most so many tokens."""
    return (max_tokens or USUAL_TOKENS) * _CHARACTERS_A_TOKEN


def bounded(answer: ModelAnswer, max_tokens: int | None) -> ModelAnswer:
    """Return an answer without what is beyond its greatest length; one that was cut says so by its `finish_reason`.

    Thoughts that are too long are left out: they count only whole. Arguments are cut like text, and cannot be read
    then, as those of a stream that was cut.
    """
    thoughts = sum(len(json.dumps(one)) for one in answer.thinking)
    written = (answer.text, *(call.arguments for call in answer.tool_calls))
    room = max_characters(max_tokens)
    if thoughts + sum(map(len, written)) <= room:
        return answer
    thinking = answer.thinking if thoughts <= room else ()
    room = max(room - thoughts, 0)
    text = answer.text[:room]
    calls = list[ToolCall]()
    for call in answer.tool_calls:
        room -= len(calls[-1].arguments if calls else text)
        calls.append(replace(call, arguments=call.arguments[:room]))
    return replace(answer, text=text, tool_calls=tuple(calls), thinking=thinking, finish_reason=CUT)


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
