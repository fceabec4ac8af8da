"""Consent to what agents do: their fields checked again, their own requests, their inner tools, and rules."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from abilities.rules.rules_file import read_rules
from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, AgentStatus, ApprovalDecision, ApprovalRequest, StandardAgent
from core.agents.valet import valet
from core.json_types import JsonObject
from core.loop.result import ReactLoopResult
from core.tools.tool import tool
from core.turns.context import TurnContext
from core.turns.orchestrator import Orchestrator
from core.turns.types import TurnRequest
from tests.clocks import StandingClock
from tests.contract.approving import CONFIG, Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

DONE: list[str] = []


def an_address(value: str) -> str | None:
    """Want an address."""
    return None if "@" in value else "that is no address"


@valet(name="Mailer")
class Mailer(StandardAgent):
    """Mail somebody."""

    to = InputField("To whom?", description="Address", validator=an_address)
    subject = InputField("What about?", required=False, default="")

    def needs_approval(self) -> bool:
        """Ask always."""
        return True

    async def on_running(self, msg: str) -> AgentResult:
        """Mail."""
        DONE.append(f"mail {self.to} {self.subject}")
        return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"Mailed {self.to}")


@valet(name="Fixed")
class Fixed(Mailer):
    """Mail somebody, as it is."""

    def approval_request(self) -> ApprovalRequest:
        """Say nothing of it, and let nobody change it."""
        return ApprovalRequest("Fixed", "", {}, timeout_minutes=600, allow_modification=False)


@valet(name="AsItIs")
class AsItIs(Mailer):
    """Mail somebody, as it is."""

    def approval_request(self) -> ApprovalRequest:
        """Offer no change."""
        return replace(super().approval_request(), options=("approve", "cancel"))


@valet(name="Asker")
class Asker(StandardAgent):
    """Find a price, then ask."""

    async def on_running(self, msg: str) -> AgentResult:
        """Find the price."""
        DONE.append("found")
        self.state["price"] = "12.50"
        return self.make_result(status=AgentStatus.WAITING_FOR_APPROVAL, raw_message="Pay 12.50?")

    async def on_waiting_for_approval(self, msg: str) -> AgentResult:
        """Pay."""
        DONE.append(f"paid {self.state['price']}")
        return self.make_result(status=AgentStatus.COMPLETED, raw_message="Paid.")


@valet(name="Lister")
class Lister(Asker):
    """Delete what is old."""

    async def on_running(self, msg: str) -> AgentResult:
        """Find what is old."""
        names = ", ".join(f"old_file_{number}.txt" for number in range(40))
        self.state["price"] = names
        return self.make_result(AgentStatus.WAITING_FOR_APPROVAL, f"Delete these?\n{names}, and all_of_your_mail")


@valet(name="Talker")
class Talker(Mailer):
    """Say it in many words."""

    def approval_request(self) -> ApprovalRequest:
        """Say the thing that counts at the very end."""
        return ApprovalRequest(
            "Talker", f"Write to {self.to} {'very ' * 60}nicely, with a copy to eve_two@example.com", {}
        )


@tool(needs_approval=True)
async def wire(amount: int) -> str:
    """Wire money."""
    DONE.append(f"wired {amount}")
    return "wired"


@tool
async def pay(amount: int) -> str:
    """Pay."""
    DONE.append(f"paid {amount}")
    return "paid"


@valet(name="Banker")
class Banker(StandardAgent):
    """Do what a bank does."""

    tools = (wire,)


@valet(name="CarefulBanker")
class CarefulBanker(Banker):
    """Do what a bank does, once that is approved."""

    def needs_approval(self) -> bool:
        """Ask always."""
        return True


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield an system with these agents."""
    DONE.clear()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        system.options["agents"] = AgentRegistry([Mailer, Fixed, Asker, Banker, CarefulBanker, Lister, Talker])
        yield system


