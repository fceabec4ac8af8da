"""What was approved in time, and comes to be done much later: after an outage, or since it has begun already."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.agents.valet import valet
from core.json_types import JsonObject
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "I am five minutes late."}
DONE: list[str] = []


@valet(name="Booker", ttl=timedelta(days=2))
class Booker(StandardAgent):
    """Book a table."""

    place = InputField("Where?", description="Place")

    def needs_approval(self) -> bool:
        """Ask always."""
        return True

    async def on_running(self, msg: str) -> AgentResult:
        """Find what is free, and ask which."""
        DONE.append("looked")
        return self.make_result(status=AgentStatus.WAITING_FOR_INPUT, raw_message="At 7 or at 9?")

    async def on_waiting_for_input(self, msg: str) -> AgentResult:
        """Book it."""
        DONE.append(f"booked {self.place} at {msg}")
        return self.make_result(raw_message="Booked.")


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield an system in which a mail was asked about, whose worker is away by now."""
    DONE.clear()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        system.options["agents"] = AgentRegistry([Booker])
        yield system


async def test_promise_9_approval_that_could_not_start_for_hours_is_asked_again(
    system: Approving,
) -> None:
    system.model.script = [wants(("send_mail", MAIL)), says("Sent.")]
    await system.say("mail sam")
    old = await system.code()
    await system.delivery.channel.said(f"OK {old}")
    system.clock.move(timedelta(hours=3))
    await system.work()
    assert (await system.states(), system.sent) == (["approved", "pending"], [])
    assert "could not be done in time. Nothing was done" in system.card().text
    new = await system.code()
    assert new != old
    await system.say(f"OK {old}")
    assert system.sent == [], "the old code does nothing any more"
    await system.say(f"OK {new}")
    assert system.sent == [MAIL]
    assert system.last() == "Sent."
    audit = await system.delivery.store.admin.fetch("select what, how from approval_audit order by id")
    assert [tuple(row) for row in audit if row["what"] in ("refused", "ran", "approved")] == [
        ("approved", "code"),
        ("refused", "too late"),
        ("approved", "code"),
        ("ran", "ok"),
    ]


@pytest.mark.parametrize("minutes", [29, 44])
async def test_a_timely_decision_stands_while_the_conversation_is_busy(system: Approving, minutes: int) -> None:
    system.model.script = [wants(("send_mail", MAIL)), says("Sent.")]
    await system.say("mail sam")
    await system.delivery.channel.said(f"OK {await system.code()}")
    system.clock.move(timedelta(minutes=minutes))
    await system.work()
    assert (await system.states(), system.sent) == (["approved"], [MAIL])


async def test_an_agent_started_in_time_continues_when_answered_a_day_later(
    system: Approving,
) -> None:
    system.model.script = [wants(("Booker", {"place": "Luigi's"}))]
    await system.say("book a table")
    await system.say(f"OK {await system.code()}")
    assert DONE == ["looked"]
    system.clock.move(timedelta(hours=20))
    system.model.script = [wants(("answer_waiting_agent", {"words": "9"})), says("Booked.")]
    await system.say("9")
    assert DONE == ["looked", "booked Luigi's at 9"]
    assert await system.states() == ["approved"]
