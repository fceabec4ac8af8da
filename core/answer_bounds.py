"""What one model answer may cause, and what is said of an answer that was cut off; pure."""

from collections.abc import Mapping, Sequence

from core import sentences
from core.model_types import ModelAnswer, ToolCall


def told(answer: ModelAnswer) -> str:
    """Return an answer as the person reads it: one that was cut off says so."""
    text = answer.text
    return f"{text.rstrip()}\n\n{sentences.ANSWER_CUT_OFF}" if answer.cut else text


def calls_not_run(calls: Sequence[ToolCall], most: int, *, cut: bool) -> Mapping[int, str]:
    """Return why calls are not run, by their number from 1.

    Those beyond `most` are not, and of an answer that was `cut` the last one: what is missing of it cannot be known.
    """
    refused = {number: sentences.too_many_calls(most) for number in range(most + 1, len(calls) + 1)}
    return {**refused, len(calls): sentences.CALL_CUT_OFF} if cut and calls else refused
