"""The usage and the price of a call that litellm did not make, by litellm's own counting and prices."""

from collections.abc import Sequence
from typing import Any

from core.json_types import JsonObject
from core.llm import litellm_library
from core.llm.direct.types import Call
from core.llm.types import TokenUsage

_COUNTED_AS = "gpt-4o"
"""Whose tokens are counted: for models of some names litellm would fetch a tokenizer from the internet."""


def counted_usage(sent: Sequence[JsonObject], text: str) -> JsonObject:
    """Return the usage of a stream that told none, as litellm counts it."""
    litellm = litellm_library.load()
    prompt = litellm.token_counter(model=_COUNTED_AS, messages=sent)
    answer = litellm.token_counter(model=_COUNTED_AS, text=text, count_response_tokens=True)
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def priced_usage(call: Call, usage: JsonObject, tier: str | None) -> TokenUsage:
    """Return the usage that a stream told, with its price, which is that of the model that was asked for."""
    litellm = litellm_library.load()
    told = litellm.Usage(**usage)
    details = told.prompt_tokens_details
    return TokenUsage(
        told.prompt_tokens or 0,
        told.completion_tokens or 0,
        getattr(details, "cached_tokens", 0) or 0,
        _told_cost(usage)
        or _cost(litellm.ModelResponse(choices=[], model=call.model, usage=told), call, tier, again=True),
    )


def _told_cost(usage: JsonObject) -> float | None:
    """Return what the provider itself says that the call cost, as OpenRouter does."""
    cost = usage.get("cost")
    return float(cost) if isinstance(cost, int | float) and cost > 0 else None


def price(response: Any, call: Call) -> float | None:
    """Return the price of litellm's response to a call; None where it knows none."""
    return _cost(response, call, None)


def _cost(response: Any, call: Call, tier: str | None, *, again: bool = False) -> float | None:
    """Return a price. `again`: by the model's name alone where the provider's has none, as litellm does for streams."""
    names = (call.provider, call.model, str(response.model))
    if names in _UNPRICED:
        return None
    if tier:
        response.service_tier = tier
    litellm = litellm_library.load()
    for provider in (call.provider, None) if again else (call.provider,):
        try:
            cost = litellm.completion_cost(response, model=call.model, custom_llm_provider=provider)
            break
        except Exception as unknown:  # whatever it raises says that the price is not known
            cost = unknown
    if isinstance(cost, Exception) and len(_UNPRICED) < _MANY:
        _UNPRICED.add(names)
    return cost if isinstance(cost, float) and cost > 0 else None


_UNPRICED: set[tuple[str, str, str]] = set()
"""Provider, model and the model that answered: what has no price is searched for through the whole map."""
_MANY = 1_000
