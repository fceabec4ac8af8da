"""The messages of a turn's questions with buttons, each with the ids under which it is sent."""

from core.ids import IdMaker
from core.questions.wording import QuestionCard, card
from core.turns.types import TurnResult


def questions_of(result: TurnResult, make_id: IdMaker) -> list[QuestionCard]:
    """Return the messages that ask what a turn's result asks with choices."""
    return [card(asked, make_id("ask"), make_id("out")) for asked in result.questions]
