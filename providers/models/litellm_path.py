"""Calls that litellm makes itself: for providers that are not called direct, or by setting."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.errors import ModelUnavailable
from core.json_types import storable
from core.llm.types import ModelAnswer, ModelChunk
from providers.models import litellm_library
from providers.models.chat_format import parse_answer
from providers.models.direct.plans import STREAMED
from providers.models.litellm_hearing import hearing
from providers.models.litellm_refusals import Overheard
from providers.models.provider_errors import is_providers, our_error
from providers.models.streamed_answer import CUT, bounded, is_too_long

if TYPE_CHECKING:
    from types import ModuleType

_FREELY = 1_000
"""Pieces read at full speed. Further pieces get at most a third of the time: each costs half a millisecond, and so long
an answer is not urgent.
"""
_AT_ONCE = 0.01
"""Seconds of reading between two pauses."""
_PAUSE = 0.02


async def answer(arguments: Mapping[str, Any], max_tokens: int | None) -> ModelAnswer:
    """Make a call. Raises a `core.errors.ModelError`, without the provider's words."""
    litellm, model = await loaded(), arguments["model"]
    with errors_made_ours(litellm, model):
        with hearing():
            response = await litellm.acompletion(**arguments)
        return bounded(parse_answer(response, model), max_tokens)


async def stream(arguments: Mapping[str, Any], max_tokens: int | None) -> AsyncGenerator[ModelChunk]:
    """Make a call; yield its pieces, the whole answer last. Raises as `answer` does."""
    litellm, model = await loaded(), arguments["model"]
    with errors_made_ours(litellm, model):
        with hearing(streamed=True):
            response = await litellm.acompletion(**arguments, **STREAMED)
        try:
            whole = await _not_streamed(litellm, response)
            streamed = StreamedAnswer(max_tokens)
            overheard = Overheard(response)
            if whole is None:
                async for text in streamed.read(response):
                    yield ModelChunk(text)
                whole = await streamed.whole(litellm, response)
            read = bounded(parse_answer(whole, model), max_tokens)
            read = replace(read, refusal=overheard.refusal or read.refusal)
        finally:
            await response.aclose()
    yield ModelChunk(answer=replace(read, finish_reason=CUT) if streamed.cut else read)


async def loaded() -> "ModuleType":
    if litellm_library.calls_loaded():
        return litellm_library.load()
    return await asyncio.to_thread(litellm_library.load_calls)


@contextmanager
def errors_made_ours(litellm: "ModuleType", model: str) -> Iterator[None]:
    """Convert every error of litellm to a `core.errors.ModelError`, without the provider's words."""
    try:
        yield
    except litellm.exceptions.openai.OpenAIError as error:  # the base of litellm's own exceptions
        raise our_error(error) from error
    except Exception as error:
        if not is_providers(error):
            raise
        raise ModelUnavailable(f"{model}: {type(error).__name__}") from error


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


async def _not_streamed(litellm: "ModuleType", response: Any) -> Any:
    """Return the answer of a server that ignores streaming and sends a JSON document; None if it streams."""
    http = getattr(getattr(response, "completion_stream", None), "response", None)
    if http is None or "json" not in http.headers.get("content-type", ""):
        return None
    return litellm.ModelResponse(**json.loads(await http.aread()))
