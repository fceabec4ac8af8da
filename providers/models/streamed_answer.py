"""Reading a streamed answer: its pieces, the limit of its length, and the whole answer.

An answer that is not streamed has the same limit: `bounded` cuts it at the end of an equal stream.

A provider may have written far ahead: reading all of that would block the event loop, and with it all other turns. So
the loop runs after each piece, and an answer far beyond the requested length is cut.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.http.peer import Allowance
from core.json_types import JsonObject, check_depth, is_finite, storable
from core.llm.types import ModelAnswer, TokenUsage, ToolCall

if TYPE_CHECKING:
    from types import ModuleType

CUT = "length"
"""The `finish_reason` of an answer that reached its maximum length."""
USUAL_TOKENS = 32_768
"""Tokens that are read of an answer without a requested length."""
ALLOWANCE = Allowance(size=128 * 1024 * 1024, pieces=1_000_000, seconds=1800.0)
"""The limit of an answer's stream: an answer of 100,000 tokens is a fifth of it, with an event for each."""
_MOST_TOKENS, _MOST_COST = 1_000_000_000, 100_000.0
"""Tokens and dollars of a call that are believed: a hundred times those of any."""
_CHARACTERS_A_TOKEN = 8
"""Latin script has four or five: more characters were not written with the requested tokens."""
_SPARE_PIECES = 100
"""Pieces in addition to a piece for each token: those that begin and end an answer have none."""
_FREELY = 1_000
"""Pieces read at full speed. Further pieces get at most a third of the time: each costs half a millisecond, and so long
an answer is not urgent.
"""
_AT_ONCE = 0.01
"""Seconds of reading between two pauses."""
_PAUSE = 0.02


@dataclass(slots=True)
class StreamedAnswer:
    """The pieces of an answer of at most `max_tokens`. `cut`: the provider had written more."""

    max_tokens: int | None
    cut: bool = False
    _pieces: list[Any] = field(default_factory=list)
    _characters: int = 0

    async def read(self, response: Any) -> AsyncGenerator[str]:
        """Yield the text of each piece, which may be empty."""
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
            if is_too_long(self._characters, len(self._pieces), self.max_tokens):
                self.cut = True
                return

    async def whole(self, litellm: "ModuleType", response: Any) -> Any:
        """Return the whole answer in the form of a call that is not streamed."""
        # litellm adds a "stop" of its own to a stream that was closed early.
        if not (self.cut or response.received_finish_reason or response.intermittent_finish_reason):
            raise ValueError("the stream ended in the middle")
        return await asyncio.to_thread(litellm.stream_chunk_builder, self._pieces)


def is_too_long(characters: int, pieces: int, max_tokens: int | None) -> bool:
    """Return whether so much of a stream is more than an answer of so many tokens."""
    return characters > max_characters(max_tokens) or pieces > (max_tokens or USUAL_TOKENS) + _SPARE_PIECES


def max_characters(max_tokens: int | None) -> int:
    """Return the maximum number of characters of an answer of so many tokens."""
    return (max_tokens or USUAL_TOKENS) * _CHARACTERS_A_TOKEN


def bounded(answer: ModelAnswer, max_tokens: int | None) -> ModelAnswer:
    """Return an answer cut at its maximum length; its `finish_reason` then says so.

    Thoughts that are too long are left out, since a part of them is of no use. Arguments are cut like text, and cannot
    be parsed then, like those of a stream that was cut. Raises `ValueError` for usage that no call has, and for
    thoughts and fields of calls that cannot be stored.
    """
    check_usage(answer.usage)
    answer = replace(
        answer,
        thinking=tuple(map(_kept, answer.thinking)),
        tool_calls=tuple(replace(call, extra=_kept(call.extra)) if call.extra else call for call in answer.tool_calls),
    )
    thoughts = sum(len(json.dumps(thought)) for thought in answer.thinking)
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


def check_usage(usage: TokenUsage) -> None:
    """Raise `ValueError` for impossible counts and prices: they are added up, and bound the spending."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    if any(type(count) is not int or not 0 <= count <= _MOST_TOKENS for count in counts):
        raise ValueError("a number of tokens that no call has")
    if usage.cost is not None and not 0 <= usage.cost <= _MOST_COST:
        raise ValueError("a price that no call has")


def _kept(value: JsonObject) -> JsonObject:
    """Return a provider's own fields as they are stored. Raises `ValueError` for those that cannot be."""
    check_depth(value)
    if not is_finite(value):
        raise ValueError("a number that is none")
    return storable(value)


def _text(piece: Any) -> str:
    text = piece.choices[0].delta.content if piece.choices else None
    return storable(str(text)) if text else ""


def _length(piece: Any) -> int:
    """Return the number of characters that a piece adds, including those of calls."""
    if not piece.choices:
        return 0
    delta = piece.choices[0].delta
    written = [call.function.arguments for call in getattr(delta, "tool_calls", None) or () if call.function]
    return sum(len(text) for text in (delta.content, getattr(delta, "reasoning_content", None), *written) if text)
