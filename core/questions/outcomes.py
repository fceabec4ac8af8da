"""The reply to a press, and the end of a question as its card shows it. Pure."""

from enum import StrEnum

from core.language.catalogue import gettext, gettext_noop


class ChoiceOutcome(StrEnum):
    """The outcome of a press on a question's button, as SQL names it."""

    CHOSEN = "chosen"
    SKIPPED = "skipped"
    ALREADY = "already_answered"
    ALREADY_SKIPPED = "already_skipped"
    CLOSED = "closed"
    PAUSED = "paused"
    NOT_YOURS = "not_yours"
    UNKNOWN = "unknown"


class QuestionEnd(StrEnum):
    """The end of a question on its card, as SQL names it."""

    CHOSEN = "chosen"
    SKIPPED = "skipped"
    CLOSED = "closed"
    ASKED_AGAIN = "asked_again"
    AMENDED = "amended"


_TOASTS = {
    ChoiceOutcome.ALREADY: gettext_noop("You have already answered this: {answer}"),
    ChoiceOutcome.ALREADY_SKIPPED: gettext_noop("You have already skipped this."),
    ChoiceOutcome.CLOSED: gettext_noop("This question is no longer open."),
    ChoiceOutcome.PAUSED: gettext_noop("This is paused. Tell me to go on with it first."),
    ChoiceOutcome.NOT_YOURS: gettext_noop("This is not yours to decide."),
    ChoiceOutcome.UNKNOWN: gettext_noop("This button no longer works."),
}
_ON_CARDS = {
    QuestionEnd.CHOSEN: gettext_noop("You chose: {answer}"),
    QuestionEnd.SKIPPED: gettext_noop("Skipped."),
    QuestionEnd.CLOSED: gettext_noop("This question is no longer open."),
    QuestionEnd.ASKED_AGAIN: gettext_noop("Asked again below."),
    QuestionEnd.AMENDED: gettext_noop("Void: you changed your message."),
}


def toast(outcome: ChoiceOutcome, answer: str) -> str | None:
    """Return the notice for the presser, without markup; None if the card says it."""
    return gettext(_TOASTS[outcome], answer=answer) if outcome in _TOASTS else None


def card_line(end: QuestionEnd, answer: str) -> str:
    """Return the line that a card shows in place of its buttons, without markup."""
    return gettext(_ON_CARDS[end], answer=answer)
