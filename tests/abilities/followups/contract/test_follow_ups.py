"""Follow-ups on every channel: proposed once in a digest, kept by a yes, ended by a word, and never pressed."""

from datetime import timedelta

from tests.abilities.followups.following import AT_THREE, INTERVIEW, MORNING, Following
from tests.contract.email_harness import also_by_mail


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
    assert "I propose no follow-ups any more" in await system.ask("followups off")
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
    assert "1. “I have an interview tomorrow at 3”: I ask you on Sun 22 Nov 2026, 17:00." in listed
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
