"""Messages to others on a person's behalf, over every channel: consented to, sent once, and answered to the person."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.json_types import JsonObject
from core.people.access_policy import Access, Policy
from tests.abilities.outreach.writing import Writing, open_writing
from tests.contract.canaries import MARK
from tests.core.builders import FakeModel, says, wants

LATE = "I'll be 20 minutes late."
OPENING = f"This is the assistant of Ada {MARK}:"


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Writing]:
    """Yield Ada's assistant."""
    async with open_writing(channel, database_url) as system:
        yield system


async def know(system: Writing, name: str, person: str, **more: str) -> None:
    """Let Ada keep somebody, with what this channel knows them by."""
    key, channel = system.key(person), system.delivery.channel.name
    given: JsonObject = {"name": name, **more}
    given["addresses"] = [key if channel == "sms" else f"{channel} {key}"]
    system.model = FakeModel([wants(("add_contact", given)), says("Kept.")])
    await system.say(f"keep {name}: {key}")
    assert "Kept as contact" in system.model.told()[-1]


async def write(system: Writing, to: str, text: str = LATE, **more: str) -> None:
    """Let Ada have a message written; her approval is not given yet."""
    said = more.pop("said", f"tell {to} something")
    given: JsonObject = {"to": to, "text": text, "channel": system.delivery.channel.name, **more}
    system.model = FakeModel([wants(("MessageSomeoneAgent", given)), says("It is on its way.")])
    await system.say(said)


async def test_a_contact_is_written_to_once_it_is_approved(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "grace")
    card = system.card().text
    for part in ("Grace Hopper", system.key("grace"), OPENING, LATE, "STOP"):
        assert part in card, part
    assert system.read() == []
    await system.decide("Approve")
    [text] = system.read()
    lines = text.splitlines()
    assert lines[:2] == [OPENING, LATE]
    assert "reply STOP" in text or "Reply STOP" in text
    assert all(line in card for line in lines)
    await write(system, "Grace", "Now 30.")
    await system.decide("Approve")
    assert system.read()[1:] == ["Now 30."]
    await system.say("undo")
    assert "I cannot undo this: Message to Grace" in system.last()
    assert "A sent message cannot be recalled" in system.last()


