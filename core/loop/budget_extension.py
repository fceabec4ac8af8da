"""At a cap: ask the person whether the turn may spend a given sum more."""

from decimal import Decimal

from core.approvals.consent import ConsentState, ConsentTo, Described, make_call_id
from core.budgets.types import OutOfMoney
from core.journal.types import Outcome, StepKey
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.llm.types import ModelRequest
from core.loop.scope import TurnScope

NAME = "go_on"
DOLLARS = "dollars"


class MoneyAsked(Exception):
    """The person is asked. The turn waits, and resumes at the model answer that is not paid yet."""


async def pay_with_more(scope: TurnScope, key: StepKey, request: ModelRequest, spent: OutOfMoney) -> None:
    """Reserve the price of a call beyond the cap, if the person allows it for this turn.

    Raises `MoneyAsked` until they decide, and `spent` if they refuse or cannot be asked.
    """
    if scope.approval_requests is None or not spent.more:
        raise spent
    asked = _consent_to(key, spent)
    consent = await scope.approval_requests.ask(asked)
    if consent.state is ConsentState.PENDING:
        raise MoneyAsked
    if consent.state is ConsentState.REFUSED:
        raise spent
    await scope.budget.allow(key, Decimal(str((consent.arguments or {}).get(DOLLARS, 0))))
    await scope.budget.reserve(key, request)
    await scope.approval_requests.ran(asked.call_id, Outcome.OK)


def _consent_to(key: StepKey, spent: OutOfMoney) -> ConsentTo:
    """Return the request for an exact sum, for this turn, before the model call of a step."""

    async def describe(arguments: JsonObject) -> Described:
        return Described(gettext("Continue for ${dollars}?", dollars=arguments[DOLLARS]), editable=False)

    call_id = make_call_id(key.agent_path, key.step, key.call_index, NAME)
    return ConsentTo(call_id, NAME, {DOLLARS: str(spent.more)}, describe, _unchanged, note=str(spent))


def _unchanged(arguments: JsonObject, changes: JsonObject) -> JsonObject:
    """Return the sum as it is: another sum is another question."""
    return arguments
