"""The usage and the price of a call that litellm did not make, by litellm's own counting and prices."""

from collections.abc import Sequence
from typing import Any

import structlog

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
    cost = _told_cost(usage)
    # By the model's name alone where the provider's has no price, as litellm does for streams.
    names = (call.model, call.model, call.provider, None)
    if cost is None and names not in _UNPRICED:
        response = litellm.ModelResponse(choices=[], model=call.model, usage=told)
        if tier:
            response.service_tier = tier
        cost = _cost(response, names)
    cached = getattr(told.prompt_tokens_details, "cached_tokens", 0) or 0
    return TokenUsage(told.prompt_tokens or 0, told.completion_tokens or 0, cached, cost)


def price(response: Any, call: Call) -> float | None:
    """Return the price of litellm's response to a call; None where it knows none."""
    return _cost(response, (call.model, str(response.model), call.provider))


def _told_cost(usage: JsonObject) -> float | None:
    """Return what the provider itself says that the call cost, as OpenRouter does."""
    cost = usage.get("cost")
    return float(cost) if isinstance(cost, int | float) and cost > 0 else None


def _cost(response: Any, names: tuple[str | None, ...]) -> float | None:
    """Return a price. `names`: the model that was asked, the one that answered, and the providers to look under."""
    if names in _UNPRICED:
        return None
    for provider in names[2:]:
        try:
            cost = litellm_library.load().completion_cost(response, model=names[0], custom_llm_provider=provider)
        except Exception as unknown:  # whatever it raises says that the price is not known
            _log.debug("no_price", model=names[0], cause=type(unknown).__name__)
        else:
            return cost if isinstance(cost, float) and cost > 0 else None
    if len(_UNPRICED) < _MANY:
        _UNPRICED.add(names)
    return None


_log = structlog.get_logger()
_UNPRICED: set[tuple[str | None, ...]] = set()
"""Names without a price, since litellm searches its whole map for them."""
_MANY = 1_000
