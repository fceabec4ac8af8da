"""Failed turns: the message to the person, and the fallback if the database refuses the turn's own end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.db.database import Database
from core.journal.types import Effect, Outcome, StepKind, StepRecord, StepState
from core.language.catalogue import gettext, gettext_noop, speaking
from core.turns.runs import MAX_FAILURES

FAILED = gettext_noop("Sorry, something went wrong on my side. Please try again.")
FAILED_BEGUN = gettext_noop(
    "Sorry, something went wrong on my side. Part of what you asked for may already be done, so please check before "
    "you ask again."
)
SET_ASIDE = gettext_noop("Sorry, I could not finish that and have set it aside. Please try it another way.")
SET_ASIDE_BEGUN = gettext_noop(
    "Sorry, I could not finish that and have set it aside. Part of it may already be done, so please check before you "
    "try it another way."
)
RUN_FAILED = gettext_noop("Sorry, one of your tasks could not be finished: something went wrong on my side.")
RUN_FAILED_BEGUN = gettext_noop(
    "Sorry, one of your tasks could not be finished: something went wrong on my side. Part of it may already be done."
)
RUN_DISABLED = gettext_noop(
    "I have stopped trying one of your tasks: it failed too often in a row. Ask me for your tasks to see it."
)


@dataclass(frozen=True, slots=True)
class Sorry:
    """The apology of a failed turn, by whether a step that it began may have taken effect."""

    nothing_begun: str
    begun: str

    def text(self, records: Iterable[StepRecord]) -> str:
        """Return the sentence that is true for the journal's records."""
        return gettext(self.begun if took_effect(records) else self.nothing_begun)


FAILURE = Sorry(FAILED, FAILED_BEGUN)
POISON = Sorry(SET_ASIDE, SET_ASIDE_BEGUN)
RUN_FAILURE = Sorry(RUN_FAILED, RUN_FAILED_BEGUN)
_SAID = {
    "failed": FAILED,
    "begun": FAILED_BEGUN,
    "run_failed": RUN_FAILED,
    "run_begun": RUN_FAILED_BEGUN,
    "disabled": RUN_DISABLED,
}
"""The sentences from which `fail_turn` chooses."""


def took_effect(records: Iterable[StepRecord]) -> bool:
    """Return whether a turn began something that has, or may have, taken effect."""
    return any(
        record.kind in (StepKind.TOOL, StepKind.AGENT)
        and record.effect is not Effect.READ
        and (record.state is StepState.STARTED or record.outcome in (Outcome.OK, Outcome.UNKNOWN))
        for record in records
    )


async def fail_turn(
    database: Database,
    lane: tuple[str, str, int],
    turn_id: str | None,
    outbound_id: str,
    absorbed: Sequence[str] = (),
) -> bool:
    """End a turn with an apology. Return True if more waits and the lease is kept.

    `lane` is its tenant, its id and the fence of the lease. Without a turn, all that cannot begin on the lane ends.
    """
    person = await database.call("select language from read_person($1)", lane[0])
    with speaking(person["language"] if person else ""):
        said = {name: gettext(sentence) for name, sentence in _SAID.items()}
    row = await database.call(
        "select fail_turn($1,$2,$3,$4,$5,$6,$7,$8) as more",
        *lane,
        turn_id,
        list(absorbed),
        outbound_id,
        said,
        MAX_FAILURES,
    )
    return bool(row and row["more"])
