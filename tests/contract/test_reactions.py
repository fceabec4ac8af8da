"""Reactions on every channel: a thumb decides a card as a press does; on anything else it decides nothing."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.json_types import JsonObject
from operations.paths.trace import trace
from operations.paths.turn_path import read_path
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import PEOPLE
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import Bubble, ChannelHarness, Request, exempt
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on an empty database."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        yield system


async def asked(system: Approving) -> Bubble:
    """Let Ada ask for a mail; return its card."""
    system.model.script = [wants(("send_mail", MAIL)), says("I sent it.")]
    await system.say("mail sam about lunch")
    return system.card()


async def react(system: Approving, bubble: Bubble, emoji: str, *, taken_back: bool = False) -> list[str]:
    """Let Ada react, and see to it; return what she reads then."""
    before = len(system.delivery.channel.bubbles())
    await system.delivery.channel.reacted(bubble, emoji, taken_back=taken_back)
    await system.work()
    return [bubble.text for bubble in system.delivery.channel.bubbles()[before:]]


async def reasons(system: Approving) -> list[object]:
    """Return why reactions got no turn, in order."""
    return await system.delivery.store.column(
        "select reason from inbound where reason like 'reaction%' order by received_at, seq"
    )


async def test_promise_9_a_thumb_up_on_a_card_runs_it_once(system: Approving) -> None:
    card = await asked(system)
    read = await react(system, card, "👍")
    assert (system.sent, await system.states(), read[-1]) == ([MAIL], ["approved"], "I sent it.")
    if system.delivery.channel.has_buttons:
        (drawn,) = (bubble for bubble in system.delivery.channel.bubbles() if bubble.id == card.id)
        assert ("Approved at" in drawn.text, drawn.buttons, len(read)) == (True, (), 1)
    else:
        assert read[0].startswith(f"Approved {await system.code()}:")
    assert await reasons(system) == ["reaction: approve"]
    (audited,) = await system.delivery.store.column("select how from approval_audit where what = 'approved'")
    assert audited == "reaction"


async def test_a_thumb_down_on_a_card_cancels_it(system: Approving) -> None:
    card = await asked(system)
    await react(system, card, "👎")
    assert (system.sent, await system.states()) == ([], ["cancelled"])
    assert system.model.told() == ["User cancelled this action."]


async def test_promise_9_high_risk_is_never_decided_by_a_thumb_and_is_told_once(system: Approving) -> None:
    system.risk = "high"
    card = await asked(system)
    (read,) = await react(system, card, "👍")
    assert "is high risk, so a reaction does not decide it" in read
    assert f"OK {await system.code()}" in read
    assert await react(system, card, "👍", taken_back=True) == []
    assert await react(system, card, "👍") == []
    assert (system.sent, await system.states()) == ([], ["pending"])
    assert await reasons(system) == ["reaction: needs_press", "reaction: taken_back", "reaction: needs_press"]


async def test_a_reaction_that_is_taken_back_changes_nothing_and_says_so_once(system: Approving) -> None:
    card = await asked(system)
    await react(system, card, "👍")
    (read,) = await react(system, card, "👍", taken_back=True)
    assert read.startswith(f"Taking your reaction back changes nothing: {await system.code()} was decided by you")
    again = await react(system, card, "👍")
    assert "was already approved" in again[0]
    assert await react(system, card, "👍", taken_back=True) == []
    assert (system.sent, await system.states()) == ([MAIL], ["approved"])


async def test_another_emoji_on_a_card_decides_nothing_and_is_not_answered(system: Approving) -> None:
    card = await asked(system)
    assert await react(system, card, "❤") == []
    assert (await system.states(), await reasons(system)) == (["pending"], ["reaction: other"])


async def test_a_thumb_on_an_expired_card_is_told_and_runs_nothing(system: Approving) -> None:
    card = await asked(system)
    system.clock.at += timedelta(days=30)
    read = await react(system, card, "👍")
    assert "expired" in " ".join(read)
    assert system.sent == []


async def test_a_decision_by_a_reaction_survives_lost_answers(channel: str, database_url: str) -> None:
    async with open_approving(HARNESSES[channel], database_url, StandingClock(), twice=True) as system:
        card = await asked(system)
        await react(system, card, "👍")
        assert (system.sent, await system.states()) == ([MAIL], ["approved"])
        assert await reasons(system) == ["reaction: approve"]


async def test_promise_2_a_reaction_that_is_delivered_again_adds_nothing(system: Approving) -> None:
    card = await asked(system)
    channel = system.delivery.channel
    before = len(channel.told)
    await react(system, card, "👍")
    (told,) = channel.told[before:]
    assert await channel.post(channel.signed(told)) == 200
    await system.work()
    assert (system.sent, await reasons(system)) == ([MAIL], ["reaction: approve"])


async def test_promise_12_a_reaction_without_proof_is_refused(system: Approving) -> None:
    card = await asked(system)
    channel = system.delivery.channel
    await channel.react(card, "❤")
    await channel.settled()
    forged = channel.told[-1].without(channel.proof)
    assert 400 <= await channel.post(forged) < 500
    assert await reasons(system) == ["reaction: other"]
    assert await system.states() == ["pending"]


async def test_a_bare_word_decides_a_card_after_a_reaction_to_something_else(system: Approving) -> None:
    system.model.script = [says("Hello.")]
    await system.say("hello")
    hello = system.delivery.channel.bubbles()[-1]
    await asked(system)
    assert await react(system, hello, "👍") == []
    await system.say("ok")
    assert (system.sent, await reasons(system)) == ([MAIL], ["reaction: kept"])


async def test_trace_and_the_turns_page_say_what_a_reaction_decided(system: Approving) -> None:
    card = await asked(system)
    await react(system, card, "👍")
    store = system.delivery.store
    [row] = await store.admin.fetch("select tenant_id, turn_id, code from approvals")
    decided = [line for line in await trace(store.database, row["turn_id"]) if line["what"] == "approved"]
    assert [(line["how"], line["channel"]) for line in decided] == [("reaction", system.delivery.channel.name)]
    reaction = await store.one("select id from inbound where reason like 'reaction%'")
    told = [line for line in await trace(store.database, str(reaction)) if line["what"] == "received"]
    assert "reaction: approve" in [line["reason"] for line in told if line["id"] == reaction]
    async with store.database.tenant(row["tenant_id"]) as connection:
        path = await read_path(connection, row["tenant_id"], row["turn_id"])
    assert [span.note for span in path.spans if span.title == f"Approved: {row['code']}"] == ["by reaction"]


@exempt(sms="a text is its sender's own: the next file has what others' texts do")
async def test_promise_11_somebody_elses_reaction_in_that_chat_decides_nothing(system: Approving) -> None:
    system.model.script = [says("Hello Grace.")]
    await system.say("hello", "grace")
    card = await asked(system)
    channel = system.delivery.channel
    for person in ("grace", "mallory"):
        await channel.reacted(card, "❤", taken_back=person == "mallory")
        assert await channel.post(channel.signed(by_another(channel, person))) == 200
        await system.work()
    assert (system.sent, await system.states()) == ([], ["pending"])
    assert await system.delivery.store.db.ignored_messages.column("reason") in (["reaction"] * 2, ["reaction"] * 4)
    assert await system.delivery.store.one("select count(*) from conversations") == 2, "none is opened in Ada's chat"


@exempt(sms="a text is its sender's own: its number is the only place there is")
@pytest.mark.parametrize("forged", ["another team", "another chat", "a group", "a name"])
async def test_promise_9_a_thumb_from_elsewhere_or_a_name_decides_nothing(system: Approving, forged: str) -> None:
    system.model.script = [says("Hello Grace.")]
    await system.say("hello", "grace")
    card = await asked(system)
    channel = system.delivery.channel
    await channel.reacted(card, "❤")
    status = await channel.post(channel.signed(from_elsewhere(channel, forged, await system.code())))
    await system.work()
    assert status < 500
    assert (system.sent, await system.states()) == ([], ["pending"])
    assert "reaction: approve" not in await reasons(system)
    await react(system, card, "👍")
    assert system.sent == [MAIL], "the true one still counts"


def from_elsewhere(channel: ChannelHarness, forged: str, code: str) -> Request:
    """Return Ada's last reaction as a thumb up in another place, or as an emoji whose name says so."""
    body = json.loads(channel.told[-1].body)
    graces = channel.address("grace").peer
    if channel.name == "telegram":
        up: list[dict[str, Any]] = [{"type": "emoji", "emoji": "👍"}]
        changed = body["message_reaction"] | {"old_reaction": [], "new_reaction": up}
        if forged == "another team":  # a channel speaks in the person's place
            changed["actor_chat"] = {"id": -100777, "type": "channel", "title": f"OK {code}"}
            del changed["user"]
        elif forged == "another chat":
            changed["chat"] = changed["chat"] | {"id": int(graces)}
        elif forged == "a group":
            changed["chat"] = {"id": -100778, "type": "supergroup", "title": f"OK {code}"}
        else:
            changed["new_reaction"] = [{"type": "custom_emoji", "custom_emoji_id": f"OK {code}"}]
            changed["user"] = changed["user"] | {"first_name": f"OK {code}", "username": "approve_all"}
        body |= {"update_id": body["update_id"] + 1000, "message_reaction": changed}
    else:
        event = body["event"] | {"reaction": "+1", "event_ts": "1894650000.000200"}
        if forged == "another team":
            body |= {"team_id": "T0FOREIGN1"}
        elif forged in ("another chat", "a group"):
            event["item"] = event["item"] | {"channel": graces if forged == "another chat" else "C0GENERAL1"}
        else:
            event["reaction"] = f"ok-{code.lower()}"
        body |= {"event_id": "Ev0ELSEWH01", "event": event}
    return replace(channel.told[-1], body=json.dumps(body).encode())


def by_another(channel: ChannelHarness, person: str) -> Request:
    """Return the last reaction as a thumb up of somebody else's, with a number of its own."""
    body = json.loads(channel.told[-1].body)
    if channel.name == "telegram":
        number = next((one.telegram_user for one in PEOPLE if one.key == person), 799)
        thumb: dict[str, Any] = {"old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "👍"}]}
        changed = body["message_reaction"] | thumb | {"user": {"id": number, "is_bot": False, "first_name": "X"}}
        body |= {"update_id": body["update_id"] + 1000, "message_reaction": changed}
    else:
        user = next((one.slack_user for one in PEOPLE if one.key == person), "U0MALLORY1")
        thumb = {"type": "reaction_added", "user": user, "reaction": "+1", "event_ts": "1894650000.000100"}
        body |= {"event_id": f"Ev0{person.upper()}01", "event": body["event"] | thumb}
    return replace(channel.told[-1], body=json.dumps(body).encode())
