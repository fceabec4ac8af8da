"""An edited action: what can be changed, and the changes as both cards show them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.agents.consent import agent_consent
from core.agents.fields import InputField
from core.agents.standard_agent import AgentResult, ApprovalRequest, StandardAgent
from core.agents.valet import valet, valet_of
from core.approvals.consent import ConsentTo
from core.approvals.describe import tool_consent
from core.approvals.requests import ApprovalRequests
from core.approvals.types import Approval, ApprovalState, NewApproval
from core.json_types import JsonObject
from core.tools.tool import tool
from tests.agents.services import no_loop
from tests.approvals.cards import Codes, context

NOW = datetime(2026, 11, 23, tzinfo=UTC)


@tool(needs_approval=True)
async def order_pizza(size: str = "large", olives: bool = False) -> str:
    """Order a pizza."""
    return ""


@valet()
class SeatAgent(StandardAgent):
    """Take a seat."""

    seat = InputField("Which seat?", required=False, default="aisle")
    meal = InputField("Which meal?", required=False, default="")

    def needs_approval(self) -> bool:
        return True

    def approval_request(self) -> ApprovalRequest:
        return ApprovalRequest("SeatAgent", "Take a seat", {"seat": self.seat, "meal": self.meal})

    async def on_running(self, msg: str) -> AgentResult:
        raise NotImplementedError


def of_tool(arguments: JsonObject) -> ConsentTo:
    return tool_consent("c", order_pizza, arguments)


def of_agent(arguments: JsonObject) -> ConsentTo:
    marked = valet_of(SeatAgent)
    assert marked is not None

    async def make(given: JsonObject) -> StandardAgent:
        return SeatAgent(context(), no_loop, values=given)

    return agent_consent("c", marked, arguments, make)


async def asked(consent: ConsentTo, *known: Approval) -> NewApproval:
    requests = ApprovalRequests(Codes(), "tn", "turn", context().clock, known)
    await requests.ask(consent)
    return requests.new["c"]


async def edited(consent: ConsentTo, **changes: str) -> NewApproval:
    """Return the card that follows a person's changes of the first one."""
    first = await asked(consent)
    kept: dict[str, Any] = {name: getattr(first, name) for name in first.__slots__}
    for name in ("seconds", "changed", "note", "also"):
        del kept[name]
    replaced = Approval(
        **kept, turn_id="turn", conversation_id="c", hash="", state=ApprovalState.REPLACED, reason="",
        expires_at=NOW, decided_at=NOW, decided_channel="", decided_how="", proposed={"changes": dict(changes)},
    )  # fmt: skip
    return await asked(consent, replaced)


@pytest.mark.parametrize("consent", [of_tool({}), of_agent({})])
async def test_a_call_without_arguments_can_be_edited(consent: ConsentTo) -> None:
    card = await asked(consent)
    assert card.editable
    assert len(card.form) == 2


@pytest.mark.parametrize(
    ("consent", "changes", "said"),
    [
        (of_tool({}), {"size": "small"}, ("Size: large -> small",)),
        (of_tool({"size": "large"}), {"olives": "yes"}, ("Olives: no -> yes",)),
        (of_agent({}), {"seat": "window"}, ("Seat: aisle -> window",)),
        (of_agent({}), {"meal": "vegan"}, ("Meal: (none) -> vegan",)),
        (of_agent({"meal": "vegan"}), {"meal": ""}, ("Meal: vegan -> (none)",)),
        (of_agent({}), {"seat": "aisle"}, ()),
    ],
)
async def test_the_changes_are_those_between_the_two_cards(
    consent: ConsentTo, changes: dict[str, str], said: tuple[str, ...]
) -> None:
    before, after = await asked(consent), await edited(consent, **changes)
    assert after.changed == said
    for line in said:
        label, _, values = line.partition(": ")
        old, _, new = values.partition(" -> ")
        assert dict(before.rendered).get(label, "(none)") == old
        assert dict(after.rendered).get(label, "(none)") == new
