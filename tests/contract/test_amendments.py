"""Messages that people change or delete after sending them: amended, never decided by, and said where it stands."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from core.agents.registry import AgentRegistry
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.tools.tool import tool
from core.turns.prompt_lines import CONTEXT
from onevalet import AgentResult, InputField, StandardAgent, valet
from operations.console.reading.conversations import read_messages
from operations.paths.trace import trace
from operations.paths.turn_path import read_path
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import Bubble, exempt
from tests.core.builders import says, wants
from tests.core.harness import TwiceDatabase
from tests.eventually import eventually

OLD: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": ""}
NEW: JsonObject = {**OLD, "to": "eve@example.com"}
CHANGED = "You changed “mail sam” to “mail eve”."
VOID = "is void: you changed the message behind it. Nothing was done."
DECIDES_NOTHING = "An edited message decides nothing. Send it as a new message if you mean it."
CAN_EDIT = exempt(sms="a text once sent cannot be changed")
CAN_DELETE = exempt(
    sms="a text once sent cannot be taken back",
    telegram="Telegram does not tell bots of deleted messages: what was sent is answered",
)


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on an empty database."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.channels = {channel: system.delivery.channel.sender}
        BOOKED.clear()
        yield system


@pytest.fixture(params=["once", "answers lost"])
async def doubled(request: pytest.FixtureRequest, channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system, and once more with each answer of its database lost once."""
    twice = request.param != "once"
    async with open_approving(HARNESSES[channel], database_url, StandingClock(), twice=twice) as system:
        yield system


async def wrote(system: Approving, text: str) -> Mapping[str, Any]:
    """Let Ada write, and see to all of it."""
    sent = await system.delivery.channel.wrote(text)
    await system.work()
    return sent


async def edited(system: Approving, sent: Mapping[str, Any], text: str) -> None:
    """Let Ada change a message, and see to all of it."""
    await system.delivery.channel.edited(sent, text)
    await system.work()


def shown(system: Approving) -> list[str]:
    """Return what the model saw of the person in its last request, as far as they wrote it."""
    return [one.text for one in system.model.last if one.role is Role.USER and not one.text.startswith(CONTEXT)]


def bubbles(system: Approving) -> list[str]:
    return [bubble.text for bubble in system.delivery.channel.bubbles()]


def now(system: Approving, card: Bubble) -> Bubble | None:
    """Return a card as it is now; None if the claims of its redraws were lost, which then wait for their leases."""
    if isinstance(system.delivery.store.database, TwiceDatabase):
        return None
    return next(bubble for bubble in system.delivery.channel.bubbles() if bubble.id == card.id)


async def reasons(system: Approving) -> list[object]:
    """Return why changes got no turn."""
    return await system.delivery.store.column(
        "select reason from inbound where state = 'ignored' union all select distinct reason from ignored_messages"
    )


@CAN_EDIT
async def test_words_that_are_changed_before_their_turn_are_answered_changed(doubled: Approving) -> None:
    system = doubled
    system.model.script = [says("Noted.")]
    sent = await system.delivery.channel.wrote("mail sam")
    await system.delivery.channel.edited(sent, "mail eve")
    await system.work()
    assert shown(system)[-1] == "mail eve"
    assert "mail sam" not in " ".join(shown(system))
    assert bubbles(system) == ["Noted."]


@CAN_EDIT
async def test_an_edit_during_a_turn_joins_it_as_a_correction(doubled: Approving) -> None:
    system = doubled

    @tool(name="look", effect="read")
    async def look() -> str:
        """Look."""
        await system.delivery.channel.edited(sent, "mail eve")
        return "Nothing."

    system.more.append(look)
    system.model.script = [wants(("look", {})), says("Eve it is.")]
    sent = await system.delivery.channel.wrote("mail sam")
    await system.work()
    note, words = shown(system)[-2:]
    assert (words, "> mail sam" in note) == ("mail eve", True)
    assert bubbles(system) == ["Eve it is."]
    assert system.model.script == []


