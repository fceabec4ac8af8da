"""OpenAI's chat completions, and the providers that speak them (platform.openai.com, "Chat Completions").

litellm's transformation makes each request and reads each unstreamed answer. A streamed answer is put together here:
its pieces are in OpenAI's format already, apart from names of single providers.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from core.json_types import JsonObject, storable
from core.llm.types import ModelAnswer
from providers.models import litellm_library
from providers.models.direct.streamed_calls import StreamedCalls
from providers.models.direct.types import Call, Endpoint, Plan, ProviderRefused
from providers.models.litellm_library import counted_usage
from providers.models.prices import priced_usage

_KEYS = {"openai": ("OPENAI_API_KEY",), "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY")}
_BASES = {"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "openrouter": ("OPENROUTER_API_BASE",)}
"""The variables of those for whom `get_llm_provider` does not read them."""
_DEFAULT_BASES = {"openai": "https://api.openai.com/v1", "openrouter": "https://openrouter.ai/api/v1"}
_SDK_HEADERS = {
    "OpenAI-Organization": ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID"),
    "OpenAI-Project": ("OPENAI_PROJECT_ID",),
}
_SDK_ONLY = "OPENAI_CUSTOM_HEADERS"
"""A variable that only OpenAI's SDK understands."""


class OpenAIChat:
    """The family of OpenAI's chat completions."""

    variables: Mapping[str, tuple[str, ...]] = {
        "openai": (
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_API_BASE",
            "OPENAI_ORGANIZATION",
            "OPENAI_ORG_ID",
            "OPENAI_PROJECT_ID",
            _SDK_ONLY,
        ),
        "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY", "OPENROUTER_API_BASE", "OR_SITE_URL", "OR_APP_NAME"),
        "groq": ("GROQ_API_KEY", "GROQ_API_BASE"),
        "mistral": ("MISTRAL_API_KEY", "MISTRAL_API_BASE", "MISTRAL_AZURE_API_BASE", "MISTRAL_AZURE_API_KEY"),
        "deepseek": ("DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE"),
        "hosted_vllm": ("HOSTED_VLLM_API_KEY", "HOSTED_VLLM_API_BASE"),
    }

    def endpoint(self, call: Call, config: Any, options: dict[str, Any]) -> Endpoint | None:
        key = call.key or _first(_KEYS.get(call.provider, ()))
        base = call.base or _first(_BASES.get(call.provider, ())) or _DEFAULT_BASES.get(call.provider)
        if not key or not base or (call.provider == "openai" and os.environ.get(_SDK_ONLY)):
            return None
        if config.should_fake_stream(model=call.model, stream=call.stream, custom_llm_provider=call.provider):
            return None
        told: dict[str, Any] = {"api_key": key, "api_base": base, "optional_params": options, "litellm_params": {}}
        own = _own_headers(call.provider)
        headers = config.validate_environment(headers=own, model=call.model, messages=[], **told)
        url = config.get_complete_url(model=call.model, stream=call.stream, **told)
        return Endpoint(URL(url), {str(name): str(value) for name, value in headers.items()})

    def fixed(self, plan: Plan) -> str:
        options = dict(plan.options)
        extra = options.get("extra_body") or {}
        if plan.call.provider != "openrouter":  # whose transformation reads it
            options.pop("extra_body", None)
        body = _transformed(plan, [], options)
        for name in ("max_retries", "messages"):
            body.pop(name, None)
        body.update(extra)
        if plan.call.stream:
            body["stream"] = True
        elif not body.get("stream"):
            body.pop("stream", None)
        return json.dumps(body)

    def request(self, plan: Plan, messages: list[JsonObject]) -> tuple[Mapping[str, str], str]:
        sent = json.dumps(_transformed(plan, messages, {})["messages"])
        return plan.endpoint.headers, f'{{"messages": {sent}, {plan.fixed[1:]}'

    def body(self) -> "OpenAIBody":
        return OpenAIBody()


