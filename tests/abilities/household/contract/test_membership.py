"""Households over every channel: made by a word, joined by invitation and consent, left at any time, and told about."""

from datetime import timedelta

from tests.abilities.household.living import Living
from tests.contract.email_harness import also_by_mail
from tests.core.builders import FakeModel, says


@also_by_mail
async def test_a_household_is_made_and_shown_by_a_word(system: Living) -> None:
    assert "You are in no household." in await system.ask("household")
    assert "has 1 to 40 characters" in await system.ask(f"household create {'x' * 41}")
    made = await system.ask("household create Rose Cottage")
    assert "“Rose Cottage” now exists, and you are its owner." in made
    shown = await system.ask("Household!")
    assert "“Rose Cottage”:" in shown
    assert "1. Ada" in shown
    assert "(owner)" in shown
    assert "You are in a household already." in await system.ask("household create Another")
    assert await system.roles() == {"Ada": "owner"}


async def test_who_is_invited_sees_by_whom_and_joins_after_agreeing(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    code = await system.invited()
    asked = await system.ask(f"household join {code}", "grace")
    for part in ("Ada", "“Rose Cottage”", "(adult)", "lists", "leave at any time", code, "AGREE"):
        assert part.lower() in asked.lower(), part
    assert await system.roles() == {"Ada": "owner"}
    before = system.count("ada")
    joined = await system.ask(f"HOUSEHOLD JOIN {code} AGREE", "grace")
    assert "You are now in “Rose Cottage” (adult)." in joined
    assert await system.roles() == {"Ada": "owner", "Grace": "adult"}
    told = system.heard("ada", before)
    assert "Grace" in told
    assert "has joined “Rose Cottage” (adult)." in told
    assert "2. Grace" in await system.ask("household")


async def test_agreement_sent_along_with_the_code_counts_only_after_the_question(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    code = await system.invited()
    assert "invites you" in await system.ask(f"household join {code} agree", "grace")
    assert await system.roles() == {"Ada": "owner"}
    # Somebody else who got hold of the code is asked too; the answer of the one who was asked before counts no more.
    assert "Rose Cottage" in await system.ask(f"household join {code}", "lena")
    assert "invites you" in await system.ask(f"household join {code} agree", "grace")
    assert "You are now in “Rose Cottage”" in await system.ask(f"household join {code} agree", "grace")
    assert await system.roles() == {"Ada": "owner", "Grace": "adult"}
    await system.ask(f"household join {code} agree", "lena")
    assert await system.roles() == {"Ada": "owner", "Grace": "adult"}


async def test_a_code_works_once_for_a_day_and_while_its_giver_is_in(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    old = await system.invited()
    system.clock.move(timedelta(days=1))
    assert "ask for a new one" in await system.ask(f"household join {old}", "grace")
    await system.joins("grace")
    of_grace = await system.invited("grace")
    assert "You have left “Rose Cottage”." in await system.ask("household leave", "grace")
    await system.ask(f"household join {of_grace}", "lena")
    await system.ask(f"household join {of_grace} agree", "lena")
    assert await system.roles() == {"Ada": "owner"}
    assert "ask for a new one" in await system.ask("household join ABC-DEF-GH2", "grace")
    for _ in range(5):
        await system.ask("household join ABC-DEF-GH2", "grace")
    assert "Too many wrong codes" in await system.ask("household join ABC-DEF-GH2", "grace")
    assert "Too many wrong codes" in await system.ask(f"household join {await system.invited()}", "grace")


async def test_who_leaves_is_out_and_the_others_are_told(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    await system.joins("grace")
    assert "You are the only adult" not in await system.ask("household", "grace")
    before = system.count("ada")
    assert "You have left “Rose Cottage”." in await system.ask("household leave", "grace")
    assert "has left “Rose Cottage”." in system.heard("ada", before)
    assert "You are in no household." in await system.ask("household", "grace")
    assert "You are the only adult" in await system.ask("household leave")
    assert await system.roles() == {"Ada": "owner"}


async def test_when_the_owner_leaves_the_adult_who_came_first_is_it(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    await system.joins("grace")
    system.clock.move(timedelta(seconds=1))
    await system.joins("lena", "grace")
    before = system.count("grace")
    assert "You have left" in await system.ask("household leave")
    assert "You are now in “Rose Cottage” (owner)." in system.heard("grace", before)
    assert await system.roles() == {"Grace": "owner", "Lena": "adult"}


async def test_the_owner_gives_roles_and_nobody_is_made_a_child(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    assert "child" in await system.joins("grace", role="child")
    assert await system.roles() == {"Ada": "owner", "Grace": "child"}
    assert "Only an adult" in await system.ask("household invite", "grace")
    for person in ("ada", "grace"):
        assert "2. Grace" in await system.ask("household", person)
    assert "Only the owner" in await system.ask("household make 1 adult", "grace")
    assert "A child can become an adult" in await system.ask("household make 2 owner")
    before = system.count("grace")
    assert "adult" in await system.ask("household make Grace adult")
    assert "You are now in “Rose Cottage” (adult)." in system.heard("grace", before)
    assert "A child can become an adult" in await system.ask("household make grace child")
    assert await system.roles() == {"Ada": "owner", "Grace": "adult"}
    assert "owner" in await system.ask("household make 2 owner")
    assert await system.roles() == {"Ada": "adult", "Grace": "owner"}
    assert "Only the owner" in await system.ask("household make 2 owner")
    assert "does not name exactly one member" in await system.ask("household make Nobody owner", "grace")


async def test_the_owner_puts_somebody_out_who_is_told(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    await system.joins("grace")
    await system.joins("lena")
    assert "Only the owner" in await system.ask("household remove lena", "grace")
    before, of_grace = system.count("lena"), system.count("grace")
    assert "is no longer in “Rose Cottage”." in await system.ask("household remove Lena")
    assert "Rose Cottage" in system.heard("lena", before)
    assert "is no longer in “Rose Cottage”." in system.heard("grace", of_grace)
    assert await system.roles() == {"Ada": "owner", "Grace": "adult"}
    await system.ask("household")
    assert "To leave it yourself" in await system.ask("household remove 1")


async def test_a_number_means_who_had_it_in_the_list_that_was_shown(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    for person in ("grace", "lena"):
        system.clock.move(timedelta(seconds=1))
        await system.joins(person)
    assert "does not name exactly one member" in await system.ask("household remove 2"), "no list was shown"
    assert "2. Grace" in await system.ask("household")
    await system.ask("household leave", "grace")
    for number in ("2", "0", "4"):
        assert "does not name exactly one member" in await system.ask(f"household remove {number}")
    assert "adult" in await system.ask("household make 3 adult")
    assert await system.roles() == {"Ada": "owner", "Lena": "adult"}
    assert "2. Lena" in await system.ask("household")
    assert "is no longer in “Rose Cottage”." in await system.ask("household remove 2")
    assert await system.roles() == {"Ada": "owner"}


async def test_its_owner_ends_it_for_all_once_they_agree(system: Living) -> None:
    await system.ask("household create Rose Cottage")
    await system.joins("grace")
    assert "Only the owner" in await system.ask("household end agree", "grace")
    assert "for all of its members" in await system.ask("household end")
    assert await system.roles() == {"Ada": "owner", "Grace": "adult"}
    before = system.count("grace")
    assert "“Rose Cottage” has ended" in await system.ask("household end agree")
    assert "“Rose Cottage” has ended" in system.heard("grace", before)
    assert await system.roles() == {}
    store = system.delivery.store
    assert await store.one("select count(*) from tenants where tenant_id like 'hh%'") == 0
    assert "now exists" in await system.ask("household create Anew", "grace")


async def test_the_words_of_each_language_do_the_same(system: Living) -> None:
    said = await system.ask("Haushalt gründen Rosenhaus")
    assert "“Rosenhaus” now exists" in said
    for person, join, leave in (("grace", "foyer rejoindre", "foyer quitter"), ("lena", "家庭 加入", "家庭 退出")):
        code = await system.invited()
        await system.ask(f"{join} {code}", person)
        await system.ask(f"{join} {code} agree", person)
        assert len(await system.roles()) == 2, person
        await system.ask(leave, person)
        assert len(await system.roles()) == 1, person


async def test_a_sentence_that_begins_with_the_word_is_for_the_assistant(system: Living) -> None:
    for text in ("household insurance: what does it cost?", "household leave policy", "household end of month list"):
        system.model = FakeModel([says("Let me see.")])
        assert "Let me see." in await system.ask(text), text
