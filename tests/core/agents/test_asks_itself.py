"""Agents that ask by themselves: nothing acts before the person has seen what was worked out, and it is asked once."""

from collections.abc import AsyncIterator

import pytest

from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, AgentStatus, ApprovalRequest, StandardAgent
from core.agents.valet import valet
from core.tools.tool import tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

PAINTED: list[str] = []


@tool(name="read_letter", effect="read", outside=True)
async def read_letter() -> str:
    """Read what somebody wrote."""
    return "Paint the door red."


@valet(name="paint", effect="idempotent", asks_itself=True)
class Paint(StandardAgent):
    """Paint something; in red only once the person agrees."""

    what = InputField("What?", description="What to paint")
    colour = InputField("In which colour?", description="The colour")

    async def on_running(self, msg: str) -> AgentResult:
        self.state["shade"] = f"dark {self.colour}"
        if self.colour == "red" or self.must_ask:
            return self.make_result(AgentStatus.WAITING_FOR_APPROVAL)
        return self._paint()

    async def on_waiting_for_approval(self, msg: str) -> AgentResult:
        return self._paint()

    def approval_request(self) -> ApprovalRequest:
        shade = self.state.get("shade")
        return ApprovalRequest("paint", f"Paint the {self.what}", {"shade": str(shade)}, allow_modification=False)

    def _paint(self) -> AgentResult:
        PAINTED.append(f"{self.what} {self.state['shade']}")
        return self.make_result(raw_message=f"The {self.what} is painted.")


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    PAINTED.clear()
    async with open_approving(SmsHarness, database_url, StandingClock(), twice=True) as system:
        system.more, system.options = [read_letter], {"agents": AgentRegistry([Paint])}
        yield system


async def test_promise_9_it_asks_only_where_it_must_and_acts_as_shown(system: Approving) -> None:
    system.model.script[:] = [wants(("paint", {"what": "wall", "colour": "blue"})), says("Done.")]
    await system.say("paint the wall blue")
    assert (PAINTED, await system.states()) == (["wall dark blue"], [])
    system.model.script[:] = [wants(("paint", {"what": "door", "colour": "red"}))]
    await system.say("paint the door red")
    assert "Paint the door" in system.last()
    assert "dark red" in system.last(), "what was worked out is shown"
    assert PAINTED == ["wall dark blue"]
    system.model.script[:] = [says("Painted.")]
    await system.decide("Approve")
    assert (PAINTED, await system.states()) == (["wall dark blue", "door dark red"], ["approved"])


async def test_it_must_ask_after_what_others_wrote_was_read(system: Approving) -> None:
    system.model.script[:] = [wants(("read_letter", {})), wants(("paint", {"what": "roof", "colour": "blue"}))]
    await system.say("do what the letter says")
    assert (PAINTED, await system.states()) == ([], ["pending"])
    assert "I have just read what others wrote" in system.last()
    system.model.script[:] = [says("Left as it is.")]
    await system.decide("Cancel")
    assert PAINTED == []
