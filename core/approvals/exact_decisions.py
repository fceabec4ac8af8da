"""The decision by an exact word, such as OK 7K, about all approvals that it means. Pure.

A word that decides nothing stays an ordinary message, which the model reads. But a text that can only be a code is
answered if nothing waits under it; a bare word after several cards, or where only codes decide, is answered with the
codes. After five unknown codes no code decides anything in that conversation for an hour; the person is told once.
"""

from dataclasses import dataclass
from datetime import datetime

from core.approvals.decisions import Ruling, decide_word, standing
from core.approvals.exact_replies import ALL, ExactReply, Verb
from core.approvals.facts import ApprovalFacts, WordFacts
from core.approvals.outcomes import DecisionOutcome
from core.json_types import Json, JsonObject

MOST_WRONG_CODES = 5
MOST_DECIDED = 50
"""Approvals that OK ALL decides at once."""
MOST_LISTED = 10
"""Approvals whose codes are listed in an answer."""


@dataclass(frozen=True, slots=True)
class WordRuling:
    """The outcome of an exact word, None if it stays an ordinary message.

    `about`: a ruling for each approval that the reply names. `code`: the code that the reply names if it names no
    approval, None if it is silent.
    """

    outcome: DecisionOutcome | None = None
    about: tuple[Ruling, ...] = ()
    code: str | None = None

    def to_json(self, word: ExactReply, fresh: str) -> JsonObject:
        """Return it as `receive_exact` takes it; the number of the word goes from the stored message."""
        rulings: list[Json] = [ruling.to_json() for ruling in self.about]
        outcome = self.outcome.value if self.outcome else None
        number = word.confirmation_number or ""
        return {"outcome": outcome, "rulings": rulings, "code": self.code, "given": number, "fresh": fresh}


ORDINARY = WordRuling()


def decide_exact(
    word: ExactReply, facts: WordFacts, fresh: str, channel: str, now: datetime, *, codes_only: bool
) -> WordRuling:
    """Decide by an exact word; `codes_only`: on this channel only codes decide."""
    if not facts.code and not any(one.last for one in facts.approvals):
        return ORDINARY
    given = word.code or ""
    if given not in ("", ALL) and word.verb is not Verb.EDIT and facts.wrong_codes >= MOST_WRONG_CODES:
        return WordRuling(DecisionOutcome.GUESSED, code=None if facts.warned else "")
    meant = meant_approvals(facts)
    needs_code = (codes_only and facts.code in ("", ALL)) or (not facts.code and len(meant) > 1)
    if needs_code and (listed := _listed(facts)):
        return WordRuling(DecisionOutcome.NEEDS_CODE, listed)
    if word.verb is Verb.EDIT and any(_is_editable(one, now) for one in meant):
        return ORDINARY
    rulings = tuple(decide_word(one, word, fresh, channel, now) for one in meant)
    if rulings:
        return WordRuling(rulings[-1].outcome, rulings)
    if given == ALL:
        return WordRuling(DecisionOutcome.NOTHING, code=given)
    return WordRuling(DecisionOutcome.NO_CODE, code=given) if word.names_code else ORDINARY


def meant_approvals(facts: WordFacts) -> tuple[ApprovalFacts, ...]:
    """Return the approvals that a word means: with its code, or all shown here, or those of the last messages.

    ALL never covers high risk. A bare word counts only if a single card is the last message: two are returned to tell.
    """
    if facts.code == ALL:
        return tuple(one for one in facts.approvals if not one.high_risk)[:MOST_DECIDED]
    return facts.approvals if facts.code else tuple(one for one in facts.approvals if one.last)[:2]


def _listed(facts: WordFacts) -> tuple[Ruling, ...]:
    """Return the approvals that wait here, for an answer with their codes: high risk only if it was shown last."""
    listed = [one for one in facts.approvals if one.last or not one.high_risk][:MOST_LISTED]
    return tuple(Ruling(one.id, DecisionOutcome.NEEDS_CODE) for one in listed)


def _is_editable(facts: ApprovalFacts, now: datetime) -> bool:
    return standing(facts, now) in (DecisionOutcome.PENDING, DecisionOutcome.ALTERED)
