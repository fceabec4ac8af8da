"""The decision about an approval by a reaction to its card. Pure.

A reaction is a press without a button: it decides only what a slip of the thumb may decide. Its answer is a message,
since nothing else shows its effect.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from core.approvals.decisions import Ruling, decided, is_open, standing
from core.approvals.exact_replies import Verb
from core.approvals.facts import ApprovalFacts, PressFacts, Shown
from core.approvals.outcomes import DecisionOutcome
from core.messaging.emoji import THUMB_DOWN, THUMB_UP

REACTION = "reaction"
"""The way in which an approval was decided, for its audit."""
_VERBS = {THUMB_UP: Verb.APPROVE, THUMB_DOWN: Verb.CANCEL}


@dataclass(frozen=True, slots=True)
class ReactedCard:
    """A reaction to a card, besides its verb.

    `at_end`: it is on the part with the card's end. `names_code`: it proves that its sender has read the card, by the
    provider's id of it or by a quote with the code. `redrawn`: the card itself shows a decision.
    """

    taken_back: bool
    at_end: bool
    names_code: bool
    redrawn: bool
    decided_how: str = ""


def read_reactions(added: tuple[str, ...], removed: tuple[str, ...]) -> tuple[Verb | None, bool]:
    """Return the verb of a change of reactions, None if it has none, and whether the reaction was taken back."""
    new, old = ({_VERBS[emoji] for emoji in emojis if emoji in _VERBS} for emojis in (added, removed))
    if new:
        return (new.pop() if len(new) == 1 else None), False
    return (old.pop() if len(old) == 1 else None), True


def decide_reaction(facts: PressFacts, verb: Verb, card: ReactedCard, now: datetime) -> Ruling:
    """Decide by a reaction: as a press, but never about high risk. Taking it back decides nothing."""
    if facts.approval is None:
        outcome = DecisionOutcome.NOT_YOURS if facts.known else DecisionOutcome.UNKNOWN
        return Ruling("", outcome, how=REACTION, gesture=REACTION)
    stands = standing(facts.approval, now)
    return replace(_decide(facts.approval, verb, card, now), stands=stands, gesture=REACTION)


def _decide(facts: ApprovalFacts, verb: Verb, card: ReactedCard, now: datetime) -> Ruling:
    stands = standing(facts, now)
    if card.taken_back:
        return Ruling(facts.id, DecisionOutcome.TAKEN_BACK, told=card.decided_how == REACTION)
    if not is_open(stands, verb):
        return Ruling(facts.id, stands, told=True)
    if facts.high_risk:
        return Ruling(facts.id, DecisionOutcome.NEEDS_PRESS, told=True)
    if not card.names_code:
        return Ruling(facts.id, DecisionOutcome.NEEDS_CODE, told=True)
    if verb is Verb.APPROVE and facts.shown(pressed=card.at_end) is not Shown.WHOLE:
        return Ruling(facts.id, DecisionOutcome.NOT_WHOLE, told=True)
    return replace(decided(facts, verb, REACTION), told=not card.redrawn)
