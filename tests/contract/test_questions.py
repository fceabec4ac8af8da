"""Questions with choices over every channel: asked once, answered once, by their person, and drawn when over."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import NoReturn

import pytest

from core.agents.pending_answers import ANSWER, HOLD
from core.agents.registry import AgentRegistry
from core.journal.types import Lease
from core.json_types import JsonObject
from core.messaging.messages import Press
from core.messaging.outbox import ClaimAfter
from core.tools.tool import tool
from core.turns.store import TurnStore
from core.turns.stored import TurnEnd
from onevalet import AgentResult, InputField, Question, StandardAgent, ToolExecutionContext, valet
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import PEOPLE
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import Bubble, exempt
from tests.core.builders import says, wants
from tests.patience import PATIENCE

BOOKED: list[JsonObject] = []
NO_BUTTONS = exempt(sms="it has no buttons", terminal="it has no buttons")


@valet(name="BookTableAgent", effect="once")
class BookTable(StandardAgent):
    """Book a table."""

    place = InputField("Inside or outside?", choices=["inside", "outside"])
    size = InputField("How large a table?", choices=["small", "medium", "*large*"], skip=True, default="medium")

    async def on_running(self, msg: str) -> AgentResult:
        BOOKED.append({"place": self.place, "size": self.size})
        return self.make_result(raw_message=f"Booked {self.place}, {self.size}.")


@tool(name="order_pizza", effect="once")
async def order_pizza(context: ToolExecutionContext) -> str:
    """Order a pizza."""
    [kind, sauce] = await context.ask(
        Question("Which pizza?", ("Margherita", "Funghi"), free=True),
        Question("Extra sauce?", ("yes", "no"), skip=True),
    )
    ORDERED.append((kind, sauce))
    return f"Ordered {kind}, sauce: {sauce}."


ORDERED: list[tuple[str | None, str | None]] = []


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on an empty database."""
    BOOKED.clear()
    ORDERED.clear()
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.options = {"agents": AgentRegistry([BookTable])}
        system.more = [order_pizza]
        system.channels = {channel: system.delivery.channel.sender}
        yield system


def cards(system: Approving) -> list[Bubble]:
    """Return the messages that have buttons now, the oldest first."""
    return [bubble for bubble in system.delivery.channel.bubbles() if bubble.buttons]


def labels(card: Bubble) -> list[str]:
    return [label for label, _ in card.buttons]


def seen(system: Approving, text: str) -> Sequence[Bubble]:
    return [bubble for bubble in system.delivery.channel.bubbles() if text in bubble.text]


async def outcomes(system: Approving) -> list[object]:
    """Return what came of each press, in order."""
    return await system.delivery.store.column("select outcome from inbound where outcome is not null order by seq")


async def pressed(system: Approving, token: str, person: str = "ada") -> str | None:
    """Let a person's client send a token of its own making; return what it is shown."""
    PRESSES.append(token)
    channel, who = system.delivery.channel, next(one for one in PEOPLE if one.key == person)
    sender = who.slack_user if channel.name == "slack" else str(who.telegram_user)
    press = Press(channel.address("ada"), sender, (f"press:{len(PRESSES)}",), token)
    return (await channel.sink.accept(press)).said


PRESSES: list[str] = []
GONE, NOT_YOURS = "This button no longer works.", "This is not yours to decide."


async def choose(system: Approving, *labels_or_keys: tuple[str, str]) -> None:
    """Answer by pressing, one after the other, or by one message with what stands before each choice."""
    if system.delivery.channel.has_buttons:
        for label, _ in labels_or_keys:
            await system.press(label, next(card for card in cards(system) if label in labels(card)))
            await system.work()
    else:
        await system.say(" ".join(key for _, key in labels_or_keys))


@also_by_mail
async def test_fields_with_choices_are_asked_at_once_and_chosen(system: Approving) -> None:
    system.model.script = [wants(("BookTableAgent", {})), says("It is booked.")]
    await system.say("book a table")
    if system.delivery.channel.has_buttons:
        first, second = cards(system)
        assert (labels(first), labels(second)) == (["inside", "outside"], ["small", "medium", "*large*", "Skip"])
        assert (first.text.strip(), second.text.strip()) == ("Inside or outside?", "How large a table?")
    else:
        for piece in (
            "Inside or outside?",
            "1: inside",
            "2: outside",
            "3: small",
            "5: *large*",
            "6: (skip this)",
            "1 3",
        ):
            assert piece in system.last()
    await choose(system, ("*large*", "5"), ("outside", "2"))
    assert BOOKED == [{"place": "outside", "size": "*large*"}]
    assert system.last() == "It is booked."
    assert not cards(system)
    assert len(system.model.script) == 0


