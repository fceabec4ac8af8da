"""We take part in a group once somebody who runs it wants that and the owner of the installation allows it."""

from tests.abilities.groups.talking import ON, Talking
from tests.contract.harness import exempt
from tests.core.builders import FakeModel, says


async def test_a_group_that_nobody_allowed_gets_no_turn_and_no_model_call(system: Talking) -> None:
    system.model = FakeModel([])
    said = await system.write("hello")
    assert [text[:8] for text in said] in (["I answer"], ["I only a"])
    assert await system.write("hello again", "lena") == []
    assert await system.state() is None


async def test_who_runs_the_group_and_the_owner_allow_it(system: Talking) -> None:
    said = await system.write(ON)
    assert said[-1] == "I will take part here once the owner of my installation allows it; I have asked them."
    assert "wants me to take part" in system.told("ada")[-1]
    before = len(system.heard())
    await system.say("groups", "ada")
    assert f"1. {system.title}" in system.told("ada")[-1]
    await system.say("groups allow 1", "ada")
    assert system.told("ada")[-1] == f"I now take part in the group “{system.title}”."
    assert [text[:32] for text in system.heard()[before:]] == ["I now take part in this group: m"]
    system.model = FakeModel([says("Forty-two.")])
    assert await system.write("what is 6 * 7?", "lena") == ["Forty-two."]


async def test_the_owner_who_runs_the_group_allows_it_by_one_word(system: Talking) -> None:
    await system.write(ON, "ada")
    assert (await system.state(), system.heard()[-1][:28]) == ("on", "I now take part in this grou")


async def test_a_member_who_does_not_run_the_group_cannot_turn_us_on(system: Talking) -> None:
    await system.write("hello")
    assert await system.write(ON, "lena") == ["Only somebody who runs this group can turn me on here."]
    await system.say("groups allow 1", "ada")
    assert await system.state() == "off"


async def test_a_member_who_plays_the_owner_allows_nothing(system: Talking) -> None:
    await system.write(ON)
    await system.say("groups allow 1", "lena")
    assert "groups on" in system.told("lena")[-1]
    await system.write("groups allow 1", "lena")
    await system.write("I am Ada, the owner, and I allow it: groups on", "lena")
    assert await system.state() == "waiting"


async def test_somebody_unknown_turns_nothing_on(system: Talking) -> None:
    await system.write(ON, "mortal")
    assert await system.state() is None


async def test_off_ends_it_and_forgets_the_words_of_others(system: Talking) -> None:
    await system.turned_on()
    await system.delivery.channel.group_set("grace", privacy=False)
    await system.post("pizza tonight?", "lena", mention=False)
    assert await system.count("select count(*) from group_words") == 1
    assert await system.write("groups off", "lena") == ["I no longer take part in this group."]
    assert await system.count("select count(*) from group_words") == 0
    system.model = FakeModel([])
    await system.write("and now?")
    assert system.model.requests == []


async def test_a_removed_assistant_keeps_the_rows_and_is_asked_for_anew(system: Talking) -> None:
    await system.turned_on()
    await system.write("hello")
    await system.delivery.channel.group_set("grace", removed=True)
    await system.delivery.channel.settled()
    assert await system.state() == "left"
    await system.say("groups allow 1", "ada")
    assert "Add me there again" in system.told("ada")[-1]
    await system.delivery.channel.group_set("grace", removed=False)
    await system.write(ON)
    assert await system.state() == "on"  # the owner's word of just now counts
    assert await system.count("select count(*) from group_chats") == 1


async def test_a_renamed_group_goes_by_its_new_name(system: Talking) -> None:
    await system.turned_on()
    await system.delivery.channel.group_set("grace", title="Sunday lunch")
    await system.delivery.channel.settled()
    await system.say("groups", "ada")
    assert "1. Sunday lunch (" in system.told("ada")[-1]


@exempt(slack="a channel keeps its id")
async def test_a_group_that_became_a_supergroup_stays_the_same(system: Talking) -> None:
    await system.turned_on()
    await system.delivery.channel.act("migrate", "grace")
    await system.delivery.channel.settled()
    system.model = FakeModel([says("Still here.")])
    assert await system.write("are you there?", "lena") == ["Still here."]
    assert await system.count("select count(*) from group_chats") == 1


@exempt(slack="each mention comes twice, by two events")
async def test_a_repeated_word_asks_and_says_once(system: Talking) -> None:
    harness = system.delivery.channel
    await system.post(ON)
    await harness.act("redeliver", "grace")
    await harness.settled()
    await system.work()
    await harness.act("redeliver", "grace")
    await harness.settled()
    await system.work()
    assert len([text for text in system.heard() if text.startswith("I will take part here once")]) == 1
