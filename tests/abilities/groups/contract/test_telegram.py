"""What only Telegram has: topics of a forum, and administrators who write in the group's name."""

from typing import Any, cast

from abilities.groups import sentences
from core.json_types import Json
from tests.abilities.groups.talking import ON, Talking
from tests.contract.harness import exempt
from tests.core.builders import FakeModel, says, wants

ASK: tuple[str, Json] = ("ask_in_own_chat", {"name": "Grace zqcanary"})


@exempt(slack="its threads are in test_slack.py")
async def test_a_topic_is_answered_there_and_has_its_own_context(system: Talking) -> None:
    food, trips = await _forum(system)
    await _write(system, ON, food)
    await system.say("groups allow 1", "ada")
    assert [(one["thread"], one["text"][:30]) for one in _ours(system)[-2:]] == [
        (food, "I will take part here once the"),
        (food, "I now take part in this group:"),
    ]
    await system.delivery.channel.group_set("grace", privacy=False)
    await _write(system, "pizza tonight?", food, mention=False)
    await _write(system, "to Rome?", trips, mention=False)
    system.model = FakeModel([says("Pizza."), says("Rome."), says("Nothing.")])
    for topic, answer, context in ((food, "Pizza.", "pizza"), (trips, "Rome.", "Rome?"), (0, "Nothing.", "")):
        await _write(system, "what do they want?", topic)
        assert (_ours(system)[-1]["text"], _ours(system)[-1]["thread"]) == (answer, topic or None)
        shown = "\n".join(message.text for message in system.model.requests[-1].messages)
        for words in ("pizza", "Rome?"):
            assert (words in shown) is (words == context), (topic, words)


@exempt(slack="its threads are in test_slack.py")
async def test_what_goes_through_a_members_own_chat_comes_back_to_the_topic(system: Talking) -> None:
    await system.turned_on()
    _, trips = await _forum(system)
    words: Json = {"group": system.title, "text": "Grace's train is at nine."}
    system.model = FakeModel([wants(ASK), wants(("say_in_group", words)), says("Done.")])
    await _write(system, "when is my train? Say it here", trips)
    assert (_ours(system)[-1]["text"], _ours(system)[-1]["thread"]) == ("I have asked Grace zqcanary.", trips)
    await system.press("Approve", system.delivery.channel.bubbles("grace")[-1], "grace")
    await system.work()
    assert (_ours(system)[-1]["text"], _ours(system)[-1]["thread"]) == ("Grace's train is at nine.", trips)
    await _write(system, "hello?", trips, person="mortal")
    assert (_ours(system)[-1]["text"], _ours(system)[-1]["thread"]) == (sentences.UNKNOWN, trips)
    await _write(system, "groups off", trips, person="lena")
    assert (_ours(system)[-1]["text"], _ours(system)[-1]["thread"]) == (sentences.OFF, trips)


@exempt(slack="everybody there writes under their own name")
async def test_an_anonymous_administrator_is_never_a_member(system: Talking) -> None:
    await system.write("hello")  # which tells of direct chats, once
    before = len(_ours(system))
    await _write(system, ON, 0, anonymous=True)
    assert (await system.state(), len(_ours(system))) == (None, before)
    await system.turned_on()
    before = len(_ours(system))
    system.model = FakeModel([])
    for words in ("what is on my list?", "groups off", "again"):
        await _write(system, words, 0, anonymous=True)
    assert [one["text"] for one in _ours(system)[before:]] == [sentences.NOBODY]
    assert await system.state() == "on"
    kept = await system.delivery.store.column("select text from inbound")
    assert not any("on my list" in str(text) for text in kept)


@exempt(slack="everybody there writes under their own name")
async def test_the_words_of_an_anonymous_administrator_are_context_alone(system: Talking) -> None:
    await system.turned_on()
    await system.delivery.channel.group_set("grace", privacy=False)
    await _write(system, "lunch is at noon", 0, mention=False, anonymous=True)
    system.model = FakeModel([wants(("ask_in_own_chat", {"name": "somebody"})), says("At noon.")])
    assert await system.write("when is lunch?") == ["At noon."]
    assert "> somebody: lunch is at noon" in "\n".join(one.text for one in system.model.requests[0].messages)
    assert "Nobody of that name" in system.model.requests[1].messages[-1].text


async def _forum(system: Talking) -> tuple[int, int]:
    """Make a supergroup of the group, with two topics, of which the assistant could have begun the second."""
    harness = system.delivery.channel
    if not system.delivery.channel.group_ids():
        await system.write("hello")
    await harness.act("migrate", "grace")
    topics = [await harness.act("group_topic", "grace", name=name) for name in ("Food", "Trips")]
    await harness.settled()
    return topics[0]["message_id"], topics[1]["message_id"]


async def _write(
    system: Talking, text: str, topic: int, *, person: str = "grace", mention: bool = True, anonymous: bool = False
) -> None:
    harness = system.delivery.channel
    await harness.act("group_say", person, text=text, topic=topic, mention=mention, anonymous=anonymous)
    await harness.settled()
    await system.work()


def _ours(system: Talking) -> list[dict[str, Any]]:
    state = cast(dict[str, Any], system.delivery.channel.simulator.providers["telegram"].state())
    return [one for one in state["group"]["messages"] if one["direction"] == "out"]
