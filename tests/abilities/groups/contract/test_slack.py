"""What only Slack has: who invited us, threads in a channel, and group conversations."""

import json
from typing import Any, cast
from uuid import UUID

import pytest

from core.json_types import Json
from tests.abilities.groups.talking import ON, Talking
from tests.contract.harness import Request, exempt
from tests.core.builders import FakeModel, says, wants

ASK: tuple[str, Json] = ("ask_in_own_chat", {"name": "Lena zqcanary"})


@exempt(telegram="an administrator decides there")
async def test_who_invited_us_may_turn_us_on_and_only_who_did_so_last(system: Talking) -> None:
    await system.write("hello")  # Grace created the channel
    for inviter, other in (("lena", "ada"), ("ada", "lena")):
        await system.delivery.channel.group_set(inviter, removed=False)
        await system.delivery.store.db.tenants.change({"role": "member"}, tenant_id=system.tenants["ada"])
        assert await system.write(ON, other) == ["Only somebody who runs this group can turn me on here."]
        await system.write(ON, inviter)
        assert await system.state() == "waiting"


@exempt(telegram="a message there is in no thread")
async def test_a_mention_in_a_thread_is_answered_in_that_thread(system: Talking) -> None:
    await system.turned_on()
    root = (await system.post("lunch on Sunday?", "ada", mention=False))["ts"]
    system.model = FakeModel([says("At noon."), wants(ASK), says("Noted.")])
    for words, told in (("when?", "At noon."), ("put it into my calendar", "I have asked Lena zqcanary.")):
        assert await system.write(words, "lena", reply_to=root) == [told]
    ours = [one for one in _shown(system, "general") if one["direction"] == "out"]
    assert [one["thread_ts"] for one in ours[-2:]] == [root, root]
    system.model = FakeModel([says("Yes.")])
    await system.write("and here?", "lena")
    assert _shown(system, "general")[-1]["thread_ts"] == ""


@exempt(telegram="a group there is of one kind")
async def test_a_group_conversation_is_a_group_of_its_own(system: Talking) -> None:
    await system.turned_on()
    channels = len(system.heard())
    assert (await _write(system, ON, "lena"))[-1].startswith("I will take part here once the owner")  # who began it may
    await system.say("groups", "ada")
    assert "2. ada, grace, mortal, lena" in system.told("ada")[-1]
    await system.say("groups allow 2", "ada")
    system.model = FakeModel([says("Forty-two.")])
    assert (await _write(system, "what is 6 * 7?", "grace"))[-1] == "Forty-two."
    system.model = FakeModel([])
    await _write(system, "just chatting", "grace", mention=False)
    assert (system.model.requests, len(system.heard())) == ([], channels)


async def _write(system: Talking, text: str, person: str, *, mention: bool = True) -> list[str]:
    harness = system.delivery.channel
    await harness.act("channel_say", person, text=text, mention=mention, group_dm=True)
    await harness.settled()
    await system.work()
    return [one["text"] for one in _shown(system, "group_dm") if one["direction"] == "out"]


def _shown(system: Talking, place: str) -> list[dict[str, Any]]:
    state = cast(dict[str, Any], system.delivery.channel.simulator.providers["slack"].state())
    return cast(list[dict[str, Any]], state[place])


@exempt(telegram="a mention comes as a single update")
@pytest.mark.parametrize("kinds", [("message", "app_mention"), ("app_mention", "message")], ids=" first, ".join)
async def test_promise_2_both_events_of_a_mention_make_one_turn(system: Talking, kinds: tuple[str, str]) -> None:
    await system.turned_on()
    harness = system.delivery.channel
    at = len(harness.told)
    system.model = FakeModel([says("Hello."), says("Forty-two.")])
    await system.write("hello")
    events = {json.loads(one.body)["event"]["type"]: one for one in harness.told[at:] if b'"event"' in one.body}
    before = len(system.heard())
    for kind in kinds:
        body = json.loads(events[kind].body)
        body["event_id"] += "AGAIN"
        body["event"] |= {"ts": "1999999999.000100", "event_ts": "1999999999.000100", "client_msg_id": str(UUID(int=7))}
        again = Request(events[kind].path, events[kind].headers, json.dumps(body).encode())
        assert await harness.post(harness.signed(again)) == 200
        await system.work()
        assert system.heard()[before:] == ["Forty-two."]
    assert len(system.model.requests) == 2
    assert await system.count("select count(*) from group_words") == 0
