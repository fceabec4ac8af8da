"""Which tools a turn is offered: groups, switched for a conversation, and tools that need an account."""

from dataclasses import replace
from typing import cast

import pytest

from core.agents.registry import AgentRegistry
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet
from core.errors import ConfigError, ModelAuthError
from core.journal.in_memory import MemoryJournal
from core.json_types import JsonObject
from core.llm.types import ChatMessage
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.loop.conversation_state import ConversationState
from core.loop.loop import LoopFailed
from core.people.tenant import TurnTenant
from core.tools.tool import AnyTool, tool
from core.tools.toolbox import ToolGroup
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnWork
from tests.core.builders import FakeModel, Step, run_loop, says, wants
from tests.core.turns.test_orchestrator import NOW


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(effect="read", group="mail")
async def read_mail() -> str:
    """Read."""
    return "no mail"


@tool(group="mail")
async def send_mail(to: str) -> str:
    """Send."""
    return f"sent to {to}"


@tool(effect="read", group="travel", accounts=("airline:seats",))
async def flights() -> str:
    """List flights."""
    return "none"


TOOLS: list[AnyTool] = [add, read_mail, send_mail]


def _offered(model: FakeModel, index: int = -1) -> list[str]:
    return [spec.name for spec in model.requests[index].tools]


ALWAYS = ReactLoopConfig(tools_in_full=0)
"""However few tools there are, groups are one line."""


class TestGroups:
    async def test_are_one_line_until_the_conversation_opens_them_and_come_last(self) -> None:
        script = [
            wants(("use_tools", {"group": "mail"})),
            wants(("send_mail", {"to": "a"})),
            says("Sent"),
        ]
        result, model = await run_loop(script, [read_mail, send_mail, add], config=ALWAYS)
        assert _offered(model, 0) == ["add", "use_tools"]
        assert _offered(model, 1) == _offered(model, 2) == ["add", "use_tools", "read_mail", "send_mail"]
        assert model.told() == ["From now on you can call read_mail, send_mail.", "sent to a"]
        assert result.state.groups == ("mail",)
        assert "mail (read_mail, send_mail)" in model.requests[0].tools[1].description

    async def test_a_call_of_a_tool_in_a_closed_group_runs_and_opens_the_group(self) -> None:
        script = [wants(("send_mail", {})), wants(("send_mail", {"to": "a"})), says("Sent")]
        result, model = await run_loop(script, TOOLS, config=ALWAYS)
        assert _offered(model, 0) == ["add", "use_tools"]
        assert _offered(model, 1) == ["add", "use_tools", "read_mail", "send_mail"], "it sees what it did wrong"
        assert "to is missing" in model.told()[0]
        assert model.told()[1] == "sent to a"
        assert result.state.groups == ("mail",)

    async def test_up_to_a_number_of_tools_all_are_offered_in_full(self) -> None:
        for in_full, offered in ((3, ["add", "read_mail", "send_mail"]), (2, ["add", "use_tools"])):
            _, model = await run_loop([says("Hi")], TOOLS, config=ReactLoopConfig(tools_in_full=in_full))
            assert _offered(model) == offered

    async def test_named_by_the_operator_are_offered_in_full_whatever_their_number(self) -> None:
        tools = [*TOOLS, replace(add, name="fly", group="travel")]
        config = ReactLoopConfig(tools_in_full=0, groups_in_full=("mail",))
        _, model = await run_loop([says("Hi")], tools, config=config)
        assert _offered(model) == ["add", "read_mail", "send_mail", "use_tools"]
        assert "travel (fly)" in model.requests[0].tools[-1].description
        _, model = await run_loop([says("Hi")], TOOLS, config=config)
        assert _offered(model) == ["add", "read_mail", "send_mail"], "and there is nothing to open"

    async def test_open_in_their_order_so_that_the_prompt_begins_alike(self) -> None:
        tools = [replace(add, name=name, group=name[0]) for name in ("a1", "a2", "b1")] + [add]
        script = [wants(("use_tools", {"group": "b"})), wants(("use_tools", {"group": "a"})), says("ok")]
        result, model = await run_loop(script, tools, config=ALWAYS)
        assert [_offered(model, n) for n in range(3)] == [
            ["add", "use_tools"],
            ["add", "use_tools", "b1"],
            ["add", "use_tools", "b1", "a1", "a2"],
        ]
        assert result.state.groups == ("b", "a")

    async def test_a_turns_own_tool_goes_on_to_be_offered_last(self) -> None:
        own = replace(add, name="answer", of_turn=True)
        result, model = await run_loop([says("Hi")], [own, add])
        assert _offered(model) == ["add", "answer"]
        assert result.state.groups == ("answer",)
        _, model = await run_loop([says("Hi")], [own, *TOOLS], config=ALWAYS, state=ConversationState(("mail",)))
        assert _offered(model) == ["add", "use_tools", "read_mail", "send_mail", "answer"]

    async def test_are_switched_off_again_and_unknown_ones_named(self) -> None:
        script = [
            wants(("use_tools", {"group": "male"})),
            wants(("use_tools", {"group": "mail", "on": False})),
            says("ok"),
        ]
        result, model = await run_loop(script, TOOLS, state=ConversationState(("mail", "gone")), config=ALWAYS)
        assert model.told() == [
            "There is no group 'male'. The groups are: mail.",
            "Switched off: read_mail, send_mail.",
        ]
        assert _offered(model) == ["add", "use_tools"]
        assert result.state.groups == ()

    async def test_without_groups_there_is_nothing_to_switch(self) -> None:
        _, model = await run_loop([says("Hi")], [add])
        assert _offered(model) == ["add"]

    async def test_promise_5_a_take_over_offers_what_was_switched_on(self) -> None:
        journal = MemoryJournal()
        script: list[Step] = [wants(("use_tools", {"group": "mail"})), ModelAuthError("x")]
        with pytest.raises(LoopFailed):
            await run_loop(script, TOOLS, journal=journal, config=ALWAYS)
        result, model = await run_loop([wants(("read_mail", {})), says("None")], TOOLS, journal=journal, config=ALWAYS)
        assert _offered(model, 0) == ["add", "use_tools", "read_mail", "send_mail"]
        assert model.told() == ["From now on you can call read_mail, send_mail.", "no mail"]
        assert not any("tools have changed" in message.text for message in model.last)
        assert result.state.groups == ("mail",)

    async def test_stay_on_for_the_conversation_and_are_off_in_a_fresh_one(self) -> None:
        model = FakeModel([wants(("use_tools", {"group": "mail"})), says("On"), says("Still"), says("Fresh")])
        orchestrator = Orchestrator(model, tools=TOOLS, config=ALWAYS)
        first = await orchestrator.handle_message(_request())
        history = _kept(first.history)
        second = await orchestrator.handle_message(_request(history))
        assert "send_mail" in _offered(model)
        assert not any(message.state for message in second.history)  # unchanged: not written again
        await orchestrator.handle_message(_request())
        assert "send_mail" not in _offered(model)

    async def test_what_the_person_speaks_of_is_open_at_once_and_stays_so(self) -> None:
        mail = ToolGroup("mail", "email, inbox")
        model = FakeModel([says("Yes"), says("Still"), says("Fresh")])
        orchestrator = Orchestrator(model, tools=[add, *(replace(one, group=mail) for one in TOOLS[1:])], config=ALWAYS)
        first = await orchestrator.handle_message(_request(text="Any new email?"))
        assert _offered(model) == ["add", "use_tools", "read_mail", "send_mail"]
        await orchestrator.handle_message(_request(_kept(first.history)))
        assert _offered(model) == ["add", "use_tools", "read_mail", "send_mail"]
        await orchestrator.handle_message(_request())
        assert _offered(model) == ["add", "use_tools"], "in a fresh conversation it is closed"

    async def test_state_is_written_again_before_history_forgets_it(self) -> None:
        model = FakeModel([wants(("use_tools", {"group": "mail"})), says("On"), says("Still")])
        orchestrator = Orchestrator(model, tools=TOOLS, config=replace(ALWAYS, summarise_dropped=False))
        first = await orchestrator.handle_message(_request())
        chat = tuple(
            message for _ in range(60) for message in (ChatMessage.from_json({"role": "user", "text": "a"}),) * 2
        )
        later = await orchestrator.handle_message(_request((*_kept(first.history), *chat)))
        assert ConversationState.of(later.history).groups == ("mail",)


