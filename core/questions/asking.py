"""The asker of a tool: it returns the person's answers or, if any is missing, makes the call wait."""

import hashlib
from collections.abc import Sequence
from typing import Protocol

from core.errors import ToolFailed
from core.json_types import JsonObject
from core.questions.types import MAX_AT_ONCE, Asked, PersonAsked, Question


class AskPerson(Protocol):
    """Asks the person of a call, and returns their answers once they are there."""

    async def __call__(self, *questions: Question) -> Sequence[str | None]:
        """Return the answers in the order of the questions: a choice, the person's own words, or None if skipped.

        If an answer is missing, the call ends here and waits. It runs again from its beginning once all are there,
        so it asks the same then, and does nothing that lasts before it asks.
        """
        ...


class QuestionAsker:
    """Asks on behalf of a call, as often as it likes; `answers` are the answers so far, by name."""

    def __init__(self, answers: JsonObject) -> None:
        self._answers = answers
        self._count = 0

    async def __call__(self, *questions: Question) -> Sequence[str | None]:
        """Return the answers; see `AskPerson`. Raises `PersonAsked` if an answer is missing."""
        if not 0 < len(questions) <= MAX_AT_ONCE:
            raise ValueError(f"One to {MAX_AT_ONCE} questions are asked at once.")
        asks = [self._named(question) for question in questions]
        if missing := [asked for asked in asks if asked.name not in self._answers]:
            raise PersonAsked(missing)
        given = [self._answers[asked.name] for asked in asks]
        return [None if answer is None else str(answer) for answer in given]

    def _named(self, question: Question) -> Asked:
        """Name a question by its position and its words: an answer belongs to no other question."""
        self._count += 1
        choices = tuple(question.choices)
        words = "\n".join((question.text, *choices))
        name = f"question_{self._count}_{hashlib.sha256(words.encode()).hexdigest()[:6]}"
        return Asked(name, question.text, choices, choices, question.free or not choices, question.skip)


async def nobody_to_ask(*questions: Question) -> Sequence[str | None]:
    """Refuse to ask: there is nobody, or it is no tool's call that asks."""
    raise ToolFailed("Nobody can be asked from here.")