def edit(code: str, **changes: str) -> JsonObject:
    """Hand on a change."""
    return {"decisions": [{"code": code, "decision": "edit", "changes": dict(changes)}]}


async def test_fields_are_collected_shown_in_full_and_rechecked_when_changed(
    system: Approving,
) -> None:
    system.model.script = [wants(("Mailer", {})), says("To whom?")]
    await system.say("mail somebody")
    assert await system.states() == []
    system.model.script = [says("Done.")]
    await system.say("sam@example.com")
    assert await system.states() == ["pending"]
    assert "sam@example.com" in system.card().text
    for value, line in (("nobody", "that is no address"), ("eve@example.com", "sam@example.com -> eve@example.com")):
        system.clock.move(timedelta(seconds=1))
        code = await system.code()
        system.model.script = [wants(("decide_approvals", edit(code, to=value))), says("Done.")]
        await system.say(f"EDIT {code} to {value}")
        assert line in system.card().text
        assert await system.code() != code
    await system.decide("Approve")
    assert DONE == ["mail eve@example.com "]


async def test_locked_fields_resist_edits_in_words_and_the_summary_is_not_empty(
    system: Approving,
) -> None:
    """Agents dying before their approval, and empty summaries: what was probed of another system."""
    system.model.script = [wants(("Fixed", {"to": "sam@example.com", "subject": "Hi"}))]
    await system.say("mail sam")
    code, card = await system.code(), system.card().text
    assert f"{code}: Fixed" in card
    assert "sam@example.com" in card
    assert "Hi" in card
    assert "EDIT" not in card
    system.model.script = [wants(("decide_approvals", edit(code, to="eve@example.com"))), says("It cannot be changed.")]
    await system.say(f"EDIT {code} to eve@example.com")
    assert await system.states() == ["pending"]
    for _ in range(9):
        system.clock.move(timedelta(hours=1))
        await system.work()
        await system.delivery.store.admin.fetch("select * from expire_pool($1, 100)", system.clock.now())
    system.model.script = [says("Sent.")]
    await system.say(f"OK {code}")
    assert DONE == ["mail sam@example.com Hi"]


async def test_a_card_is_open_as_long_as_the_operator_set(system: Approving) -> None:
    """An agent that names a time of its own keeps it."""
    config = replace(CONFIG, approval_timeout_minutes=5)
    cases: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("Mailer", {"to": "sam@example.com"}, "5 minutes"),
        ("wire", {"amount": 5}, "5 minutes"),
        ("Fixed", {"to": "sam@example.com"}, "10 hours"),
    )
    for name, arguments, span in cases:
        system.options["config"], system.more = config, [wire]
        system.model.script = [wants((name, arguments))]
        await system.say("do it")
        assert f"It stays open for {span}." in system.card().text
        system.clock.move(timedelta(seconds=1))
    system.clock.move(timedelta(minutes=6))
    await system.work()
    assert await system.states() == ["expired", "expired", "pending"]


