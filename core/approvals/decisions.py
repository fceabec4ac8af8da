"""The decision about one approval, by a button, a form, an exact word or the person's own words. Pure.

A decision is made by facts that SQL returned, and written only if they are still the same under the locks
(`core.db.decided`).
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.approvals.confirmation import FORGEABLE, check_number
from core.approvals.exact_replies import ExactReply, Verb
from core.approvals.facts import ApprovalFacts, Confirmation, PressFacts, Shown
from core.approvals.outcomes import DecisionOutcome
from core.approvals.types import ApprovalState
from core.json_types import JsonObject

SNOOZE_ENDS = timedelta(minutes=1)
"""How long before the expiry the reminder of a snoozed approval comes at the latest."""
_STATES = {
    Verb.APPROVE: ApprovalState.APPROVED,
    Verb.CANCEL: ApprovalState.CANCELLED,
    Verb.EDIT: ApprovalState.REPLACED,
}
MADE = {
    Verb.APPROVE: DecisionOutcome.APPROVED,
    Verb.CANCEL: DecisionOutcome.CANCELLED,
    Verb.EDIT: DecisionOutcome.EDIT,
}
"""The outcomes of a decision that was made."""
_OVER = {
    ApprovalState.APPROVED: DecisionOutcome.ALREADY_APPROVED,
    ApprovalState.CANCELLED: DecisionOutcome.ALREADY_CANCELLED,
    ApprovalState.EXPIRED: DecisionOutcome.ALREADY_EXPIRED,
    ApprovalState.REPLACED: DecisionOutcome.REPLACED,
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome for an approval, and all that changes of it.

    `state`: the decision, None if it stays open. `how`: its way, for the audit. `starts`: its time runs from now at
    the latest. `remind_at` and `confirmation`: None if they stay. `audited`: an entry of the audit that is no decision.
    `stands`: the approval's state before, for the answer to an earlier press. `gesture`: a press or a
    reaction. `told`: its outcome is said in a message, once for a card, since nothing else shows it.
    """

    approval_id: str
    outcome: DecisionOutcome
    state: ApprovalState | None = None
    how: str = ""
    starts: bool = False
    changes: JsonObject | None = None
    remind_at: datetime | None = None
    confirmation: Confirmation | None = None
    audited: str = ""
    stands: DecisionOutcome = DecisionOutcome.PENDING
    gesture: str = "press"
    told: bool = False

    def to_json(self) -> JsonObject:
        """Return it as `write_ruling` takes it."""
        return {
            "approval": self.approval_id,
            "outcome": self.outcome.value,
            "state": self.state.value if self.state else None,
            "how": self.how,
            "starts": self.starts,
            "proposed": None if self.changes is None else {"changes": self.changes},
            "remind_at": self.remind_at.isoformat() if self.remind_at else None,
            "confirmation": self.confirmation.to_json() if self.confirmation else None,
            "audited": self.audited,
            "gesture": self.gesture,
            "told": self.told,
        }


def standing(facts: ApprovalFacts, now: datetime) -> DecisionOutcome:
    """Return PENDING if an approval can be decided, else the reason why not. One that was altered may be cancelled."""
    if facts.void is not None:
        return facts.void
    if facts.state is not ApprovalState.PENDING:
        return _OVER[facts.state]
    if facts.expires_at is not None and facts.expires_at <= now:
        return DecisionOutcome.EXPIRED
    if not facts.turn_open:
        return DecisionOutcome.OVER
    return DecisionOutcome.PENDING if facts.intact else DecisionOutcome.ALTERED


def decide_press(
    facts: ApprovalFacts, verb: Verb, changes: JsonObject | None, now: datetime, *, has_forms: bool
) -> Ruling:
    """Decide by a button, or by a form that was sent with `changes`. `has_forms`: the channel can open one."""
    stands = standing(facts, now)
    if verb is Verb.DETAILS and stands in (DecisionOutcome.PENDING, DecisionOutcome.ALTERED):
        return Ruling(facts.id, DecisionOutcome.DETAILS)
    if not is_open(stands, verb):
        return Ruling(facts.id, stands)
    if verb is Verb.APPROVE and facts.shown(pressed=True) is not Shown.WHOLE:
        return Ruling(facts.id, DecisionOutcome.NOT_WHOLE)
    if verb is Verb.EDIT and not facts.editable:
        return Ruling(facts.id, DecisionOutcome.NOT_EDITABLE)
    if verb is Verb.EDIT and changes is None:
        # The result is a change of this approval.
        return Ruling(facts.id, DecisionOutcome.EDIT if has_forms else DecisionOutcome.ASK_CHANGE, starts=True)
    if verb not in _STATES:
        return Ruling(facts.id, stands)
    return decided(facts, verb, "button" if changes is None else "form", changes)