@dataclass(slots=True)
class OpenAIBody:
    """The pieces of a streamed chat completion."""

    characters: int = 0
    pieces: int = 0
    finish_reason: str = ""
    ended: bool = False
    _id: str = ""
    _tier: str | None = None
    _usage: JsonObject | None = None
    _text: list[str] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _blocks: list[JsonObject] = field(default_factory=list)
    _calls: StreamedCalls | None = None

    @property
    def finished(self) -> bool:
        return bool(self.finish_reason)

    def add(self, event: JsonObject) -> str:
        if error := event.get("error"):
            raise _refusal(error)
        if not self._id:
            self._id = str(event.get("id") or "")
        if isinstance(usage := event.get("usage"), dict):
            self._usage = usage
        if tier := event.get("service_tier"):
            self._tier = str(tier)
        choices: Any = event.get("choices")
        if not choices:
            return ""
        self.pieces += 1
        choice = choices[0]
        delta = choice.get("delta") or {}
        if reason := choice.get("finish_reason"):
            self.finish_reason = str(reason)
        elif len(delta) == 1 and isinstance(text := delta.get("content"), str):
            self._text.append(text)  # most pieces are this
            self.characters += len(text)
            return text
        return self._add_delta(delta)

    def _add_delta(self, delta: Any) -> str:
        if calls := delta.get("tool_calls") or delta.get("function_call"):
            self._add_calls(calls if delta.get("tool_calls") else {"function": calls})
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and thought:
            self._thoughts.append(thought)
            self.characters += len(thought)
        if isinstance(refusal := delta.get("refusal"), str):
            self._refusal.append(refusal)
            self.characters += len(refusal)
        text = delta.get("content")
        if isinstance(text, list):
            text = self._add_blocks(text)
        if not text:
            return ""
        text = str(text)
        self._text.append(text)
        self.characters += len(text)
        return text

    def _add_blocks(self, blocks: list[Any]) -> str:
        """Take Mistral's content, which is a list if the model thinks; return its text."""
        texts: list[str] = []
        for block in blocks:
            if block.get("type") == "text":
                texts.append(block.get("text") or "")
            elif block.get("type") == "thinking":
                parts = [part.get("text") or "" for part in block.get("thinking") or () if part.get("type") == "text"]
                if thought := "".join(parts):
                    # The signature is litellm's, which sends such blocks back without it.
                    self._blocks.append({"type": "thinking", "thinking": thought, "signature": "mistral"})
                    self.characters += len(thought)
        return "".join(texts)

    def _add_calls(self, calls: Any) -> None:
        if self._calls is None:
            self._calls = StreamedCalls()
        characters, pieces = self._calls.characters, self._calls.pieces
        self._calls.add(calls)
        self.characters += self._calls.characters - characters
        self.pieces += self._calls.pieces - pieces

    def answer(self, plan: Plan, sent: Sequence[JsonObject], headers: Mapping[str, str]) -> ModelAnswer:
        text, thoughts = storable("".join(self._text)), "".join(self._thoughts)
        thinking = tuple(self._blocks)
        if thoughts and not thinking:
            thinking = ({"type": "reasoning_content", "text": thoughts},)
        return ModelAnswer(
            text=text,
            tool_calls=self._calls.calls(self._id) if self._calls else (),
            thinking=thinking,
            usage=priced_usage(plan.call, self._usage or counted_usage(sent, text), self._tier),
            model=plan.call.name,
            finish_reason=litellm_library.finish_reason(self.finish_reason),
            refusal=storable("".join(self._refusal)),
        )


def _transformed(plan: Plan, messages: list[JsonObject], options: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = plan.config.transform_request(
        model=plan.call.model,
        messages=messages,
        optional_params=options,
        litellm_params=dict(plan.parameters),
        headers={},
    )
    return body


def _refusal(error: Any) -> ProviderRefused:
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    told = error.get("message") if isinstance(error, dict) else error
    return ProviderRefused(status, str(told or error))


def _own_headers(provider: str) -> dict[str, str]:
    """Return the headers that litellm or OpenAI's SDK add outside the transformation."""
    if provider == "openrouter":
        return {
            "HTTP-Referer": os.environ.get("OR_SITE_URL") or "https://litellm.ai",
            "X-Title": os.environ.get("OR_APP_NAME") or "liteLLM",
        }
    if provider != "openai":
        return {}
    told = {name: _first(variables) for name, variables in _SDK_HEADERS.items()}
    return {name: value for name, value in told.items() if value}


def _first(variables: tuple[str, ...]) -> str | None:
    return next((value for name in variables if (value := os.environ.get(name))), None)