async def test_what_is_not_approved_is_not_sent(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    await system.decide("Cancel")
    assert system.read() == []
    assert await system.delivery.store.db.recipients.count() == 0


async def test_the_answer_comes_back_to_the_person_and_lets_nobody_in(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    await system.decide("Approve")
    store, calls = system.delivery.store, len(system.model.requests)
    tenants = await store.db.tenants.count()
    for text in ("ok", "No hurry *at all*,\nsee you"):
        await system.answer(text)
    read = [bubble.text.replace("\\", "") for bubble in system.delivery.channel.bubbles()][-2:]
    assert "Grace Hopper answered" in read[0]
    assert read[0].endswith("ok")
    assert "No hurry *at all*," in read[1]
    assert "see you" in read[1]
    assert len(system.model.requests) == calls
    assert len(system.read()) == 1
    assert await store.db.tenants.count() == tenants
    reasons = await store.column("select distinct reason from ignored_messages where reason <> 'unknown'")
    assert reasons == ["answer"]
    assert "No hurry" not in str(await store.column("select message::text from history"))
    system.model = FakeModel([wants(("read_answers", {})), says("She says no hurry.")])
    await system.say("what did she say?")
    assert "No hurry" in system.model.told()[-1]
    assert "written by others" in system.model.told()[-1]


async def test_an_answer_is_answered_again_with_a_card_of_its_own(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    await system.decide("Approve")
    await system.answer("Shall I order?")
    await write(system, "Grace", "Yes please.")
    assert "Yes please." in system.card().text
    assert len(system.read()) == 1
    await system.decide("Approve")
    assert system.read()[1:] == ["Yes please."]


async def test_promise_8_a_stop_is_kept_and_told_and_nothing_is_sent_after_it(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    await system.decide("Approve")
    await write(system, "Grace", "Are you there?")  # approved only after the STOP
    await system.answer("STOP")
    assert "Grace Hopper wants no more messages" in system.last()
    sent = len(system.read())
    await system.decide("Approve")
    await write(system, "Grace", "Hello?")
    assert "wants no messages from me" in system.model.told()[-1]
    assert [text for text in system.read()[sent:] if "Are you there" in text or "Hello" in text] == []
    await system.answer("START")
    await write(system, "Grace", "Back?")
    await system.decide("Approve")
    assert "Back?" in system.read()[-1]


async def test_two_of_one_name_are_asked_about_and_never_chosen(system: Writing) -> None:
    await know(system, "Sam Miller", "grace", relation="work")
    await know(system, "Sam Jones", "lena")
    await write(system, "Sam")
    assert system.last() == "Which one: Sam Miller or Sam Jones?"
    assert await system.states() == []
    system.model = FakeModel([says("It is on its way.")])
    await system.say("Sam Jones")
    assert system.key("lena") in system.card().text
    await system.decide("Approve")
    assert system.read("grace") == []
    assert LATE in system.read("lena")[-1]
    await write(system, "Sam from work")
    assert system.key("grace") in system.card().text


async def test_nobody_is_guessed_and_no_address_made_up(system: Writing) -> None:
    await know(system, "Dan Brown", "grace", relation="colleague")
    await write(system, system.key("lena"), said="tell her something")
    assert "only numbers and addresses that you have given" in system.model.told()[-1]
    await write(system, "Dan", address=system.key("lena"))
    assert (
        "not an address of Dan Brown" in system.model.told()[-1] or "given me here yourself" in system.model.told()[-1]
    )
    system.model = FakeModel([wants(("add_contact", {"name": "Lena", "addresses": ["+14155557704"]})), says("No.")])
    await system.say("keep Lena")
    assert "given me here yourself" in system.model.told()[-1]
    await write(system, "Daniela")
    assert "I know nobody called Daniela" in system.last()
    assert await system.states() == []
    assert system.read("lena") == []


async def test_the_text_arrives_exactly_as_it_was_approved(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    text = "1. *stars* and _lines_\n# no heading\n- [x](http://evil.example) <b>&amp;\n> 2) done"
    await write(system, "Grace", text)
    card = system.card().text
    await system.decide("Approve")
    [read] = system.read()
    if system.delivery.channel.name == "slack":  # whose emulation shows the Markdown
        read = read.replace("\\", "")
    assert read.splitlines()[1:-1] == text.splitlines()
    assert [line for line in text.splitlines() if line not in card] == [], card


async def test_the_person_changes_the_text_and_consents_again(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    code = await system.code()
    changes: JsonObject = {"text": "I'll be 30 minutes late."}
    decision: JsonObject = {"decisions": [{"code": code, "decision": "edit", "changes": changes}]}
    system.model = FakeModel([wants(("decide_approvals", decision)), says("Changed.")])
    await system.say("make it 30 minutes")
    assert "I'll be 30 minutes late." in system.card().text
    assert system.read() == []
    await system.decide("Approve")
    assert system.read()[0].splitlines()[:2] == [OPENING, "I'll be 30 minutes late."]


async def test_after_two_weeks_a_message_is_a_strangers_again(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    await system.decide("Approve")
    system.clock.at += timedelta(days=15)
    told = len(system.delivery.channel.bubbles())
    await system.answer("Late, but hello")
    assert len(system.delivery.channel.bubbles()) == told
    assert "Late, but" not in str(await system.delivery.store.everything())


async def test_an_answer_under_an_open_policy_makes_nobody_a_member(channel: str, database_url: str) -> None:
    async with open_writing(channel, database_url, Access(policy=Policy.OPEN)) as system:
        await know(system, "Mei Lin", "mei" if channel != "telegram" else "grace")
        person = "mei" if channel != "telegram" else "grace"
        await write(system, "Mei")
        await system.decide("Approve")
        store = system.delivery.store
        tenants = await store.db.tenants.count()
        await system.answer("Fine", person)
        if channel == "telegram":  # where she is a member already, having started the bot: her words are her own
            assert await store.db.inbound.column("text", text="Fine") == ["Fine"]
            return
        assert "Mei Lin answered" in system.last()
        assert await store.db.tenants.count() == tenants


async def test_a_users_own_message_stays_theirs_unless_it_replies(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await system.admit("grace", "tn_grace")
    await write(system, "Grace")
    await system.decide("Approve")
    channel, told = system.delivery.channel, len(system.delivery.channel.bubbles())
    system.model = FakeModel([says("Hello Grace.")])
    await system.answer("my own question")
    assert system.read()[-1] == "Hello Grace."
    assert len(channel.bubbles()) == told
    if channel.name == "sms":  # where nothing tells what a text replies to
        return
    [sent] = [bubble for bubble in system.sent_to() if LATE in bubble.text]
    system.model = FakeModel([])
    where = {"thread_ts": sent.id} if channel.name == "slack" else {"reply_to": int(sent.id.rpartition(":")[2])}
    await channel.act("say", "grace", text="See you then", **where)
    await channel.settled()
    await system.work()
    assert "See you then" in system.last()
    assert "Grace Hopper answered" in system.last()


async def test_the_newest_message_gets_the_answer_and_no_other_tenant(system: Writing) -> None:
    await know(system, "Grace Hopper", "grace")
    await write(system, "Grace")
    await system.decide("Approve")
    await system.admit("lena", "tn_lena")
    system.model = FakeModel([wants(("find_contacts", {"name": "Grace"})), says("Nobody.")])
    await system.say("who is Grace?", "lena")
    assert "Nobody of this name" in system.model.told()[-1]
    system.model = FakeModel([wants(("read_answers", {})), says("None.")])
    await system.say("what did Grace say?", "lena")
    assert "Nobody has answered" in system.model.told()[-1]
    system.clock.at += timedelta(minutes=1)
    given: JsonObject = {"to": system.key("grace"), "text": "Lunch?", "channel": system.delivery.channel.name}
    system.model = FakeModel([wants(("MessageSomeoneAgent", given)), says("On its way.")])
    await system.say(f"write to {system.key('grace')}", "lena")
    assert f"Lena {MARK}:" in system.delivery.channel.bubbles("lena")[-1].text  # in her language
    if system.delivery.channel.name == "sms":
        await system.say(f"OK {await system.code()}", "lena")
    else:
        await system.press("Approve", system.delivery.channel.bubbles("lena")[-1], "lena")
        await system.work()
    assert f"Lena {MARK}:" in system.read()[-1]
    ada = len(system.delivery.channel.bubbles())
    system.clock.at += timedelta(minutes=1)
    await system.answer("Yes, lunch")
    assert "Yes, lunch" in system.delivery.channel.bubbles("lena")[-1].text
    assert len(system.delivery.channel.bubbles()) == ada
    await write(system, "Grace", "Now me again.")
    await system.decide("Approve")
    assert OPENING in system.read()[-1]
