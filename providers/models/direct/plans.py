"""The calls that go direct: plans made from a call's options, kept for the next call like it."""

import copy
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.json_types import JsonObject
from providers.models import litellm_library
from providers.models.direct.anthropic import Anthropic
from providers.models.direct.gemini import Gemini
from providers.models.direct.openai_chat import OpenAIChat
from providers.models.direct.types import Call, Family, Plan

_OPENAI_CHAT, _ANTHROPIC, _GEMINI = OpenAIChat(), Anthropic(), Gemini()
FAMILIES: Mapping[str, Family] = {
    "openai": _OPENAI_CHAT,
    "openrouter": _OPENAI_CHAT,
    "groq": _OPENAI_CHAT,
    "mistral": _OPENAI_CHAT,
    "deepseek": _OPENAI_CHAT,
    "hosted_vllm": _OPENAI_CHAT,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
}
"""The providers that are called direct; each is proven by the transcripts in `tests/providers/models/direct/`."""
STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
"""The options of a call whose answer is streamed."""
_KEPT = 32
"""Plans that are kept, each for a model, a key and a set of tools in use."""
_NOT_OF_THE_CALL = ("model", "messages", "api_key", "timeout", "num_retries")


class Plans:
    """Makes plans. `enabled=False` makes none, so that litellm makes every call."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._kept: OrderedDict[tuple[object, ...], tuple[Mapping[str, Any], Plan | None]] = OrderedDict()

    def offers(self, model: str) -> bool:
        """Return whether the calls of a model's provider go direct."""
        return self._enabled and model.split("/", 1)[0] in FAMILIES

    def plan(self, arguments: Mapping[str, Any], *, stream: bool) -> Plan | None:
        """Return the plan of a call with these arguments of litellm's; None if litellm must make the call."""
        name, key = str(arguments["model"]), arguments.get("api_key")
        if not self.offers(name):
            return None
        provider = name.split("/", 1)[0]
        family = FAMILIES[provider]
        options = {name: value for name, value in arguments.items() if name not in _NOT_OF_THE_CALL}
        if stream:
            options |= STREAMED
        tools: list[JsonObject] = options.get("tools") or []
        place = (name, key, stream, len(tools), *(os.environ.get(variable) for variable in family.variables[provider]))
        known = self._kept.get(place)
        if known is not None and known[0] == options:
            return known[1]
        # A copy: some of litellm's transformations change the tools that they are given.
        plan = _plan(family, name, key, copy.deepcopy(options), stream=stream)
        self._kept[place] = (options, plan)
        self._kept.move_to_end(place)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return plan


def _plan(family: Family, name: str, key: str | None, options: Mapping[str, Any], *, stream: bool) -> Plan | None:
    litellm = litellm_library.load()
    model, provider, told_key, base = litellm.get_llm_provider(model=name, api_key=key)
    config = litellm_library.chat_config(model, provider)
    if config is None or litellm_library.speaks_responses(model, provider, options, base):
        return None
    call = Call(name, model, provider, options, told_key or key, base, stream)
    own = litellm_library.provider_options(model, provider, options)
    endpoint = family.endpoint(call, config, own)
    if endpoint is None or own.get("fake_stream"):
        return None
    parameters = {"custom_llm_provider": provider, "api_base": base}
    plan = Plan(call, family, endpoint, config, own, parameters)
    return replace(plan, fixed=family.fixed(plan))