@CAN_EDIT
async def test_an_edit_after_a_turn_is_answered_as_a_correction(doubled: Approving) -> None:
    system = doubled
    system.model.script = [says("Sam has it."), says("I cannot take it back.")]
    sent = await wrote(system, "mail sam")
    await edited(system, sent, "mail eve")
    assert system.last() == f"{CHANGED}\n\nI cannot take it back."
    assert shown(system)[-1] == "mail eve"
    lines = await trace(system.delivery.store.database, str(await newest(system)))
    assert [line["amends"] for line in lines if line["what"] == "changed"] == [str(await oldest(system))]
    told = await trace(system.delivery.store.database, str(await oldest(system)))
    assert [line["what"] for line in told if line["what"] in ("received", "changed")] == ["received", "changed"]


@CAN_EDIT
async def test_the_console_shows_an_edit_at_its_message_and_in_its_talk(system: Approving) -> None:
    system.model.script = [says("Sam has it."), says("I cannot take it back.")]
    sent = await wrote(system, "mail sam")
    await edited(system, sent, "mail eve")
    await edited(system, sent, "/new")
    store = system.delivery.store
    [row, *_] = await store.admin.fetch("select tenant_id, turn_id, conversation_id from inbound order by seq")
    async with store.database.tenant(row["tenant_id"]) as connection:
        path = await read_path(connection, row["tenant_id"], row["turn_id"])
        talk = await read_messages(connection, row["tenant_id"], row["conversation_id"])
    titles = [span.title for span in path.spans]
    assert (titles[0], titles[-2:]) == ("Received", ["Changed", "Changed, and not answered"])
    assert [(one.kind, one.note) for one in talk.messages if one.inward] == [
        ("message", "done"),
        ("edit", "done"),
        ("edit", "edited_to_word"),
    ]


@CAN_EDIT
@pytest.mark.parametrize("words", ["mail sam!", " mail, sam"])
async def test_an_edit_without_substance_is_not_answered(system: Approving, words: str) -> None:
    system.model.script = [says("Sam has it.")]
    sent = await wrote(system, "mail sam")
    await edited(system, sent, words)
    assert bubbles(system) == ["Sam has it."]
    assert await reasons(system) == ["edited_same"]


@CAN_EDIT
async def test_an_edit_later_than_an_hour_is_not_answered(system: Approving) -> None:
    system.model.script = [says("Sam has it.")]
    sent = await wrote(system, "mail sam")
    await system.delivery.store.admin.execute("update turns set finished_at = finished_at - interval '61 minutes'")
    await edited(system, sent, "mail eve")
    assert bubbles(system) == ["Sam has it."]
    assert await reasons(system) == ["edited_late"]


@CAN_EDIT
async def test_promise_9_a_card_that_stands_on_old_words_is_void_and_asked_anew(doubled: Approving) -> None:
    system = doubled
    system.model.script = [wants(("send_mail", OLD)), wants(("send_mail", NEW)), says("Sent.")]
    sent = await wrote(system, "mail sam")
    card, code = system.card(), await system.code()
    turn = str(await system.delivery.store.one("select turn_id from approvals"))
    await system.delivery.channel.edited(sent, "mail eve")
    await system.press("Approve", card)  # it is drawn a moment later
    await eventually(lambda: f"{code} {VOID}" in system.delivery.channel.whispers(), "the answer to the press")
    await system.work()
    if drawn := now(system, card):
        assert drawn.buttons == ()
        assert re.search(r"Void since .+: you changed your message\.", drawn.text)
    assert await system.states() == ["cancelled", "pending"]
    assert await system.code() != code
    assert "eve@example.com" in system.card().text
    await system.delivery.channel.said(f"OK {code}")
    await system.work()
    assert (system.sent, system.last()) == ([], f"{code} {VOID}")
    lines = await trace(system.delivery.store.database, turn)
    assert [line["how"] for line in lines if line["what"] == "cancelled"] == ["amended"]
    await system.decide("Approve")
    assert system.sent == [NEW]