@also_by_mail
async def test_a_question_that_is_skipped_leaves_the_default(system: Approving) -> None:
    system.model.script = [wants(("BookTableAgent", {"place": "inside"})), says("It is booked.")]
    await system.say("book a table inside")
    await choose(system, ("Skip", "skip"))
    assert BOOKED == [{"place": "inside", "size": "medium"}]


@also_by_mail
async def test_a_tool_asks_in_its_middle_and_goes_on_with_the_answers(system: Approving) -> None:
    system.model.script = [wants(("order_pizza", {})), says("It is on its way.")]
    await system.say("order a pizza")
    assert ORDERED == []
    await choose(system, ("Funghi", "b"), ("Skip", "e"))
    assert ORDERED == [("Funghi", None)]
    assert system.model.told() == ["Ordered Funghi, sauce: None."]
    assert system.last() == "It is on its way."


@also_by_mail
@pytest.mark.parametrize("said", ["Outside, SMALL", "outside; small.", "2, small"])
async def test_the_words_of_choices_answer_without_the_model(system: Approving, said: str) -> None:
    system.model.script = [wants(("BookTableAgent", {})), says("It is booked.")]
    await system.say("book a table")
    await system.say(said)
    assert BOOKED == [{"place": "outside", "size": "small"}]
    assert not cards(system)
    if system.delivery.channel.has_buttons:
        assert seen(system, "You chose: outside")


@also_by_mail
async def test_part_of_an_answer_in_words_is_kept_and_the_rest_asked_again(system: Approving) -> None:
    system.model.script = [wants(("BookTableAgent", {})), says("It is booked.")]
    await system.say("book a table")
    await system.say("outside")
    assert BOOKED == []
    assert "How large a table?" in system.last()
    assert "Inside" not in system.last()
    await system.say("medium")
    assert BOOKED == [{"place": "outside", "size": "medium"}]


@also_by_mail
async def test_what_fits_no_choice_is_read_by_the_model_which_may_hand_it_on(system: Approving) -> None:
    system.model.script = [
        wants(("BookTableAgent", {"place": "inside"})),
        wants((ANSWER, {"fields": {"size": "the big one"}})),
        says("We have small, medium and large ones."),
        wants((ANSWER, {"fields": {"size": None}})),
        says("It is booked."),
    ]
    await system.say("book a table inside")
    await system.say("the big one please")
    assert BOOKED == []
    assert system.last().startswith("We have small, medium and large ones.")
    await system.say("whatever you like")
    assert BOOKED == [{"place": "inside", "size": "medium"}]


@also_by_mail
async def test_own_words_answer_where_they_may(system: Approving) -> None:
    system.model.script = [
        wants(("order_pizza", {})),
        says("It is on its way."),
    ]
    await system.say("order a pizza")
    asked = await system.delivery.store.column("select jsonb_array_elements_text(context -> 'asked') from pool_entries")
    kind, sauce = map(str, asked)
    system.model.script.insert(0, wants((ANSWER, {"fields": {kind: "Hawaii", sauce: "no"}})))
    await system.say("hawaii, and no sauce")
    assert ORDERED == [("Hawaii", "no")]


@NO_BUTTONS
async def test_the_first_answer_wins_and_later_presses_are_told_so(system: Approving) -> None:
    system.model.script = [wants(("BookTableAgent", {"place": "inside"})), says("It is booked.")]
    await system.say("book a table inside")
    [card] = cards(system)
    for label in ("small", "medium", "Skip"):
        await system.press(label, card)
    await system.work()
    assert await outcomes(system) == ["chosen", "already_answered", "already_answered"]
    assert [bubble.text.split("\n")[-1] for bubble in seen(system, "How large")] == ["You chose: small"]
    assert BOOKED == [{"place": "inside", "size": "small"}]


@NO_BUTTONS
async def test_a_press_after_the_typed_answer_has_no_effect(system: Approving) -> None:
    system.model.script = [wants(("BookTableAgent", {"place": "inside"})), says("It is booked.")]
    await system.say("book a table inside")
    [card] = cards(system)
    await system.delivery.channel.said("medium", "ada")
    await system.turn()
    await system.press("small", card)
    await system.work()
    assert BOOKED == [{"place": "inside", "size": "medium"}]
    assert await outcomes(system) == ["already_answered"]
    assert seen(system, "You chose: medium")


@NO_BUTTONS
async def test_promise_11_another_persons_press_and_a_forged_one_do_nothing(system: Approving) -> None:
    system.model.script = [wants(("BookTableAgent", {"place": "inside"})), says("Hello."), says("It is booked.")]
    await system.say("book a table inside")
    token = str(await system.delivery.store.db.questions.one("token"))
    await system.say("hi", "grace")
    told = [
        await pressed(system, f"pick0.{token}", "grace"),
        await pressed(system, f"pick0.{token}", "lena"),
        *[await pressed(system, forged) for forged in (f"pick0.{'A' * 22}", f"pick9.{token}", f"pick0.{token[:-1]}")],
    ]
    await system.work()
    assert told[:4] == [NOT_YOURS, NOT_YOURS, GONE, GONE]
    assert BOOKED == []
    assert await system.delivery.store.db.questions.column("state") == ["open"]
    await system.press("small")
    await system.work()
    assert BOOKED == [{"place": "inside", "size": "small"}]


