"""Follow-ups on every channel: proposed once in a digest, kept by a yes, ended by a word, each also by a button."""

from datetime import timedelta

import pytest

from core.messaging.messages import Press
from core.notifications.types import Notification, Urgency
from tests.abilities.followups.following import AT_THREE, INTERVIEW, MORNING, Following
from tests.contract.canaries import PEOPLE
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import exempt

BUTTONS = ["Yes, ask me", "No, thanks", "No more of these"]
NO_BUTTONS = exempt(sms="it has no buttons", terminal="it has no buttons")


@also_by_mail
async def test_what_is_ahead_is_proposed_in_the_digest_and_asked_after_a_yes(system: Following) -> None:
    before = system.count("ada")
    await system.tells()
    assert system.count("ada") == before, "it waits for the digest"
    proposed = await system.is_later(MORNING)
    assert f"You said: “{INTERVIEW}”." in proposed
    assert "Shall I ask you on Sun 22 Nov 2026, 17:00 how it went?" in proposed
    assert "FOLLOWUPS YES 1" in proposed
    assert "FOLLOWUPS OFF" in proposed
    answer = await system.ask("followups yes 1")
    assert "I will ask you on Sun 22 Nov 2026, 17:00 how it went" in answer
    assert "“undo”" in answer
    assert "How did it go?" not in await system.is_later(timedelta(hours=8))
    asked = await system.is_later(timedelta(hours=1))
    assert f"On Sat 21 Nov 2026 you said: “{INTERVIEW}”. How did it go?" in asked
    assert await system.state() == "asked"
    assert "How did it go?" not in await system.is_later(timedelta(days=2)), "once"
    assert await system.asked_of_the_model() == 0


