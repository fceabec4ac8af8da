"""What the model is told never reaches a person, not even through a model that repeats all that it is told."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.agents.valet import valet
from core.errors import ToolFailed
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.tools.tool import tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.for_people import assert_nothing_for_the_model
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday?"}


@valet(name="Poster")
class Poster(StandardAgent):
    """Posts a line."""

    line = InputField("What shall it say?")

    def needs_approval(self) -> bool:
        return True

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"Posted {self.line}.")


@valet(name="Asker")
class Asker(StandardAgent):
    """Asks for a colour."""

    colour = InputField("Which colour?")

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"It is {self.colour}.")


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on an empty database."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        yield system


def parrot(request: ModelRequest) -> ModelAnswer:
    """Repeat every tool result since the last answer, word for word."""
    said: list[str] = []
    for message in reversed(request.messages):
        if message.role is not Role.TOOL:
            break
        said.insert(0, message.text)
    return says("\n".join(said) or "Nothing.")


async def test_a_repeated_expiry_has_no_word_for_the_model(system: Approving) -> None:
    system.model.script = [wants(("send_mail", MAIL)), parrot]
    await system.say("mail sam")
    system.clock.move(timedelta(minutes=31))
    await system.work()
    assert system.last() == "Not done: no decision came in time, so it was dropped."
    assert "Tell the person in one sentence." in system.model.told()[0]


async def test_a_repeated_result_of_a_changed_action_is_the_result_alone(system: Approving) -> None:
    code = ""
    change: JsonObject = {"decision": "edit", "changes": {"subject": "Dinner"}}
    system.model.script = [
        wants(("send_mail", MAIL)),
        lambda _: wants(("decide_approvals", {"decisions": [{"code": code, **change}]})),
        parrot,
    ]
    await system.say("mail sam")
    code = await system.code()
    await system.say("make it dinner")
    await system.decide("Approve")
    assert system.last() == "Sent to sam@example.com."
    assert "the person changed: subject: Lunch -> Dinner" in system.model.told()[-1]


async def test_an_unusable_change_is_explained_in_the_persons_words(system: Approving) -> None:
    code = ""
    change: JsonObject = {"decision": "edit", "changes": {"to": 7}}
    system.model.script = [
        wants(("send_mail", MAIL)),
        lambda _: wants(("decide_approvals", {"decisions": [{"code": code, **change}]})),
        says("Sent."),
    ]
    await system.say("mail sam")
    code = await system.code()
    await system.say("send it to 7")
    assert "Not changed, since that cannot be used: to: it must be a text" in system.card().text


async def test_repeated_refusals_have_no_word_for_the_model(system: Approving) -> None:
    @tool(effect="read")
    async def look() -> str:
        """Look at something."""
        raise ToolFailed(
            "There are several accounts (home, work).", note="Ask the person from which of their accounts."
        )

    @tool()
    async def pay(amount: int) -> str:
        """Pay."""
        raise RuntimeError("the line broke")

    system.more = [look, pay]
    pending: JsonObject = {"decisions": [{"code": "2A", "decision": "approve"}]}
    calls: list[list[tuple[str, JsonObject]]] = [
        [("look", {})],
        [("pay", {"amount": 7})],
        [("decide_approvals", pending)],
        [("send_mail", {**MAIL, "to": f"p{number}@example.com"}) for number in range(5)],
    ]
    for made in calls:
        system.model.script = [wants(*made), parrot]
        await system.say("go on")
        await system.say("OK ALL")
    assert "Ask the person from which of their accounts." in " ".join(map(str, system.model.requests))


async def test_what_an_agent_came_to_while_another_waits_is_its_result(system: Approving) -> None:
    system.options = {"agents": AgentRegistry([Poster, Asker])}
    code = ""
    change: JsonObject = {"decision": "edit", "changes": {"line": "Bye"}}
    system.model.script = [
        wants(("Poster", {"line": "Hi"}), ("Asker", {})),
        lambda _: wants(("decide_approvals", {"decisions": [{"code": code, **change}]})),
        parrot,
    ]
    await system.say("post hi and ask me a colour")
    code = await system.code()
    await system.say(f"EDIT {code} say Bye")
    await system.say(f"OK {await system.code()}")
    assert any("Posted Bye." in bubble.text for bubble in system.delivery.channel.bubbles())
    await assert_nothing_for_the_model(system.delivery.store)
