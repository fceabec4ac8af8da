"""The only module that imports litellm: one call to one model, with its answer and its errors converted to ours.

Importing litellm takes seconds, so it happens at the first call or in `warm_up`, in a thread. Retries, keys and
fallbacks are up to `core.loop.model_failures`: here a call is made once.
"""

import asyncio
import importlib
import json
import logging
import os
import warnings
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from core.errors import ModelRejected, ModelUnavailable
from core.llm.chat_format import format_call, format_messages, format_tool, parse_answer
from core.llm.json_mode import from_json_mode, to_json_mode
from core.llm.provider_errors import is_providers, our_error, whole_within
from core.llm.streamed_answer import CUT, StreamedAnswer, bounded
from core.llm.types import (
    LocalModel,
    ModelAnswer,
    ModelChunk,
    ModelLayer,
    ModelRequest,
)

if TYPE_CHECKING:
    from types import ModuleType

type ToolMode = Literal["auto", "native", "json"]

_NET = 2.0
"""Seconds after a call's own timeout before litellm gives up, too."""
EMBED_PATIENCE = 20.0
"""Seconds that embedding may take."""


class LiteLLMClient:
    """Reach models through litellm, by its names (`openai/gpt-4o`, `anthropic/claude-…`).

    `keys` are tried in turn with the models of the first one's provider; without any, and for other providers,
    litellm reads its own variables. `local` is a model that runs in this process. `tool_mode` "auto" calls tools
    natively unless litellm's map says that the model cannot.
    """

    def __init__(
        self,
        model: str,
        fallback_models: Sequence[str] = (),
        keys: Sequence[str] = (),
        *,
        reasoning_effort: str = "",
        tool_mode: ToolMode = "auto",
        local: LocalModel | None = None,
    ) -> None:
        self._local = local
        self._keys = tuple(keys)
        self._tool_mode = tool_mode
        self._reasoning_effort = reasoning_effort
        self._unstreamed: set[str] = set()
        self.layers: Sequence[ModelLayer] = _layers(model, fallback_models, len(self._keys), reasoning_effort)
        self._provider = _provider(model)

    async def warm_up(self) -> None:
        """Load litellm without blocking the event loop: seconds of CPU the first time."""
        await asyncio.to_thread(self._load)

    def known(self, model: str) -> dict[str, Any]:
        """Return litellm's entry of a model; empty where it has none."""
        costs = _litellm().model_cost
        return costs.get(model) or costs.get(model.split("/", 1)[-1]) or {}

    def has_provider(self, model: str) -> bool:
        """Return whether litellm can tell whom to ask for a model; loads litellm."""
        litellm = self._load()
        if self._is_local(model):
            return True
        try:
            return bool(litellm.get_llm_provider(model))
        except litellm.exceptions.BadRequestError:
            return False

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Make one call. Raises one of `core.errors.ModelError`, without the provider's words."""
        litellm = await asyncio.to_thread(self._load)
        layer = self.layers[request.layer]
        as_json = self._json_mode(litellm, layer.model)
        sent = to_json_mode(request) if as_json else request
        async with whole_within(request.timeout + _NET):
            answer = await self._call(litellm, sent, layer)
            if not as_json:
                return answer
            return await from_json_mode(request, answer, lambda again: self._call(litellm, again, layer))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        litellm = await asyncio.to_thread(self._load)
        layer = self.layers[request.layer]
        if self._is_local(layer.model) or layer.model in self._unstreamed:
            yield ModelChunk(answer=await self.answer(request))
            return
        as_json = self._json_mode(litellm, layer.model)
        sent = to_json_mode(request) if as_json else request
        response = await self._open(litellm, sent, layer)
        if response is None:
            yield ModelChunk(answer=await self.answer(request))
            return
        try:
            with _errors_made_ours(litellm, layer.model):
                whole = await _not_streamed(litellm, response)
                streamed = StreamedAnswer(request.max_output_tokens)
                if whole is None:
                    async for text in streamed.read(response):
                        yield ModelChunk("" if as_json else text)
                    whole = await streamed.whole(litellm, response)
                answer = bounded(parse_answer(whole, layer.model), request.max_output_tokens)
                answer = replace(answer, finish_reason=CUT) if streamed.cut else answer
        finally:
            await response.aclose()
        if as_json:
            answer = await from_json_mode(request, answer, lambda again: self._call(litellm, again, layer))
        yield ModelChunk(answer=answer)

    async def _call(self, litellm: "ModuleType", request: ModelRequest, layer: ModelLayer) -> ModelAnswer:
        with _errors_made_ours(litellm, layer.model):
            response = await litellm.acompletion(**self._arguments(request, layer))
            return bounded(parse_answer(response, layer.model), request.max_output_tokens)

    async def _open(self, litellm: "ModuleType", request: ModelRequest, layer: ModelLayer) -> Any:
        """Open a streamed answer; None when the provider refuses to stream, which is remembered."""
        try:
            with _errors_made_ours(litellm, layer.model):
                return await litellm.acompletion(
                    **self._arguments(request, layer), stream=True, stream_options={"include_usage": True}
                )
        except ModelRejected as error:
            if "stream" not in str(error.__cause__).lower():
                raise
            self._unstreamed.add(layer.model)
            return None

    async def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts with a model of litellm's names. Raises one of `core.errors.ModelError`."""
        litellm = await asyncio.to_thread(self._load)
        key = self._keys[0] if self._keys and _provider(model) == self._provider else None
        patience = EMBED_PATIENCE + _NET
        async with whole_within(patience):
            with _errors_made_ours(litellm, model):
                response = await litellm.aembedding(model=model, input=list(texts), timeout=patience, api_key=key)
        items = sorted(response.data, key=lambda item: int(item["index"]))
        return [[float(number) for number in item["embedding"]] for item in items]

    async def close(self) -> None:
        if _loaded:
            await _litellm().close_litellm_async_clients()

    def _load(self) -> "ModuleType":
        litellm = _litellm()
        if self._local is not None:
            _register(litellm, self._local)
        return litellm

    def _is_local(self, model: str) -> bool:
        return self._local is not None and model == self._local.model

    def _json_mode(self, litellm: "ModuleType", model: str) -> bool:
        if self._is_local(model):
            return False
        if self._tool_mode != "auto":
            return self._tool_mode == "json"
        return self.known(model).get("supports_function_calling") is False

    def _arguments(self, request: ModelRequest, layer: ModelLayer) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": layer.model,
            "messages": format_messages(request.messages, layer.model),
            # The caller keeps the time; this is a safety net.
            "timeout": request.timeout + _NET,
            "max_retries": 0,
            "num_retries": 0,
        }
        if request.tools and request.use_tools:
            arguments["tools"] = [format_tool(tool) for tool in request.tools]
            if not request.parallel_tools:
                arguments["parallel_tool_calls"] = False
        optional = {
            "max_tokens": self._max_tokens(request, layer.model),
            "temperature": request.temperature,
            "reasoning_effort": layer.reasoning_effort or None,
            "api_key": self._key(layer),
        }
        return arguments | {name: value for name, value in optional.items() if value is not None}

    def _max_tokens(self, request: ModelRequest, model: str) -> int | None:
        """Return the maximum length of an answer: providers refuse a request for more than the model can write."""
        most, longest = request.max_output_tokens, self.known(model).get("max_output_tokens")
        return min(most, longest) if most is not None and isinstance(longest, int) else most

    def _key(self, layer: ModelLayer) -> str | None:
        if not self._keys or _provider(layer.model) != self._provider:
            return None
        return self._keys[layer.key]


