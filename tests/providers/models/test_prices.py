"""Prices of answers are litellm's own, by rates or asked of it, to the last digit that a float has."""

from typing import Any

import pytest

from core.json_types import JsonObject
from providers.models import litellm_library, prices
from providers.models.direct.types import Call
from providers.models.prices import RATES_UP_TO, priced_usage

CACHED: JsonObject = {"cached_tokens": 3000}
THOUGHT: JsonObject = {"reasoning_tokens": 64, "audio_tokens": 0}
USAGES: dict[str, JsonObject] = {
    "plain": {"prompt_tokens": 4000, "completion_tokens": 100, "total_tokens": 4100},
    "cached": {"prompt_tokens": 4000, "completion_tokens": 100, "total_tokens": 4100, "prompt_tokens_details": CACHED},
    "thought": {
        "prompt_tokens": 7,
        "completion_tokens": 100,
        "total_tokens": 107,
        "completion_tokens_details": THOUGHT,
    },
    "longest": {"prompt_tokens": RATES_UP_TO - 1, "completion_tokens": 9000, "total_tokens": RATES_UP_TO + 8999},
    "nothing": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
}
ELSE: dict[str, JsonObject] = {
    "long": {"prompt_tokens": 300_000, "completion_tokens": 100, "total_tokens": 300_100},
    "sound": USAGES["plain"] | {"prompt_tokens_details": {"audio_tokens": 900, "cached_tokens": 0}},
    "written": USAGES["plain"] | {"cache_creation_input_tokens": 500},
    "odd": USAGES["plain"] | {"prompt_tokens_details": {"cached_tokens": 5000}},
}
MODELS = (
    ("openai", "gpt-5-mini"),
    ("openai", "gpt-4o"),
    ("openai", "o3"),
    ("deepseek", "deepseek-chat"),
    ("groq", "llama-3.3-70b-versatile"),
    ("mistral", "mistral-large-latest"),
    ("xai", "grok-4"),
    ("gemini", "gemini-2.5-pro"),
    ("dashscope", "qwen3-coder-plus"),
    ("openai", "no-such-model"),
)


@pytest.fixture(autouse=True)
def new_rates(monkeypatch: pytest.MonkeyPatch) -> list[JsonObject]:
    """Begin without rates; return the usages that litellm is asked to price."""
    asked: list[JsonObject] = []
    real = litellm_library.load().completion_cost

    def completion_cost(response: Any, **names: Any) -> object:
        asked.append(response.usage.model_dump())
        return real(response, **names)

    monkeypatch.setattr(prices, "_RATES", {})
    monkeypatch.setattr(prices, "_UNPRICED", set())
    monkeypatch.setattr(litellm_library.load(), "completion_cost", completion_cost)
    return asked


def _call(provider: str, model: str) -> Call:
    return Call(f"{provider}/{model}", model, provider, {}, None, None, stream=True)


def _litellms(call: Call, usage: JsonObject, tier: str | None) -> float | None:
    return prices._asked((call.model, call.model, call.provider, None), usage, tier)


def _compare(call: Call, usages: dict[str, JsonObject], tier: str | None = None) -> None:
    for name, usage in usages.items():
        told, wanted = priced_usage(call, usage, tier).cost, _litellms(call, usage, tier)
        assert told == (None if wanted is None else pytest.approx(wanted, rel=1e-9)), (call.name, name)


@pytest.mark.parametrize(("provider", "model"), MODELS)
def test_an_answer_costs_what_litellm_says(provider: str, model: str) -> None:
    _compare(_call(provider, model), USAGES | ELSE)
    _compare(_call(provider, model), USAGES, "default")
    _compare(_call(provider, model), USAGES, "priority")


@pytest.mark.whole("a model of each of some seventy providers takes half a second of CPU")
def test_a_model_of_each_provider_costs_what_litellm_says() -> None:
    seen = set[str]()
    for name, entry in litellm_library.load().model_cost.items():
        provider = entry.get("litellm_provider", "") if entry.get("input_cost_per_token") else ""
        if provider and entry.get("mode") in ("chat", "responses") and provider not in seen:
            seen.add(provider)
            _compare(_call(provider, name), USAGES)
    assert len(seen) > 50


def test_litellm_is_asked_once_a_model_and_for_what_is_not_plain(new_rates: list[JsonObject]) -> None:
    call = _call("openai", "gpt-4o")
    for usage in USAGES.values():
        priced_usage(call, usage, None)
    samples = len(new_rates)
    assert samples == 5
    for usage in (*USAGES.values(), *USAGES.values()):
        priced_usage(call, usage, "default")
    assert len(new_rates) == samples
    for usage in ELSE.values():
        priced_usage(call, usage, None)
    assert len(new_rates) == samples + len(ELSE)


def test_the_tokens_told_are_the_providers() -> None:
    told = priced_usage(_call("openai", "gpt-4o"), USAGES["cached"], None)
    assert (told.input_tokens, told.output_tokens, told.cached_tokens) == (4000, 100, 3000)
