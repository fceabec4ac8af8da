"""The price of a call, by litellm's map: asked of litellm for each answer, or computed from the model's rates.

litellm takes 0.15 ms to price an answer. An answer that bills nothing but tokens of text is priced by rates, which are
taken from litellm's own prices once a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from core.json_types import JsonObject
from core.llm.types import TokenUsage
from providers.models.direct.types import Call
from providers.models.litellm_library import known, load

type _Names = tuple[str | None, ...]
"""The requested model, the answering model, and the providers to look under."""

RATES_UP_TO = 32_000
"""Tokens of a prompt, from which some models are dearer."""
_TOKENS = frozenset(
    {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"}
)
_MOST_KEPT = 1_000
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of an answer: `prompt` includes `cached`, `completion` includes `reasoning`."""

    prompt: int
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    def usage(self) -> JsonObject:
        """Return OpenAI's form."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning},
        }


@dataclass(frozen=True, slots=True)
class _Rates:
    """The US dollars that a token costs."""

    prompt: float
    completion: float
    cached: float
    reasoning: float

    def cost(self, tokens: _Tokens) -> float:
        """Return the price of an answer."""
        return (
            (tokens.prompt - tokens.cached) * self.prompt
            + tokens.cached * self.cached
            + (tokens.completion - tokens.reasoning) * self.completion
            + tokens.reasoning * self.reasoning
        )


_UNPRICED: set[_Names] = set()
"""Names without a price, since litellm searches its whole map for them."""
_RATES: dict[_Names, _Rates | None] = {}


def priced_usage(call: Call, usage: JsonObject, tier: str | None) -> TokenUsage:
    """Return the usage that a stream reported, priced as the requested model."""
    # By the model's name alone if the provider's has no price, as litellm does for streams.
    names = (call.model, call.model, call.provider, None)
    tokens = _tokens(usage) if tier in (None, "default") else None
    if tokens is not None and (rates := _rates(names)) is not None:
        return TokenUsage(tokens.prompt, tokens.completion, tokens.cached, rates.cost(tokens) or None)
    told = load().Usage(**usage)
    cost = _told_cost(usage)
    cached = getattr(told.prompt_tokens_details, "cached_tokens", 0) or 0
    if cost is None:
        cost = _asked(names, usage, tier)
    return TokenUsage(told.prompt_tokens or 0, told.completion_tokens or 0, cached, cost)


def price(response: Any, call: Call) -> float | None:
    """Return the price of litellm's response to a call; None if it knows none."""
    return _cost(response, (call.model, str(response.model), call.provider))


def _tokens(usage: JsonObject) -> _Tokens | None:
    """Return the tokens of an answer; None if it may bill anything else, such as sound or writing to a cache."""
    read: Any = usage.get("prompt_tokens_details") or {}
    written: Any = usage.get("completion_tokens_details") or {}
    if not (_only(usage, _TOKENS) and _only(read, {"cached_tokens"}) and _only(written, {"reasoning_tokens"})):
        return None
    counts: list[Any] = [
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        read.get("cached_tokens") or 0,
        written.get("reasoning_tokens") or 0,
    ]
    if {type(count) for count in counts} != {int}:
        return None
    tokens = _Tokens(*counts)
    sound = 0 <= tokens.cached <= tokens.prompt < RATES_UP_TO and 0 <= tokens.reasoning <= tokens.completion
    return tokens if sound else None


def _only(told: Any, names: frozenset[str] | set[str]) -> bool:
    return isinstance(told, Mapping) and {name for name, value in told.items() if value} <= names


def _rates(names: _Names) -> _Rates | None:
    """Return a model's rates; None if its prices are not of that kind."""
    if names not in _RATES:
        if len(_RATES) >= _MOST_KEPT:
            _RATES.clear()
        _RATES[names] = _read_rates(names)
    return _RATES[names]


def _read_rates(names: _Names) -> _Rates | None:
    """Take the rates from litellm's prices of single kinds of tokens, and prove them by its price of a mixture."""
    model, _, provider, *_ = names
    if names in _UNPRICED or any("off_peak_pricing" in known(str(name)) for name in (model, f"{provider}/{model}")):
        return None
    samples = (_Tokens(1000), _Tokens(1000, 1000), _Tokens(1000, cached=1000), _Tokens(1000, 1000, reasoning=1000))
    prices = [_asked(names, sample.usage(), None) for sample in samples]
    prompt, both, cached, thought = (told or 0.0 for told in prices)
    if not prompt or not both:
        return None
    rates = _Rates(prompt / 1000, (both - prompt) / 1000, cached / 1000, (thought - prompt) / 1000)
    mixture = _Tokens(9000, 700, 4000, 300)
    told = _asked(names, mixture.usage(), None)
    return rates if told is not None and abs(rates.cost(mixture) - told) <= told * 1e-9 else None


def _asked(names: _Names, usage: JsonObject, tier: str | None) -> float | None:
    """Return litellm's price of a usage."""
    if names in _UNPRICED:
        return None
    litellm = load()
    response = litellm.ModelResponse(choices=[], model=names[1], usage=litellm.Usage(**usage))
    if tier:
        response.service_tier = tier
    return _cost(response, names)


def _told_cost(usage: JsonObject) -> float | None:
    """Return the cost that the provider itself reports, as OpenRouter does."""
    cost = usage.get("cost")
    return float(cost) if isinstance(cost, int | float) and cost > 0 else None


def _cost(response: Any, names: _Names) -> float | None:
    """Return litellm's price of a response."""
    if names in _UNPRICED:
        return None
    for provider in names[2:]:
        try:
            cost = load().completion_cost(response, model=names[0], custom_llm_provider=provider)
        except Exception as unknown:  # any error means that the price is unknown
            _log.debug("no_price", model=names[0], cause=type(unknown).__name__)
        else:
            return cost if isinstance(cost, float) and cost > 0 else None
    if len(_UNPRICED) < _MOST_KEPT:
        _UNPRICED.add(names)
    return None
