"""Embeddings of texts, which litellm makes."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from core.http.provider_session import MAX_LIST
from core.llm.prices import embedding_price_of
from core.llm.types import Embeddings, TokenUsage
from providers.models.call_meter import CallMeter, Operation
from providers.models.litellm_hearing import hearing
from providers.models.litellm_path import errors_made_ours, loaded
from providers.models.provider_errors import whole_within
from providers.models.streamed_answer import check_usage

EMBED_PATIENCE = 22.0
"""Seconds that embedding may take."""


async def embed(model: str, texts: Sequence[str], key: str | None, known: Mapping[str, Any]) -> Embeddings:
    """Embed texts with a model of litellm's names; `known` is litellm's entry of it.

    Raises a `core.errors.ModelError`.
    """
    litellm, patience = await loaded(), EMBED_PATIENCE
    with CallMeter(model, operation=Operation.EMBEDDINGS) as meter:
        async with whole_within(patience):
            with errors_made_ours(litellm, model), hearing(MAX_LIST):
                response = await litellm.aembedding(model=model, input=list(texts), timeout=patience, api_key=key)
                vectors, tokens = _read(response, len(texts))
        price = embedding_price_of(known)
        usage = TokenUsage(tokens, cost=price.input * tokens if price and tokens else None)
        meter.answered(usage)
    return Embeddings(vectors, usage)


def _read(response: Any, count: int) -> tuple[list[list[float]], int]:
    """Return the vectors of all texts, in order, and the tokens. Raises `ValueError` if either is invalid."""
    tokens = getattr(response.usage, "prompt_tokens", 0) or 0
    check_usage(TokenUsage(tokens))
    items = sorted(response.data, key=lambda item: int(item["index"]))
    vectors = [[float(number) for number in item["embedding"]] for item in items]
    if len(vectors) != count or not all(map(math.isfinite, chain.from_iterable(vectors))):
        raise ValueError("no vectors of these texts")
    return vectors, tokens
