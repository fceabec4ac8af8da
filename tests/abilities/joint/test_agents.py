"""Agents to which somebody else must agree: asked when their fields are complete, whatever they ask by themselves."""

import pytest

from core.agents.registry import AgentRegistry
from onevalet import AgentResult, AgentStatus, InputField, StandardAgent, valet
from tests.abilities.joint.together import Together, open_together
from tests.core.builders import FakeModel, says, wants

BOOKED: list[tuple[str, str]] = []


@valet(name="BookRoomAgent")
class BookRoomAgent(StandardAgent):
    """Book a room."""

    inn = InputField("Which inn?")
    nights = InputField("How many nights?")

    async def on_running(self, msg: str | None) -> AgentResult:
        """Book it."""
        BOOKED.append((self.inn, self.nights))
        return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"Booked {self.inn}.")


async def asks(home: Together, **fields: str) -> None:
    """Let Ada want a room if Grace agrees."""
    BOOKED.clear()
    home.options["agents"] = AgentRegistry([BookRoomAgent])
    await home.both(says("It is booked."), action="BookRoomAgent", arguments=fields)


async def test_an_agent_that_asks_nobody_by_itself_waits_for_both(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await asks(home, inn="The Swan", nights="2")
        assert "The Swan" in home.card_of("grace").text
        await home.yes("ada")
        assert BOOKED == []
        await home.yes("grace")
        assert BOOKED == [("The Swan", "2")]
        assert await home.joint() == [("ended", "")]


@pytest.mark.whole("it waits for both as the other agents do")
async def test_an_agent_that_first_asks_for_a_field_still_waits_for_both(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await asks(home, inn="The Swan")
        assert "How many nights?" in home.heard("ada")
        assert await home.approvals_of("grace") == []
        home.model = FakeModel([says("It is booked.")])
        await home.ask("2")
        assert "The Swan" in home.card_of("grace").text
        await home.yes("grace")
        assert BOOKED == []
        await home.yes("ada")
        assert BOOKED == [("The Swan", "2")]


@pytest.mark.whole("it waits for both as the other agents do")
async def test_two_actions_of_an_answer_wait_for_those_who_were_named(database_url: str) -> None:
    async with open_together("sms", database_url) as home:
        await home.joins("lena")
        BOOKED.clear()
        home.options["agents"] = AgentRegistry([BookRoomAgent])
        named = [
            ("ask_both", {"who": who, "action": "BookRoomAgent", "arguments": {"inn": inn, "nights": "1"}})
            for who, inn in (("Grace", "The Swan"), ("Lena", "The Crown"))
        ]
        home.model = FakeModel([wants(*named), says("Both are booked.")])  # type: ignore[arg-type]
        await home.ask("book both if they agree")
        assert "The Swan" in home.card_of("grace").text
        assert "The Crown" in home.card_of("lena").text
        await home.ask("OK ALL")
        await home.yes("lena")
        assert BOOKED == [("The Crown", "1")]
        await home.yes("grace")
        assert BOOKED == [("The Crown", "1"), ("The Swan", "1")]