_loaded = False


def _litellm() -> "ModuleType":
    """Import litellm with its own price map, without telemetry and terminal output."""
    global _loaded
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    if not _loaded:
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        litellm.drop_params = True
        # Its own log repeats requests and providers' words; ours tells errors without them (promise 14).
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
        _warm_up(litellm)
        _loaded = True
    return litellm


def _warm_up(litellm: "ModuleType") -> None:
    """Do now, in this thread, what otherwise blocks litellm's first call for seconds."""
    with warnings.catch_warnings(), suppress(ImportError):
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
        litellm.ModelResponseStream()
        importlib.import_module("litellm.responses.mcp.chat_completions_handler")


def _register(litellm: "ModuleType", local: LocalModel) -> None:
    """Register a model in this process as a custom provider of litellm, once."""
    provider = _provider(local.model)
    if all(known["provider"] != provider for known in litellm.custom_provider_map):
        litellm.custom_provider_map.append({"provider": provider, "custom_handler": _handler(local)})


def _handler(local: LocalModel) -> Any:
    from litellm import Choices, Message, Usage
    from litellm.llms.custom_llm import CustomLLM

    class LocalProvider(CustomLLM):
        async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
            tools = [tool["function"]["name"] for tool in kwargs["optional_params"].get("tools") or ()]
            answer = local.answer(kwargs["messages"], tools)
            message = Message(
                content=answer.text or None,
                tool_calls=[format_call(call, keep_extra=False) for call in answer.tool_calls] or None,
            )
            response = kwargs["model_response"]
            response.choices = [Choices(finish_reason=answer.finish_reason, message=message)]
            response.usage = Usage(prompt_tokens=0, completion_tokens=0, total_tokens=0)
            return response

    return LocalProvider()


@contextmanager
def _errors_made_ours(litellm: "ModuleType", model: str) -> Iterator[None]:
    try:
        yield
    except litellm.exceptions.openai.OpenAIError as error:  # the base of litellm's own exceptions
        raise our_error(error) from error
    except Exception as error:
        if not is_providers(error):
            raise
        raise ModelUnavailable(f"{model}: {type(error).__name__}") from error


def _layers(model: str, fallbacks: Sequence[str], keys: int, effort: str) -> tuple[ModelLayer, ...]:
    """Return the layers in order: every key, then less reasoning, then the fallback models with their keys."""
    layers = [ModelLayer(model, key, effort) for key in range(max(keys, 1))]
    if effort in ("medium", "high"):
        layers.append(ModelLayer(model, 0, "low"))
    for fallback in fallbacks:
        same = _provider(fallback) == _provider(model)
        layers += [ModelLayer(fallback, key, effort) for key in range(max(keys, 1) if same else 1)]
    return tuple(layers)


def _provider(model: str) -> str:
    return model.split("/", 1)[0] if "/" in model else ""


async def _not_streamed(litellm: "ModuleType", response: Any) -> Any:
    """Return the answer of a server that ignores streaming and sends one JSON document; None if it streams."""
    http = getattr(getattr(response, "completion_stream", None), "response", None)
    if http is None or "json" not in http.headers.get("content-type", ""):
        return None
    return litellm.ModelResponse(**json.loads(await http.aread()))
