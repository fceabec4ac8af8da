"""Calls that litellm makes itself: for providers that are not called direct, or by setting."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.errors import ModelUnavailable
from core.llm.types import ModelAnswer, ModelChunk
from providers.models import litellm_library
from providers.models.chat_format import parse_answer
from providers.models.direct.plans import STREAMED
from providers.models.litellm_hearing import hearing
from providers.models.litellm_refusals import Overheard
from providers.models.provider_errors import is_providers, our_error
from providers.models.streamed_answer import CUT, StreamedAnswer, bounded

if TYPE_CHECKING:
    from types import ModuleType


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


async def _not_streamed(litellm: "ModuleType", response: Any) -> Any:
    """Return the answer of a server that ignores streaming and sends a JSON document; None if it streams."""
    http = getattr(getattr(response, "completion_stream", None), "response", None)
    if http is None or "json" not in http.headers.get("content-type", ""):
        return None
    return litellm.ModelResponse(**json.loads(await http.aread()))