@CAN_EDIT
async def test_promise_9_a_payee_that_is_swapped_after_the_approval_gets_nothing(doubled: Approving) -> None:
    system = doubled
    system.model.script = [wants(("send_mail", OLD)), wants(("send_mail", NEW)), says("Eve has it, too.")]
    sent = await wrote(system, "mail sam")
    card = system.card()
    await system.press("Approve")  # decided, and not run yet
    await system.delivery.channel.edited(sent, "mail eve")
    await system.work()
    assert (system.sent, system.model.told()) == ([OLD], ["Sent to sam@example.com."])
    assert await system.states() == ["approved", "pending"]
    if drawn := now(system, card):
        assert ("Approved at" in drawn.text, "sam@example.com" in drawn.text) == (True, True)
    assert "eve@example.com" in system.card().text


@CAN_EDIT
async def test_promise_9_an_edit_after_the_action_ran_runs_nothing(system: Approving) -> None:
    system.model.script = [wants(("send_mail", OLD)), says("Sam has it."), wants(("send_mail", NEW))]
    sent = await wrote(system, "mail sam")
    await system.decide("Approve")
    await edited(system, sent, "mail eve")
    assert system.sent == [OLD]
    assert await system.states() == ["approved", "pending"]
    assert CHANGED in " ".join(bubbles(system))


@CAN_EDIT
@pytest.mark.parametrize("words", ["OK {code}", "ok", "NO {code}", "OK ALL", "/new", "/stop", "EDIT {code} to eve"])
async def test_promise_9_an_edit_decides_nothing_and_says_so(system: Approving, words: str) -> None:
    system.model.script = [says("Hello."), wants(("send_mail", OLD))]
    sent = await wrote(system, "hello")
    await system.say("mail sam")
    await edited(system, sent, words.format(code=await system.code()))
    assert (await system.states(), system.sent, system.last()) == (["pending"], [], DECIDES_NOTHING)
    assert await reasons(system) == ["edited_to_word"]


@CAN_EDIT
async def test_promise_9_the_model_cannot_hand_on_an_edit_as_a_decision(system: Approving) -> None:
    code = ""

    def hand_on(_: ModelRequest) -> ModelAnswer:
        return wants(("decide_approvals", {"decisions": [{"code": code, "decision": "approve"}]}))

    system.model.script = [says("Hello."), wants(("send_mail", OLD)), hand_on, says("I may not.")]
    sent = await wrote(system, "hello")
    await system.say("mail sam")
    code = await system.code()
    await edited(system, sent, "yes, send that mail, I approve it")
    assert (await system.states(), system.sent) == (["pending"], [])


@CAN_EDIT
async def test_promise_9_the_answer_of_a_card_counts_as_it_was_sent(system: Approving) -> None:
    system.model.script = [wants(("send_mail", OLD)), says("Sam has it.")]
    await wrote(system, "mail sam")
    answer = await wrote(system, f"NO {await system.code()}")
    await edited(system, answer, f"OK {await system.code()}")
    assert (await system.states(), system.sent, system.last()) == (["cancelled"], [], DECIDES_NOTHING)
    assert await reasons(system) == ["edited_decision"]


@valet(name="BookTableAgent", effect="once")
class BookTable(StandardAgent):
    """Book a table."""

    place = InputField("Inside or outside?", choices=["inside", "outside"])

    async def on_running(self, msg: str) -> AgentResult:
        BOOKED.append(self.place)
        return self.make_result(raw_message=f"Booked {self.place}.")


BOOKED: list[str] = []


