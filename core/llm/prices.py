"""What a model call may cost, before it is made: an estimate on the high side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.llm.tokens import estimate_tokens
from core.llm.types import ModelRequest

USUAL_ANSWER = 4_096
"""Tokens that an answer is taken to have at most, where no limit is set."""
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars for one token in and one token out; `longest_answer` in tokens."""

    input: float
    output: float
    longest_answer: int = USUAL_ANSWER


def price_of(known: Mapping[str, object]) -> ModelPrice | None:
    """Read a price from an entry of litellm's map; None where it has none."""
    in_, out = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    longest = known.get("max_output_tokens")
    if not isinstance(in_, int | float) or not isinstance(out, int | float):
        return None
    return ModelPrice(in_, out, longest if isinstance(longest, int) else USUAL_ANSWER)


def estimate(request: ModelRequest, prices: Iterable[ModelPrice]) -> float:
    """Return what a call costs in dollars with the dearest of the models, and an answer as long as may be expected."""
    offered = sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools) // _CHARS_PER_TOKEN
    tokens = estimate_tokens(request.messages) + offered
    longest = request.max_output_tokens or USUAL_ANSWER
    return max(
        (one.input * tokens + one.output * min(longest, one.longest_answer) for one in prices),
        default=0.0,
    )
