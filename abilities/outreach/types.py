"""The limits of awaited answers: their time and number; and the outcome of each."""

from datetime import timedelta
from enum import StrEnum

ANSWERS_WITHIN = timedelta(days=14)
"""How long after a message an answer to it is waited for, and its reader knows who wrote."""
MAX_ANSWERS = 20
"""Answers that are handed on between two messages to the same address."""
MAX_ANSWER = 2_000
"""Characters of an answer that are handed on."""


class AnswerOutcome(StrEnum):
    """The outcome of a message that may be an answer, as `take_answer` returns it."""

    TAKEN = "taken"
    DUPLICATE = "duplicate"
    TOO_MANY = "too_many"
    """Kept without its text."""
    NONE = "none"
    """No answer is waited for."""
