"""At a cap: ask the person whether the turn may go on for so much more."""

from decimal import Decimal

from core.approvals.consent import Consents, ConsentState, ConsentTo, Described, call_place
from core.budgets.types import OutOfMoney, TurnBudget
from core.journal.types import Outcome, StepKey
from core.json_types import JsonObject
from core.llm.types import ModelRequest

NAME = "go_on"
DOLLARS = "dollars"


class MoneyAsked(Exception):
    """The person is asked; the turn waits, to go on at the model answer that is still to be paid."""


async def pay_with_more(
    budget: TurnBudget, consents: Consents | None, key: StepKey, request: ModelRequest, spent: OutOfMoney
) -> None:
    """Reserve what a call may cost beyond the cap, if the person lets this turn.

    Raises `MoneyAsked` while they have not said, and `spent` where they do not, or cannot be asked.
    """
    if consents is None or not spent.more:
        raise spent
    asked = _consent_to(key, spent)
    consent = await consents.ask(asked)
    if consent.state is ConsentState.PENDING:
        raise MoneyAsked
    if consent.state is ConsentState.REFUSED:
        raise spent
    await budget.allow(key, Decimal(str((consent.arguments or {}).get(DOLLARS, 0))))
    await budget.reserve(key, request)
    await consents.ran(asked.place, Outcome.OK.value)


def _consent_to(key: StepKey, spent: OutOfMoney) -> ConsentTo:
    """Ask for one exact sum, for this turn, before the model call of a step."""

    async def describe(arguments: JsonObject) -> Described:
        return Described(f"Continue for ${arguments[DOLLARS]}?", editable=False)

    place = call_place(key.agent_path, key.step, key.call_index, NAME)
    return ConsentTo(place, NAME, {DOLLARS: str(spent.more)}, describe, _unchanged, note=str(spent))


def _unchanged(arguments: JsonObject, changes: JsonObject) -> JsonObject:
    """Take the sum as it is: another one is another question."""
    return arguments