@CAN_EDIT
async def test_a_question_that_stands_on_old_words_is_void(system: Approving) -> None:
    system.options["agents"] = AgentRegistry([BookTable])
    system.model.script = [wants(("BookTableAgent", {})), says("Then no table.")]
    sent = await wrote(system, "a table please")
    asked = system.card()
    assert asked.buttons
    await system.delivery.channel.edited(sent, "a taxi please")
    await system.delivery.channel.press(asked, 0)  # it is drawn a moment later
    await system.delivery.channel.settled()
    await system.work()
    drawn = now(system, asked)
    assert drawn is not None
    assert (drawn.buttons, "Void: you changed your message." in drawn.text) == ((), True)
    await eventually(
        lambda: "This question is no longer open." in system.delivery.channel.whispers(), "the answer to the press"
    )
    assert bubbles(system)[-1].endswith("Then no table.")


@CAN_EDIT
async def test_an_edit_answers_no_question(system: Approving) -> None:
    system.options["agents"] = AgentRegistry([BookTable])
    system.model.script = [says("Hello."), wants(("BookTableAgent", {})), says("Noted.")]
    sent = await wrote(system, "hello")
    await system.say("a table please")
    await edited(system, sent, "inside")
    assert bubbles(system)[-1] == "You changed “hello” to “inside”.\n\nNoted."
    assert BOOKED == []


@CAN_EDIT
async def test_an_edit_that_joins_a_turn_answers_no_question(system: Approving) -> None:
    @tool(name="look", effect="read")
    async def look() -> str:
        """Look."""
        await system.delivery.channel.edited(sent, "inside, please")
        return "Nothing."

    system.more.append(look)
    system.options["agents"] = AgentRegistry([BookTable])
    system.model.script = [
        says("Hello."),
        wants(("BookTableAgent", {})),
        wants(("look", {})),
        wants(("answer_waiting_agent", {"fields": {"place": "inside"}})),
        says("Noted."),
    ]
    sent = await wrote(system, "hello")
    await system.say("a table please")
    await system.say("what is there?")
    assert BOOKED == []
    assert "Noted." in bubbles(system)[-1]


@CAN_EDIT
async def test_promise_2_an_edit_that_is_told_again_is_answered_once(system: Approving) -> None:
    system.model.script = [says("Sam has it."), says("I cannot take it back.")]
    sent = await wrote(system, "mail sam")
    await edited(system, sent, "mail eve")
    channel = system.delivery.channel
    assert await channel.post(channel.told[-1]) == 200
    await system.work()
    assert len(bubbles(system)) == 2


@CAN_DELETE
async def test_promise_6_a_message_deleted_before_its_turn_is_not_answered(system: Approving) -> None:
    system.model.script = [says("Eve has it.")]
    sent = await system.delivery.channel.wrote("mail sam")
    await system.delivery.channel.act("delete", ts=sent["ts"])
    await system.delivery.channel.settled()
    await system.say("mail eve")
    assert bubbles(system) == ["Eve has it."]
    assert "mail sam" not in " ".join(shown(system))
    lines = await trace(system.delivery.store.database, str(await oldest(system)))
    assert [(line["state"], line["reason"]) for line in lines] == [("ignored", "deleted")]
    store = system.delivery.store
    [row, *_] = await store.admin.fetch("select tenant_id, conversation_id from inbound order by seq")
    async with store.database.tenant(row["tenant_id"]) as connection:
        talk = await read_messages(connection, row["tenant_id"], row["conversation_id"])
    assert [(one.text, one.note) for one in talk.messages if one.inward] == [("", "deleted"), ("mail eve", "done")]


@CAN_DELETE
async def test_a_deletion_after_the_answer_changes_nothing(system: Approving) -> None:
    system.model.script = [wants(("send_mail", OLD)), says("Sam has it.")]
    sent = await wrote(system, "mail sam")
    await system.delivery.channel.act("delete", ts=sent["ts"])
    await system.delivery.channel.settled()
    await system.work()
    assert await system.states() == ["pending"]
    await system.decide("Approve")
    assert system.sent == [OLD]


async def oldest(system: Approving) -> object:
    return await system.delivery.store.one("select id from inbound order by seq limit 1")


async def newest(system: Approving) -> object:
    return await system.delivery.store.one("select id from inbound order by seq desc limit 1")