async def test_the_loops_result_names_the_approvals_that_its_turn_waits_for(
    system: Approving, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[tuple[str, ...]] = []
    run = Orchestrator.react_loop

    async def recorded(self: Orchestrator, request: TurnRequest, context: TurnContext) -> ReactLoopResult:
        result = await run(self, request, context)
        results.append(result.pending_approvals)
        return result

    monkeypatch.setattr(Orchestrator, "react_loop", recorded)
    system.more = [wire]
    system.model.script = [
        wants(("Mailer", {"to": "sam@example.com"}), ("wire", {"amount": 5})),
        says("Both are done."),
    ]
    await system.say("do both")
    codes = await system.delivery.store.db.approvals.column("code", order="code")
    assert results == [tuple(codes)]
    await system.say(f"OK {codes[0]}")
    await system.say(f"OK {codes[1]}")
    assert results[1:] == [(codes[1],), ()]


async def test_an_agent_whose_options_leave_out_edit_cannot_be_changed(system: Approving) -> None:
    system.options["agents"] = AgentRegistry([AsItIs])
    system.model.script = [wants(("AsItIs", {"to": "sam@example.com"}))]
    await system.say("mail sam")
    assert "EDIT" not in system.card().text
    with pytest.raises(ValueError, match="later"):
        ApprovalRequest("AsItIs", "", {}, options=("approve", "later"))


async def test_an_agent_asks_from_its_own_handler_and_goes_on_with_what_it_knew(system: Approving) -> None:
    system.model.script = [wants(("Asker", {})), says("Paid.")]
    await system.say("buy it")
    assert (await system.states(), DONE) == (["pending"], ["found"])
    assert "Pay 12.50?" in system.card().text
    await system.decide("Approve")
    assert DONE == ["found", "paid 12.50"]


async def test_what_an_agent_asks_and_says_is_shown_in_full_however_long_it_is(system: Approving) -> None:
    """CVE-2026-53806: a display that was cut. What counts may stand at the end."""
    system.model.script = [wants(("Lister", {})), says("Deleted.")]
    await system.say("tidy up")
    shown = "".join(bubble.text for bubble in system.delivery.channel.bubbles())
    assert "old_file_0.txt" in shown
    assert "and all_of_your_mail" in shown
    await system.decide("Approve")
    assert DONE[0].startswith("paid old_file_0.txt")
    system.clock.move(timedelta(seconds=1))
    system.model.script = [wants(("Talker", {"to": "sam_one@example.com"})), says("Done.")]
    before = len(system.delivery.channel.bubbles())
    await system.say("write to sam")
    shown = "".join(bubble.text for bubble in system.delivery.channel.bubbles()[before:])
    assert "Write to sam_one@example.com very" in shown, "a heading has no other address in it than the action"
    assert "with a copy to eve_two@example.com" in shown


@pytest.mark.parametrize(
    "change",
    [
        "update steps set result = jsonb_set(result, '{state,price}', '\"99.00\"') where result -> 'state' is not null",
        "update steps set result = jsonb_set(result, '{text}', '\"Pay 99.00?\"') where result ->> 'text' like 'Pay%'",
    ],
)
async def test_cve_32921_approval_also_binds_an_agents_stored_state_and_question(
    system: Approving, change: str
) -> None:
    system.model.script = [wants(("Asker", {})), says("It was altered.")]
    await system.say("buy it")
    await system.delivery.channel.said(f"OK {await system.code()}")
    assert await system.delivery.store.admin.execute(change) == "UPDATE 1"
    await system.work()
    assert DONE == ["found"]
    assert "not what was approved" in system.model.told()[-1]
    assert await system.delivery.store.db.approval_audit.column("how", what="refused") == ["its agent's state"]


async def test_an_inner_tool_of_an_agent_waits_with_it_and_runs_once(system: Approving) -> None:
    system.model.script = [wants(("Banker", {"task_instruction": "wire 5"})), wants(("wire", {"amount": 5}))]
    await system.say("wire 5")
    assert (await system.states(), DONE) == (["pending"], [])
    system.model.script = [says("It is wired."), says("Done.")]
    await system.decide("Approve")
    assert DONE == ["wired 5"]
    assert system.last() == "Done."


async def test_an_approved_agent_whose_inner_tool_waits_is_not_asked_again(system: Approving) -> None:
    system.model.script = [wants(("CarefulBanker", {"task_instruction": "wire 5"}))]
    await system.say("wire 5")
    system.model.script = [wants(("wire", {"amount": 5}))]
    await system.decide("Approve")
    assert (await system.states(), DONE) == (["approved", "pending"], [])


async def test_a_rule_requests_approval_of_a_plain_tool_with_its_risk(system: Approving, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        '[[rules]]\nname = "much"\ndecision = "approve"\ntools = ["pay"]\nrisk = "high"\n'
        'when = [{argument = "amount", above = 100}]\n'
    )
    system.more, system.options["hooks"] = [pay], [read_rules(path)]
    system.model.script = [wants(("pay", {"amount": 5}), ("pay", {"amount": 500})), says("Both are paid.")]
    await system.say("pay 5 and 500")
    assert DONE == ["paid 5"]
    assert "high risk" in system.card().text
    await system.say(f"OK {await system.code()}")
    assert await system.states() == ["pending"], "a number alone does not approve it"
    await system.say(f"NO {await system.code()}")
    assert DONE == ["paid 5"]


async def test_a_yes_elsewhere_an_edit_alone_and_a_trigger_answer_nothing(system: Approving) -> None:
    """A "yes" in another conversation approving, and a trigger read as the answer: probed of another system."""
    system.model.script = [wants(("Mailer", {"to": "sam@example.com"})), says("Edit what?")]
    await system.say("mail sam")
    await system.say("edit")
    assert await system.states() == ["pending"]
    await system.delivery.store.admin.execute(
        "insert into conversations (tenant_id, id, identity_id, channel, account, peer, thread)"
        " select tenant_id, 'cv_other', identity_id, channel, account, peer, 'other' from conversations"
    )
    await system.delivery.store.db.approvals.change({"conversation_id": "cv_other"})
    code = await system.code()
    system.model.script = [
        wants(("decide_approvals", {"decisions": [{"code": code, "decision": "approve"}]})),
        says("Yes to what?"),
    ]
    await system.say("yes")
    assert f"{code} cannot be decided in words" in system.model.requests[-1].messages[-1].text
    assert await system.states() == ["pending"]
    system.model.script = [says("What about it?")]
    await system.say(f"what is {code}?")
    assert "decide_approvals" in {spec.name for spec in system.model.requests[-1].tools}, "its code names it"
    assert (await system.states(), DONE) == (["pending"], [])


@valet(name="Yeller")
class Yeller(Mailer):
    """Mail, and read an answer in Finnish."""

    async def parse_approval_async(self, text: str) -> ApprovalDecision | None:
        """Know the words of one language more."""
        if text == "boom":
            raise RuntimeError(text)
        return {"kyllä": ApprovalDecision.APPROVE, "ei": ApprovalDecision.CANCEL}.get(text.strip("!. ").lower())


@pytest.mark.parametrize(("words", "state"), [("Kyllä!", "approved"), ("ei", "cancelled")])
async def test_an_agent_reads_the_answer_to_its_own_card(system: Approving, words: str, state: str) -> None:
    system.options["agents"] = AgentRegistry([Yeller])
    system.model.script = [wants(("Yeller", {"to": "sam@example.com"})), says("All right.")]
    await system.say("mail sam")
    await system.say(words)
    assert await system.states() == [state]
    assert (DONE == []) is (state == "cancelled")
    assert any(bubble.text.startswith(state.capitalize()) for bubble in system.delivery.channel.bubbles())


@pytest.mark.parametrize("words", ["boom", "perhaps"])
async def test_what_an_agent_cannot_read_the_model_reads(system: Approving, words: str) -> None:
    system.options["agents"] = AgentRegistry([Yeller])
    system.model.script = [wants(("Yeller", {"to": "sam@example.com"})), says("Hm?")]
    await system.say("mail sam")
    await system.say(words)
    assert (await system.states(), system.last(), DONE) == (["pending"], "Hm?", [])


@valet(name="Yeller", risk="high")
class Banned(Yeller):
    """Mail, at a high risk."""


async def test_an_agent_reads_no_decision_of_high_risk(system: Approving) -> None:
    system.options["agents"] = AgentRegistry([Banned])
    system.model.script = [wants(("Yeller", {"to": "sam@example.com"})), says("Hm?")]
    await system.say("mail sam")
    await system.say("kyllä")
    assert (await system.states(), DONE) == (["pending"], [])