@also_by_mail
async def test_undo_ends_a_follow_up_that_was_kept(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    await system.ask("followups yes 1")
    assert "Undone: I will not ask how it went." in await system.ask("undo")
    assert await system.state() == "over"
    assert "How did it go?" not in await system.is_later(timedelta(days=1))


async def test_a_follow_up_that_nobody_agreed_to_is_never_asked(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    assert "I will not ask about it." in await system.ask("followups no 1")
    await system.tells("My exam is on Monday at ten", AT_THREE + timedelta(days=1))
    await system.is_later(timedelta(days=1))
    assert "How did it go?" not in await system.is_later(timedelta(days=2))
    assert await system.state("mem_1") == "declined"
    assert await system.state("mem_2") == "unanswered"


@also_by_mail
async def test_a_word_turns_all_of_it_off_and_on_again(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    await system.ask("followups yes 1")
    await system.tells("My exam is on Monday at ten", AT_THREE + timedelta(days=1))
    assert "I no longer propose follow-ups" in await system.ask("followups off")
    for _ in range(3):
        await system.tells("My talk is in two days", system.clock.now() + timedelta(days=2))
        heard = await system.is_later(timedelta(days=1))
        assert "how" not in heard.lower()
    assert "FOLLOWUPS ON" in await system.ask("followups")
    assert "I propose follow-ups again." in await system.ask("followups on")
    await system.tells("I sit another exam on Thursday", system.clock.now() + timedelta(days=2))
    assert "another exam" in await system.is_later(timedelta(days=1))


async def test_the_word_lists_what_is_proposed_and_kept(system: Following) -> None:
    assert "such as an interview" in await system.ask("followups")
    await system.tells()
    await system.is_later(MORNING)
    assert "1. “I have an interview tomorrow at 3”: shall I ask you on" in await system.ask("follow-ups")
    await system.ask("followups yes")
    listed = await system.ask("nachfragen")
    assert "1. “I have an interview tomorrow at 3”: I will ask you on Sun 22 Nov 2026, 17:00." in listed
    assert "FOLLOWUPS NO 1" in listed
    assert "I will not ask about" in await system.ask("followups no 1")
    assert await system.state() == "over"


async def test_a_wrong_number_is_told_what_can_be_answered(system: Following) -> None:
    assert "No follow-up waits for your answer." in await system.ask("followups yes 7")
    await system.tells()
    await system.is_later(MORNING)
    answer = await system.ask("followups no 7")
    assert "Which one?" in answer
    assert "FOLLOWUPS NO 1" in answer
    assert await system.state() == "proposed"


async def test_a_yes_in_other_words_keeps_it_through_the_model(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    assert "I will ask you on" in await system.call("ada", "decide_followup", keep=True, number=1)
    assert await system.state() == "kept"
    assert "Undone" in await system.ask("undo")


async def test_promise_11_nobody_decides_about_anothers_follow_up(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    assert "No follow-up waits for your answer." in await system.ask("followups yes 1", "grace")
    assert INTERVIEW not in await system.ask("followups", "grace")
    assert await system.state() == "proposed"


async def press(system: Following, label: str) -> str:
    """Let Ada press a button of the newest message that has any; return what she reads then."""
    before = system.count("ada")
    await system.press(label)
    await system.work()
    return system.heard("ada", before)


async def pressed(system: Following, token: str, person: str, key: str, *, on: str | None = None) -> str:
    """Let a person's client send a token of its own making in their own chat; return what they read then.

    `on`: the message that it names.
    """
    channel, who = system.delivery.channel, next(one for one in PEOPLE if one.key == person)
    sender = who.slack_user if channel.name == "slack" else str(who.telegram_user)
    before = system.count(person)
    await channel.sink.accept(Press(channel.address(person), sender, (key,), token, provider_id=on))
    await system.work()
    return system.heard(person, before)


@NO_BUTTONS
async def test_a_press_keeps_the_proposal_and_pressing_again_changes_nothing(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    buttons = dict(system.card().buttons)
    assert [*buttons] == BUTTONS
    assert "I will ask you on Sun 22 Nov 2026, 17:00 how it went" in await press(system, "Yes, ask me")
    again = await pressed(system, buttons["Yes, ask me"], "ada", "press:again")
    assert "I will ask you on Sun 22 Nov 2026, 17:00 how it went" in again
    assert (await system.is_later(timedelta(hours=9))).count("How did it go?") == 1
    late = await pressed(system, buttons["No, thanks"], "ada", "press:late")
    assert "No follow-up waits for your answer." in late
    assert await system.state() == "asked"
    assert await system.asked_of_the_model() == 0


@NO_BUTTONS
@pytest.mark.parametrize(
    ("label", "answer", "state"),
    [
        ("No, thanks", "I will not ask about it.", "declined"),
        ("No more of these", "I no longer propose follow-ups", "over"),
    ],
)
async def test_a_press_declines_it_or_turns_all_of_them_off(
    system: Following, label: str, answer: str, state: str
) -> None:
    await system.tells()
    await system.is_later(MORNING)
    assert answer in await press(system, label)
    assert await system.state() == state
    assert "How did it go?" not in await system.is_later(timedelta(days=2))


@NO_BUTTONS
async def test_the_buttons_stand_below_a_digest_of_several_things(system: Following) -> None:
    await system.tells()
    await system.notifier.notify(system.tenants["ada"], Notification("The post came", urgency=Urgency.LOW))
    proposed = await system.is_later(MORNING)
    assert "The post came" in proposed
    assert INTERVIEW in proposed
    assert [label for label, _ in system.card().buttons] == BUTTONS
    assert "I will ask you on" in await press(system, "Yes, ask me")
    assert await system.state() == "kept"


@NO_BUTTONS
async def test_promise_10_a_pressed_proposal_says_the_choice_in_place_of_buttons(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    proposal = system.card()
    await press(system, "No, thanks")
    drawn = next(bubble for bubble in system.delivery.channel.bubbles() if bubble.id == proposal.id)
    assert INTERVIEW in drawn.text
    assert "You chose: No, thanks" in drawn.text
    assert drawn.buttons == ()


@NO_BUTTONS
@pytest.mark.parametrize("forged", ["type.followups.list", "type.help", "type.followups.yes.2"])
async def test_a_forged_press_changes_no_message_of_ours(system: Following, forged: str) -> None:
    await system.tells()
    await system.is_later(MORNING)
    proposal = system.card()
    await pressed(system, forged, "ada", "press:1", on=proposal.id.rpartition(":")[2])
    await pressed(system, dict(proposal.buttons)["No, thanks"], "grace", "press:2", on=proposal.id.rpartition(":")[2])
    assert system.card() == proposal


@NO_BUTTONS
async def test_a_press_that_is_delivered_twice_is_answered_once(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    token = dict(system.card().buttons)["Yes, ask me"]
    assert "I will ask you on" in await pressed(system, token, "ada", "press:1")
    assert await pressed(system, token, "ada", "press:1") == ""


@NO_BUTTONS
async def test_promise_11_a_press_does_no_more_than_its_pressers_words(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    token = dict(system.card().buttons)["Yes, ask me"]
    assert "No follow-up waits for your answer." in await pressed(system, token, "grace", "press:1")
    assert await system.state() == "proposed"
    for number, forged in enumerate(("type.send.all.my.money", "type.", "type.OK.7K", "type.followups.yes.1.please")):
        assert await pressed(system, forged, "ada", f"forged:{number}") == ""
    assert await system.state() == "proposed"
    assert await system.asked_of_the_model() == 0
