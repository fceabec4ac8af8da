"""Changing what was asked, on every channel: by form, by reply, in words; and several at once."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer, ModelRequest
from core.tools.tool import AnyTool, tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES, SlackHarness
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import exempt
from tests.core.builders import says, wants
from tests.eventually import eventually

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}
FLIGHT: JsonObject = {"number": "LH 12", "seat": "aisle"}
NO_FORMS = "it has no forms"


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield an system that can book flights, too."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.more = [_flight(system)]
        yield system


def _flight(system: Approving) -> AnyTool:
    @tool(needs_approval=True)
    async def book_flight(number: str, seat: str) -> str:
        """Book a flight."""
        system.sent.append({"number": number, "seat": seat})
        return f"Booked {number}."

    return book_flight


@exempt(sms=NO_FORMS, telegram=NO_FORMS)
async def test_a_form_shows_every_field_and_returns_a_diff_or_what_is_invalid(
    system: Approving,
) -> None:
    harness = system.delivery.channel
    assert isinstance(harness, SlackHarness)

    @tool(name="pay", needs_approval=True)
    async def pay(to: str, amount: int) -> str:
        """Pay somebody."""
        system.sent.append({"to": to, "amount": str(amount)})
        return "Paid."

    system.more = [pay]
    system.model.script = [wants(("pay", {"to": "Sam", "amount": 5})), says("Paid.")]
    await system.say("pay sam 5")
    await system.press("Details")
    await eventually(lambda: bool(harness.modals()))
    assert "Sam" in str(harness.modals()[-1])
    await harness.act("close", view_id=harness.modals()[-1]["id"])

    await _change(system, harness, amount="lots")
    assert await system.states() == ["pending"]
    assert harness.modals()[-1]["errors"] == {"amount": "This must be a whole number."}
    await _send(system, harness, amount="7")
    assert await system.states() == ["replaced", "pending"]
    assert "5 -> 7" in system.card().text
    hashes = await system.delivery.store.db.approvals.column("hash", order="generation")
    assert hashes[0] != hashes[1], "another action is another hash"
    old = await system.delivery.store.one("select code from approvals order by generation limit 1")
    await system.say(f"OK {old}")
    assert "newer card counts" in system.last()
    assert system.sent == []
    await system.decide("Approve")
    assert system.sent == [{"to": "Sam", "amount": "7"}]
    assert "amount: 5 -> 7" in system.model.told()[-1]


@exempt(sms="a text has no buttons", slack="it has a form")
async def test_an_edit_by_reply_applies_to_its_card_although_another_came_since(system: Approving) -> None:
    asked = ""
    system.model.script = [
        wants(("send_mail", MAIL)),
        wants(("send_mail", {**MAIL, "to": "bob@example.com"})),
        lambda request: _heard(request, asked, "to", "eve@example.com"),
        says("Fine."),
    ]
    await system.say("mail sam")
    asked, card = await system.code(), system.card()
    await system.press("Edit", card)
    await system.work()
    prompt = system.delivery.channel.bubbles()[-1]
    assert f"change about {asked}" in prompt.text
    system.clock.move(timedelta(seconds=1))
    await system.say("and mail bob")
    await system.delivery.channel.act("say", text="to eve@example.com", reply_to=int(prompt.id.rpartition(":")[2]))
    await system.delivery.channel.settled()
    await system.work()
    assert await system.states() == ["replaced", "pending", "pending"]
    assert "sam@example.com -> eve@example.com" in system.card().text


@exempt(sms="it has no replies", slack="a reply there is in a thread of its own")
async def test_a_bare_word_that_answers_a_message_is_about_that_one(system: Approving) -> None:
    system.model.script = [
        wants(("send_mail", MAIL)),
        says("Hello."),
        wants(("send_mail", {**MAIL, "to": "bob@example.com"})),
        says("To what?"),
        says("Sent to Sam."),
    ]
    harness = system.delivery.channel
    await system.say("mail sam")
    first = harness.bubbles()[-1]
    await system.say("hello")
    hello = harness.bubbles()[-1]
    system.clock.move(timedelta(seconds=1))
    await system.say("mail bob")
    for answered in (hello, first):
        await harness.act("say", text="ok", reply_to=int(answered.id.rpartition(":")[2]))
        await harness.settled()
        await system.work()
    assert system.sent == [MAIL]
    assert await system.states() == ["approved", "pending"]


@also_by_mail
async def test_words_approve_one_of_a_batch_and_change_the_other(
    system: Approving,
) -> None:
    system.model.script = [wants(("send_mail", MAIL), ("book_flight", FLIGHT))]
    await system.say("mail sam, and book the flight")
    names = await system.delivery.store.db.approvals.column("name", order="name")
    codes = await system.delivery.store.db.approvals.column("code", order="name")
    flight, mail = map(str, codes)
    assert names == ["book_flight", "send_mail"]
    shown = "\n".join(bubble.text for bubble in system.delivery.channel.bubbles())
    assert shown.index(mail) < shown.index(flight), "in the order in which they were asked"
    assert all(text in shown for text in (flight, mail, "LH 12", "sam@example.com"))
    decisions: list[Json] = [
        {"code": mail, "decision": "approve"},
        {"code": flight, "decision": "edit", "changes": {"seat": "window"}},
    ]
    system.model.script = [
        wants(("decide_approvals", {"decisions": [{"code": "9Z9", "decision": "approve"}, *decisions]})),
        says("Which do you mean?"),
        wants(("decide_approvals", {"decisions": decisions})),
        says("Done."),
    ]
    await system.say("approve the lot")
    assert (await system.states(), system.sent) == (["pending", "pending"], [])
    system.clock.move(timedelta(seconds=1))
    await system.say("Approve the email, change the flight to a window seat")
    assert system.sent == [MAIL], "what was approved runs at once"
    replies = [bubble.text for bubble in system.delivery.channel.bubbles() if bubble.text.startswith("Approved ")]
    assert len(replies) == 1, "and is acknowledged, on a channel that draws no cards too"
    assert f"Approved {mail}: send mail (to: sam@example.com" in replies[0]
    assert "aisle -> window" in system.card().text
    system.clock.move(timedelta(seconds=1))
    changed = await system.code()
    await system.say(f"AGAIN {changed}")
    assert (await system.states())[-2:] == ["replaced", "pending"], "a fresh card, and the old code is worth nothing"
    await system.say(f"OK {changed}")
    assert system.sent == [MAIL]
    await system.decide("Approve")
    assert system.sent == [MAIL, {**FLIGHT, "seat": "window"}]
    rows = await system.delivery.store.admin.fetch(
        "select identity_id, how from approval_audit where how like 'words %'"
    )
    assert len(rows) == 2
    assert {row["identity_id"] for row in rows} == {await system.delivery.store.db.identities.one("id")}


@also_by_mail
async def test_decisions_run_once_although_every_database_answer_is_lost(channel: str, database_url: str) -> None:
    """Each call is made twice, and its second answer counts: presses, words, codes and numbers alike."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock(), twice=True) as system:
        store = system.delivery.store
        system.model.script = [wants(("send_mail", MAIL)), says("Sent.")]
        await system.say("mail sam")
        await system.decide("Approve")
        assert system.sent == [MAIL]
        system.clock.move(timedelta(seconds=1))
        system.risk = "high"
        system.model.script = [wants(("send_mail", MAIL)), says("No then.")]
        await system.say("mail sam")
        if not system.delivery.channel.has_buttons:
            await system.say(f"OK {await system.code()}")
            row = await store.admin.fetchrow("select confirm_sent, confirm_tries from approvals where risk = 'high'")
            assert tuple(row or ()) == (1, 0)
            await system.say(f"OK {await system.code()} 000000")
            assert await store.db.approvals.one("confirm_tries", risk="high") == 1
        await system.decide("Cancel")
        assert await system.states() == ["approved", "cancelled"]
        made = await store.column("select what from approval_audit where what in ('approved', 'cancelled', 'ran')")
        assert sorted(str(event) for event in made) == ["approved", "cancelled", "ran"]
        texts = [bubble.text for bubble in system.delivery.channel.bubbles()]
        assert not any("already approved" in text for text in [*texts, *system.delivery.channel.whispers()])


def _heard(request: ModelRequest, code: str, name: str, value: str) -> ModelAnswer:
    """Edit what the person's reply names, as the model is told."""
    assert f"answers the card {code}" in str(request)
    return wants(("decide_approvals", {"decisions": [{"code": code, "decision": "edit", "changes": {name: value}}]}))


async def _change(system: Approving, harness: SlackHarness, **entered: str) -> None:
    await system.press("Edit")
    await eventually(lambda: bool(harness.modals()))
    await _send(system, harness, **entered)


async def _send(system: Approving, harness: SlackHarness, **entered: str) -> None:
    await harness.act("submit", view_id=harness.modals()[-1]["id"], values=entered)
    await harness.settled()
    await system.work()
