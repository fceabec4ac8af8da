"""Estimating the cost of a model call before it is made, on the high side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.llm.types import ChatMessage, ModelRequest, Role, estimate_tokens

USUAL_ANSWER = 4_096
"""Tokens of an answer without a limit."""
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars for an input token and an output token; `longest_answer` in tokens."""

    input: float
    output: float
    longest_answer: int = USUAL_ANSWER


def price_of(known: Mapping[str, object]) -> ModelPrice | None:
    """Return the price in an entry of litellm's map, or None if the entry has no price."""
    in_, out = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    longest = known.get("max_output_tokens")
    if not isinstance(in_, int | float) or not isinstance(out, int | float):
        return None
    return ModelPrice(in_, out, longest if isinstance(longest, int) else USUAL_ANSWER)


def embedding_price_of(known: Mapping[str, object]) -> ModelPrice | None:
    """Return the price in the entry of an embedding model, which bills no output, or None if the entry has no price."""
    return price_of({"output_cost_per_token": 0.0} | dict(known))


def estimate(request: ModelRequest, prices: Iterable[ModelPrice]) -> float:
    """Return the cost of a call in dollars with the most expensive model and the longest expected answer."""
    offered = sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools) // _CHARS_PER_TOKEN
    tokens = estimate_tokens(request.messages) + offered
    longest = request.max_output_tokens or USUAL_ANSWER
    return max(
        (price.input * tokens + price.output * min(longest, price.longest_answer) for price in prices), default=0.0
    )


def estimate_embedding(texts: Sequence[str], price: ModelPrice) -> float:
    """Return the cost of embedding texts in dollars."""
    return price.input * estimate_tokens([ChatMessage(Role.USER, text) for text in texts])