def decide_any_press(
    facts: PressFacts, verb: Verb, changes: JsonObject | None, now: datetime, *, has_forms: bool
) -> Ruling:
    """Decide as `decide_press`; refuse another person's press, and a press of an unknown button."""
    if facts.approval is None:
        return Ruling("", DecisionOutcome.NOT_YOURS if facts.known else DecisionOutcome.UNKNOWN, how=verb.value)
    ruling = decide_press(facts.approval, verb, changes, now, has_forms=has_forms)
    return replace(ruling, stands=standing(facts.approval, now))


def decide_word(facts: ApprovalFacts, word: ExactReply, fresh: str, channel: str, now: datetime) -> Ruling:
    """Decide by an exact word about this approval. `fresh`: the confirmation number to send if one is needed."""
    stands, verb = standing(facts, now), word.verb
    if verb is Verb.EDIT or not is_open(stands, verb):
        return Ruling(facts.id, stands)
    shown = facts.shown(pressed=False)
    if shown is Shown.NOT_SENT:
        return Ruling(facts.id, DecisionOutcome.NOT_SENT)
    if shown is Shown.NOT_WHOLE and verb is Verb.APPROVE:
        return Ruling(facts.id, DecisionOutcome.NOT_WHOLE)
    if verb is Verb.SNOOZE:
        return _snoozed(facts, word.snooze, now)
    if verb is Verb.APPROVE and facts.high_risk and channel in FORGEABLE:
        checked = check_number(facts.id, facts.confirmation, word.confirmation_number or "", fresh, now)
        if checked.verdict is not None:
            return Ruling(
                facts.id, checked.verdict, how=checked.verdict.value, confirmation=checked.after, audited="confirm"
            )
        return decided(facts, verb, "code and number", confirmation=checked.after)
    return decided(facts, verb, "code")


def decide_said(
    facts: ApprovalFacts | None, verb: Verb, how: str, said_in: str, changes: JsonObject | None, now: datetime
) -> Ruling:
    """Decide by words in the message `said_in`, or by the operator; a repeat of that decision changes nothing."""
    if facts is None:
        return Ruling("", DecisionOutcome.UNKNOWN)
    stands = standing(facts, now)
    if is_open(stands, verb) or (stands is DecisionOutcome.ALTERED and verb is Verb.EDIT):
        return decided(facts, verb, how, changes)
    if said_in and facts.decided_in == said_in and facts.state is _STATES[verb]:
        return Ruling(facts.id, MADE[verb])
    return Ruling(facts.id, stands)


def is_open(stands: DecisionOutcome, verb: Verb) -> bool:
    """Return whether an approval that stands so can be decided; one that was altered can be cancelled."""
    return stands is DecisionOutcome.PENDING or (stands is DecisionOutcome.ALTERED and verb is Verb.CANCEL)


def decided(
    facts: ApprovalFacts,
    verb: Verb,
    how: str,
    changes: JsonObject | None = None,
    confirmation: Confirmation | None = None,
) -> Ruling:
    """Return the ruling that decides an approval."""
    return Ruling(facts.id, MADE[verb], _STATES[verb], how, starts=True, changes=changes, confirmation=confirmation)


def _snoozed(facts: ApprovalFacts, snooze: timedelta, now: datetime) -> Ruling:
    """Keep the approval open and remind later, never past its expiry."""
    expiry = facts.expiry(now)
    if expiry <= now + 2 * SNOOZE_ENDS:
        return Ruling(facts.id, DecisionOutcome.TOO_LATE_TO_SNOOZE, starts=True)
    remind_at = min(now + snooze, expiry - SNOOZE_ENDS)
    return Ruling(facts.id, DecisionOutcome.SNOOZED, starts=True, remind_at=remind_at, audited="snoozed")
