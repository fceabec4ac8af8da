"""Changing what was asked, on every channel: by form, by reply, in words; and several at once."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer, ModelRequest
from core.tools.tool import AnyTool, tool
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HOUSES, SlackHouse
from tests.contract.harness import exempt, until
from tests.core.agents.harness import SetClock
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}
FLIGHT: JsonObject = {"number": "LH 12", "seat": "aisle"}
NO_FORMS = "it has no forms"


@pytest.fixture
async def office(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Give an office that can book flights, too."""
    async with open_approving(HOUSES[channel], database_url, SetClock()) as office:
        office.more = [_flight(office)]
        yield office


def _flight(office: Approving) -> AnyTool:
    @tool(needs_approval=True)
    async def book_flight(number: str, seat: str) -> str:
        """Book a flight."""
        office.sent.append({"number": number, "seat": seat})
        return f"Booked {number}."

    return book_flight


@exempt(sms=NO_FORMS, telegram=NO_FORMS)
async def test_a_form_shows_every_field_makes_a_card_with_the_difference_and_says_what_cannot_be_used(
    office: Approving,
) -> None:
    house = office.desk.house
    assert isinstance(house, SlackHouse)

    @tool(name="pay", needs_approval=True)
    async def pay(to: str, amount: int) -> str:
        """Pay somebody."""
        office.sent.append({"to": to, "amount": str(amount)})
        return "Paid."

    office.more = [pay]
    office.model.script = [wants(("pay", {"to": "Sam", "amount": 5})), says("Paid.")]
    await office.say("pay sam 5")
    await office.press("Details")
    await until(lambda: bool(house.modals()))
    assert "Sam" in str(house.modals()[-1])
    await house.act("close", view_id=house.modals()[-1]["id"])

    await _change(office, house, amount="lots")
    assert await office.states() == ["replaced", "pending"]
    assert "Not changed" in office.card().text
    office.clock.move(timedelta(seconds=1))
    await _change(office, house, amount="7")
    assert await office.states() == ["replaced", "replaced", "pending"]
    assert "5 -> 7" in office.card().text
    hashes = await office.desk.store.column("select hash from approvals order by generation")
    assert hashes[0] != hashes[2], "another action is another hash"
    old = await office.desk.store.one("select code from approvals order by generation limit 1")
    await office.say(f"OK {old}")
    assert "newer card counts" in office.last()
    assert office.sent == []
    await office.decide("Approve")
    assert office.sent == [{"to": "Sam", "amount": "7"}]
    assert "amount: 5 -> 7" in office.model.told()[-1]


@exempt(sms="a text has no buttons", slack="it has a form")
async def test_edit_by_reply_the_reply_names_its_card_though_another_was_shown_since(office: Approving) -> None:
    asked = ""
    office.model.script = [
        wants(("send_mail", MAIL)),
        wants(("send_mail", {**MAIL, "to": "bob@example.com"})),
        lambda request: _heard(request, asked, "to", "eve@example.com"),
        says("Fine."),
    ]
    await office.say("mail sam")
    asked, card = await office.code(), office.card()
    await office.press("Edit", card)
    await office.work()
    prompt = office.desk.house.bubbles()[-1]
    assert f"change about {asked}" in prompt.text
    office.clock.move(timedelta(seconds=1))
    await office.say("and mail bob")
    await office.desk.house.act("say", text="to eve@example.com", reply_to=int(prompt.id.rpartition(":")[2]))
    await office.desk.house.settled()
    await office.work()
    assert await office.states() == ["replaced", "pending", "pending"]
    assert "sam@example.com -> eve@example.com" in office.card().text


@exempt(sms="it has no replies", slack="a reply there is in a thread of its own")
async def test_a_bare_word_that_answers_a_message_is_about_that_one(office: Approving) -> None:
    office.model.script = [
        wants(("send_mail", MAIL)),
        says("Hello."),
        wants(("send_mail", {**MAIL, "to": "bob@example.com"})),
        says("To what?"),
        says("Sent to Sam."),
    ]
    house = office.desk.house
    await office.say("mail sam")
    first = house.bubbles()[-1]
    await office.say("hello")
    hello = house.bubbles()[-1]
    office.clock.move(timedelta(seconds=1))
    await office.say("mail bob")
    for answered in (hello, first):
        await house.act("say", text="ok", reply_to=int(answered.id.rpartition(":")[2]))
        await house.settled()
        await office.work()
    assert office.sent == [MAIL]
    assert await office.states() == ["approved", "pending"]


