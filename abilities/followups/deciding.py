"""A decision about a follow-up, by a word or through the model: whichever is meant, kept or declined, and answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from abilities.followups import sentences
from abilities.followups.chat_words import NO, YES
from abilities.followups.followups import FollowUps
from abilities.followups.types import FollowUp, Outcome, State
from abilities.tasks.kinds.schedule import TriggerError
from core.language.catalogue import gettext
from core.messaging.chat_words import CommandUndo

TAKE_BACK = "take_back_followup"


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer to a decision; `outcome` is None if it was not clear about which one it was."""

    text: str
    outcome: Outcome | None = None
    followup: FollowUp | None = None


async def decide(followups: FollowUps, number: int | None, *, keep: bool, zone: ZoneInfo) -> Decided:
    """Keep or decline the follow-up of a number, or the only one that waits. A repeat in its turn changes nothing."""
    shown = await followups.all(State.PROPOSED, State.KEPT, State.DECLINED)
    followup = _meant(shown, number)
    if followup is None:
        waiting = [one for one in shown if one.state is State.PROPOSED]
        return Decided(sentences.which(waiting, YES if keep else NO))
    try:
        outcome = await (followups.keep(followup) if keep else followups.decline(followup))
    except TriggerError as error:
        return Decided(str(error))
    return Decided(sentences.of_outcome(outcome, followup, await followups.choice(), zone), outcome, followup)


def undo_of(followup: FollowUp) -> CommandUndo:
    """Return the undo of a follow-up that was kept."""
    title = gettext("Follow-up: {words}", words=" ".join(followup.words.split()))
    return CommandUndo(title, TAKE_BACK, {"memory": followup.memory_id})


def _meant(shown: Sequence[FollowUp], number: int | None) -> FollowUp | None:
    """Return the follow-up of a number, the newest of those that two people brought into a link."""
    if number is not None:
        return next((one for one in reversed(shown) if one.number == number), None)
    # After a crash it is decided already.
    waiting = [one for one in shown if one.here] or [one for one in shown if one.state is State.PROPOSED]
    return waiting[0] if len(waiting) == 1 else None