class TestOffer:
    async def test_what_needs_an_account_is_offered_without_one(self) -> None:
        @valet(name="Flyer", accounts=("mail.send",))
        class Flyer(StandardAgent):
            """Fly."""

        model = FakeModel([says("Hi")])
        await Orchestrator(model, tools=[add, flights], agents=AgentRegistry([Flyer])).handle_message(_request())
        assert _offered(model) == ["add", "flights", "Flyer"]
        for spec in model.requests[0].tools:
            assert "account" not in cast(JsonObject, spec.parameters["properties"])

    def test_tools_and_agents_are_chosen_apart(self) -> None:
        agent = replace(read_mail, name="MailAgent", group="", agent=True)
        other = replace(agent, name="OtherAgent")

        def names(**chosen: list[str]) -> list[str]:
            made = Orchestrator(FakeModel([]), tools=[add, flights, agent, other], **chosen)  # type: ignore[arg-type]
            return sorted(tool.name for tool in made.tools)

        assert names(tool_names=["add"]) == ["MailAgent", "OtherAgent", "add"]
        assert names(agent_tool_filter=["MailAgent"]) == ["MailAgent", "add", "flights"]
        assert names(tool_names=[], agent_tool_filter=["OtherAgent"]) == ["OtherAgent"]
        with pytest.raises(ConfigError, match="no tool named 'ad'"):
            names(tool_names=["ad"])


def _request(history: tuple[ChatMessage, ...] = (), tenant: str = "t1", text: str = "Hello") -> TurnRequest:
    messages = (TurnMessage("m", text, NOW),)
    return TurnRequest(
        TurnWork("turn1", MemoryJournal()), TurnTenant(tenant), Place("sms"), FromPerson(messages), Kept(history)
    )


def _kept(history: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Return history as the store gives it back."""
    return tuple(ChatMessage.from_json(message.to_json()) for message in history)
