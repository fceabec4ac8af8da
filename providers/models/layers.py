"""The layers of a model, tried in turn while calls fail."""

from collections.abc import Sequence

from core.llm.types import ModelLayer


def layers_of(model: str, fallbacks: Sequence[str], keys: int, effort: str) -> tuple[ModelLayer, ...]:
    """Return the layers in order: every key, then less reasoning, then the fallback models with their keys."""
    layers = [ModelLayer(model, key, effort) for key in range(max(keys, 1))]
    if effort in ("medium", "high"):
        layers.append(ModelLayer(model, 0, "low"))
    for fallback in fallbacks:
        same = provider_of(fallback) == provider_of(model)
        layers += [ModelLayer(fallback, key, effort) for key in range(max(keys, 1) if same else 1)]
    return tuple(layers)


def provider_of(model: str) -> str:
    """Return the provider's part of a model's name; empty if it has none."""
    return model.split("/", 1)[0] if "/" in model else ""