@NO_BUTTONS
@pytest.mark.parametrize("ends", ["new", "expired", "dropped"])
async def test_what_is_no_longer_asked_loses_its_buttons_and_takes_no_answer(system: Approving, ends: str) -> None:
    system.model.script = [
        wants(("BookTableAgent", {"place": "inside"})),
        wants((HOLD, {"change": "drop"})),
        says("OK."),
    ]
    await system.say("book a table inside")
    [card] = cards(system)
    if ends == "new":
        system.model.script = []
        await system.delivery.store.admin.execute(
            "select set_config('onevalet.tenant', tenant_id, false), close_questions(tenant_id, id) from conversations"
        )
    elif ends == "expired":
        system.model.script = [says("Too late.")]
        system.clock.move(timedelta(hours=25))
        await system.delivery.store.database.rows("select * from expire_pool($1,$2)", system.clock.now(), 10)
    else:
        await system.delivery.channel.said("forget about it", "ada")
        await system.turn()
    await system.press("small", card)
    await system.work()
    assert BOOKED == []
    assert not cards(system)
    assert seen(system, "This question is no longer open.")
    assert await outcomes(system) == ["closed"]


async def test_promise_5_a_turn_that_is_entered_again_asks_nothing_twice(system: Approving) -> None:
    """Between all steps another process goes on: each `work` builds its orchestrator and runner anew."""
    system.model.script = [wants(("order_pizza", {})), says("It is on its way.")]
    await system.say("order a pizza")
    asked = len(system.delivery.channel.bubbles())
    await system.delivery.store.db.turns.change({"ready": True}, state="waiting")
    await system.delivery.store.admin.execute("update lanes set pending = true, pending_since = now()")
    await system.work()
    assert len(system.delivery.channel.bubbles()) == asked
    await choose(system, ("Margherita", "a"), ("no", "d"))
    assert ORDERED == [("Margherita", "no")]
    assert await system.delivery.store.db.pool_entries.count() == 0


@tool(name="paint", effect="idempotent")
async def paint(context: ToolExecutionContext) -> str:
    """Paint the wall."""
    [colour] = await context.ask(Question("Which colour?", ("red", "green")))
    PAINTED.append((colour, context.idempotency_key))
    return f"Painted {colour}."


PAINTED: list[tuple[str | None, str]] = []


async def frozen_at_its_end(
    system: Approving, monkeypatch: pytest.MonkeyPatch, *, committed: bool
) -> asyncio.Task[bool]:
    """Run a turn in a process that never comes back from the commit of its end, before or after that; end its lease."""
    at, finish = asyncio.Event(), TurnStore.finish

    async def freeze(
        store: TurnStore,
        lease: Lease,
        turn_id: str,
        end: TurnEnd,
        steps: Sequence[JsonObject],
        claim: ClaimAfter | None,
    ) -> NoReturn:
        if committed:
            await finish(store, lease, turn_id, end, steps, claim)
        at.set()
        await asyncio.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(TurnStore, "finish", freeze)
        victim = asyncio.create_task(system.turn())
        await asyncio.wait_for(at.wait(), PATIENCE)
    # The dead hand nothing back: their leases end.
    await system.delivery.store.db.lanes.change({"owner": None, "lease_until": None})
    return victim


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("answered", [False, True])
async def test_promise_5_a_process_dies_at_the_end_of_a_turn(
    system: Approving, monkeypatch: pytest.MonkeyPatch, *, committed: bool, answered: bool
) -> None:
    """Of the one that asks, takes the answer or goes on with it: asked once, and painted with one key."""
    PAINTED.clear()
    system.more = [paint]
    system.model.script = [wants(("paint", {})), says("It is painted.")]
    if answered:
        await system.say("paint the wall")
        if system.delivery.channel.has_buttons:
            await system.press("green")
        else:
            await system.delivery.channel.said("2", "ada")
    else:
        await system.delivery.channel.said("paint the wall", "ada")
    victim = await frozen_at_its_end(system, monkeypatch, committed=committed)
    if not committed and not system.model.script:
        system.model.script.append(says("It is painted."))  # it was not written yet, so it is asked for again
    await system.work()
    if not answered:
        await choose(system, ("green", "2"))
    victim.cancel()
    assert len(seen(system, "Which colour?")) == 1
    assert {colour for colour, _ in PAINTED} == {"green"}
    assert len({key for _, key in PAINTED}) == 1
    assert system.last() == "It is painted."
    assert (len(system.model.script), await system.delivery.store.db.pool_entries.count()) == (0, 0)