async def test_a_batch_in_words_one_is_approved_the_other_changed_and_shown_again(
    office: Approving,
) -> None:
    office.model.script = [wants(("send_mail", MAIL), ("book_flight", FLIGHT))]
    await office.say("mail sam, and book the flight")
    names = await office.desk.store.column("select name from approvals order by name")
    codes = await office.desk.store.column("select code from approvals order by name")
    flight, mail = map(str, codes)
    assert names == ["book_flight", "send_mail"]
    shown = "\n".join(one.text for one in office.desk.house.bubbles())
    assert shown.index(mail) < shown.index(flight), "in the order in which they were asked"
    assert all(one in shown for one in (flight, mail, "LH 12", "sam@example.com"))
    decisions: list[Json] = [
        {"code": mail, "decision": "approve"},
        {"code": flight, "decision": "edit", "changes": {"seat": "window"}},
    ]
    office.model.script = [
        wants(("decide_approvals", {"decisions": [{"code": "9Z9", "decision": "approve"}, *decisions]})),
        says("Which do you mean?"),
        wants(("decide_approvals", {"decisions": decisions})),
        says("Done."),
    ]
    await office.say("approve the lot")
    assert (await office.states(), office.sent) == (["pending", "pending"], [])
    office.clock.move(timedelta(seconds=1))
    await office.say("Approve the email, change the flight to a window seat")
    assert office.sent == [MAIL], "what was approved runs at once"
    told = [one.text for one in office.desk.house.bubbles() if one.text.startswith("Approved ")]
    assert len(told) == 1, "and is acknowledged, on a channel that draws no cards too"
    assert f"Approved {mail}: send mail (to: sam@example.com" in told[0]
    assert "aisle -> window" in office.card().text
    office.clock.move(timedelta(seconds=1))
    changed = await office.code()
    await office.say(f"AGAIN {changed}")
    assert (await office.states())[-2:] == ["replaced", "pending"], "a fresh card, and the old code is worth nothing"
    await office.say(f"OK {changed}")
    assert office.sent == [MAIL]
    await office.decide("Approve")
    assert office.sent == [MAIL, {**FLIGHT, "seat": "window"}]
    rows = await office.desk.store.eye.fetch("select identity_id, how from approval_audit where how like 'words %'")
    assert len(rows) == 2
    assert {row["identity_id"] for row in rows} == {await office.desk.store.one("select id from identities")}


async def test_what_is_told_twice_is_done_once_although_every_answer_of_the_database_is_lost(
    channel: str, database_url: str
) -> None:
    """Each call is made twice, and its second answer counts: presses, words, codes and numbers alike."""
    async with open_approving(HOUSES[channel], database_url, SetClock(), twice=True) as office:
        store = office.desk.store
        office.model.script = [wants(("send_mail", MAIL)), says("Sent.")]
        await office.say("mail sam")
        await office.decide("Approve")
        assert office.sent == [MAIL]
        office.clock.move(timedelta(seconds=1))
        office.risk = "high"
        office.model.script = [wants(("send_mail", MAIL)), says("No then.")]
        await office.say("mail sam")
        if channel == "sms":
            await office.say(f"OK {await office.code()}")
            row = await store.eye.fetchrow("select confirm_sent, confirm_tries from approvals where risk = 'high'")
            assert tuple(row or ()) == (1, 0)
            await office.say(f"OK {await office.code()} 000000")
            assert await store.one("select confirm_tries from approvals where risk = 'high'") == 1
        await office.decide("Cancel")
        assert await office.states() == ["approved", "cancelled"]
        made = await store.column("select what from approval_audit where what in ('approved', 'cancelled', 'ran')")
        assert sorted(str(one) for one in made) == ["approved", "cancelled", "ran"]
        texts = [one.text for one in office.desk.house.bubbles()]
        assert not any("already approved" in one for one in [*texts, *_whispers(office)])


def _whispers(office: Approving) -> list[str]:
    return [] if office.desk.house.name == "sms" else office.desk.house.whispers()


def _heard(request: ModelRequest, code: str, name: str, value: str) -> ModelAnswer:
    """Edit what the person's reply names, as the model is told."""
    assert f"answers the card {code}" in str(request)
    return wants(("decide_approvals", {"decisions": [{"code": code, "decision": "edit", "changes": {name: value}}]}))


async def _change(office: Approving, house: SlackHouse, **entered: str) -> None:
    await office.press("Edit")
    await until(lambda: bool(house.modals()))
    await house.act("submit", view_id=house.modals()[-1]["id"], values=entered)
    await house.settled()
    await office.work()
