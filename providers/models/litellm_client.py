"""A client of models by litellm's names: a call to a model, with its answer and its errors converted to ours.

Calls go over connections of our own if litellm's transformation can be used apart (`direct`), else through litellm.
Retries, keys and fallbacks are up to `core.loop.model_failures`: here a call is made once.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Literal

from core.errors import ModelRejected
from core.llm.types import Embeddings, ModelAnswer, ModelChunk, ModelLayer, ModelRequest
from providers.models import litellm_library, litellm_path, local_model
from providers.models.call_meter import CallMeter
from providers.models.chat_format import NET, call_arguments
from providers.models.direct.plans import Plans
from providers.models.direct.transport import Transport
from providers.models.embedding import embed
from providers.models.json_mode import from_json_mode, to_json_mode
from providers.models.layers import layers_of, provider_of
from providers.models.local_model import LocalModel
from providers.models.markup.own_words import OwnWords, offered_by
from providers.models.provider_errors import whole_within

type ToolMode = Literal["auto", "native", "json"]


class LiteLLMClient:
    """Reach models by litellm's names (`openai/gpt-4o`, `anthropic/claude-…`).

    `keys` are tried in turn with the models of the first model's provider; without any, and for other providers,
    litellm's own variables are read. `local` is a model that runs in this process, and needs no litellm. `tool_mode`
    "auto" calls tools natively unless litellm's map says that the model cannot. With `direct=False` litellm makes every
    call. Models see pictures if litellm's map says so, and the `vision_model` does in any case.
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
        direct: bool = True,
        vision_model: str = "",
    ) -> None:
        self._local = local
        self._vision_model = vision_model
        self._keys = tuple(keys)
        self._tool_mode = tool_mode
        self._unstreamed: set[str] = set()
        self._own_words = OwnWords()
        self.layers: Sequence[ModelLayer] = layers_of(model, fallback_models, len(self._keys), reasoning_effort)
        for layer in self.layers:
            litellm_library.check_name(layer.model)
        self._provider = provider_of(model)
        self._plans, self._transport = Plans(enabled=direct), Transport()
        self._loaded = False

    async def warm_up(self) -> None:
        """Load litellm without blocking the event loop: seconds of CPU the first time."""
        if not self._loaded:
            await asyncio.to_thread(self._load)

    def known(self, model: str) -> dict[str, Any]:
        """Return litellm's entry of a model; empty if it has none, and for the local model."""
        return {} if self._is_local(model) else litellm_library.known(model)

    def sees(self, model: str = "") -> bool:
        """Return whether a model takes pictures; without a name, the first model. Loads litellm."""
        model = model or self.layers[0].model
        if self._is_local(model):
            return False
        return model == self._vision_model or self.known(model).get("supports_vision") is True

    def has_provider(self, model: str) -> bool:
        """Return whether litellm can tell whom to ask for a model; loads litellm. Raises `ConfigError`."""
        if self._is_local(model):
            return True
        litellm_library.check_name(model)
        self._load()
        return litellm_library.has_provider(model)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Make a call. Raises a `core.errors.ModelError`, without the provider's words."""
        await self.warm_up()
        layer = self.layers[request.layer]
        as_json = self._json_mode(layer.model)
        sent = to_json_mode(request) if as_json else request
        async with whole_within(request.timeout + NET):
            answer = await self._call(sent, layer)
            if self._is_local(layer.model):
                return answer
            if not as_json:
                return self._own_words.whole(layer.model, answer, offered_by(request))
            return await from_json_mode(request, answer, lambda again: self._call(again, layer))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        await self.warm_up()
        layer = self.layers[request.layer]
        if self._is_local(layer.model) or layer.model in self._unstreamed:
            yield ModelChunk(answer=await self.answer(request))
            return
        as_json = self._json_mode(layer.model)
        answer = None
        sent = to_json_mode(request) if as_json else request
        try:
            with CallMeter(layer.model, sent) as meter:
                async with aclosing(self._spoken(sent, layer, as_json=as_json)) as chunks:
                    async for chunk in chunks:
                        answer = meter.read(chunk)
                        if as_json and answer:
                            continue
                        yield ModelChunk(begun=chunk.begun) if as_json else chunk
        except ModelRejected as error:
            if "stream" not in str(error.__cause__).lower():
                raise
            # This server refuses to stream, which is remembered.
            self._unstreamed.add(layer.model)
            yield ModelChunk(answer=await self.answer(request))
            return
        if as_json and answer:
            yield ModelChunk(answer=await from_json_mode(request, answer, lambda again: self._call(again, layer)))

    async def _call(self, request: ModelRequest, layer: ModelLayer) -> ModelAnswer:
        arguments = self._arguments(request, layer)
        with CallMeter(layer.model, request) as meter:
            if self._local and self._is_local(layer.model):
                answer = await local_model.answer(self._local, arguments, request.max_output_tokens)
            elif plan := self._plans.plan(arguments, stream=False):
                answer = await self._transport.answer(
                    plan, arguments["messages"], arguments["timeout"], request.max_output_tokens
                )
            else:
                answer = await litellm_path.answer(arguments, request.max_output_tokens)
            meter.answered(answer.usage, answer)
        return answer

    def _spoken(self, request: ModelRequest, layer: ModelLayer, *, as_json: bool) -> AsyncGenerator[ModelChunk]:
        """Stream an answer without markup, which is JSON mode's own affair."""
        arguments, most = self._arguments(request, layer), request.max_output_tokens
        if plan := self._plans.plan(arguments, stream=True):
            chunks = self._transport.stream(plan, arguments["messages"], arguments["timeout"], most)
        else:
            chunks = litellm_path.stream(arguments, most)
        return chunks if as_json else self._own_words.streamed(layer.model, chunks, offered_by(request))

    async def embed(self, model: str, texts: Sequence[str]) -> Embeddings:
        """Embed texts with a model of litellm's names. Raises a `core.errors.ModelError`."""
        return await embed(model, texts, self._key(model), self.known(model))

    async def close(self) -> None:
        await self._transport.close()
        await litellm_library.close_clients()

    def _load(self) -> None:
        elsewhere = [layer.model for layer in self.layers if not self._is_local(layer.model)]
        if not all(self._plans.offers(model) for model in elsewhere):
            litellm_library.load_calls()
        elif elsewhere:
            litellm_library.load()
        self._loaded = True

    def _is_local(self, model: str) -> bool:
        return self._local is not None and model == self._local.model

    def _json_mode(self, model: str) -> bool:
        if self._is_local(model):
            return False
        if self._tool_mode != "auto":
            return self._tool_mode == "json"
        return self.known(model).get("supports_function_calling") is False

    def _arguments(self, request: ModelRequest, layer: ModelLayer) -> dict[str, Any]:
        longest, sees = self.known(layer.model).get("max_output_tokens"), self.sees(layer.model)
        return call_arguments(request, layer, self._key(layer.model, layer.key), longest, sees=sees)

    def _key(self, model: str, number: int = 0) -> str | None:
        return self._keys[number] if self._keys and provider_of(model) == self._provider else None
