"""What reaches a turn while it runs: a stop, further messages, and what the person prefers to become of them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from core.journal.in_memory import MemoryJournal
from core.llm.types import Role
from core.loop.control import InterruptSignal, TurnMessage
from core.loop.result import Ended
from core.messaging.pointed import Pointed, Whose
from core.people.tenant import WhileRunning
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Control:
    """Stop or speak at given asks."""

    def __init__(self, *, stop_at: int = 99, speak_at: int = 99) -> None:
        self.asked = 0
        self.stop_at, self.speak_at = stop_at, speak_at
        self.signal = InterruptSignal()

    async def stopped(self) -> str | None:
        self.asked += 1
        return "As you wish." if self.asked >= self.stop_at else None

    async def absorb(self) -> Sequence[TurnMessage]:
        message = TurnMessage("m2", "And tomorrow?", datetime(2026, 1, 1, tzinfo=UTC), media_count=1)
        return [message] if self.asked >= self.speak_at else []


class TestSteering:
    async def test_a_stop_is_heeded_after_the_tools_and_history_stays_whole(self) -> None:
        result, model = await run_loop(
            [wants(("add", {"a": 1, "b": 2})), says("never")], [add], control=Control(stop_at=2)
        )
        assert (result.ended, result.response, len(model.requests)) == (Ended.INTERRUPTED, "Stopped: As you wish.", 1)
        assert [message.role for message in result.messages] == [Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]

    async def test_messages_that_arrive_midway_reach_the_model_once_at_its_next_call(self) -> None:
        journal = MemoryJournal()
        script = [wants(("add", {"a": 1, "b": 2})), wants(("add", {"a": 1, "b": 2})), says("Both")]
        result, model = await run_loop(script, [add], control=Control(speak_at=2), journal=journal)
        texts = [message.text for message in model.requests[1].messages]
        assert texts[-2:] == ["And tomorrow?", "[The person sent 1 file, not shown here.]"]
        assert result.absorbed == ("m2",)
        replayed, silent = await run_loop([], [add], journal=journal, control=Control(speak_at=1))
        assert silent.requests == []
        assert replayed.messages == result.messages
        assert replayed.absorbed == ("m2",)


class Editing(Control):
    """A person who has changed a message before the model is first asked."""

    async def absorb(self) -> Sequence[TurnMessage]:
        changed = (Pointed("Pay Sam 50", Whose.CHANGED),)
        return [TurnMessage("m2", "OK, do it", datetime(2026, 1, 1, tzinfo=UTC), points=changed)]


async def test_an_edit_joins_only_after_the_first_answer_of_a_turn() -> None:
    script = [wants(("add", {"a": 1, "b": 2})), says("Both")]
    _, model = await run_loop(script, [add], control=Editing())
    first, second = ([message.text for message in request.messages] for request in model.requests)
    assert ("OK, do it" in first, second[-1]) == (False, "OK, do it")


class Waiting:
    """A person who wrote again, and never stops."""

    signal = InterruptSignal()

    async def stopped(self) -> str | None:
        return None

    async def absorb(self) -> Sequence[TurnMessage]:
        return [TurnMessage("m2", "And tomorrow?", datetime(2026, 1, 1, tzinfo=UTC))]


class TestPreference:
    async def test_a_queued_message_is_left_for_the_next_turn(self) -> None:
        script = [wants(("add", {"a": 1, "b": 2})), says("3")]
        result, model = await run_loop(script, [add], control=Waiting(), while_running=WhileRunning.QUEUE)
        assert (result.response, result.absorbed) == ("3", ())
        assert all(message.text != "And tomorrow?" for message in model.last)

    async def test_an_interrupting_message_ends_the_turn_without_a_word(self) -> None:
        class AfterTool(Waiting):
            asked = 0

            async def absorb(self) -> Sequence[TurnMessage]:
                self.asked += 1
                return await super().absorb() if self.asked > 1 else []

        script = [wants(("add", {"a": 1, "b": 2})), says("never")]
        result, model = await run_loop(script, [add], control=AfterTool(), while_running=WhileRunning.INTERRUPT)
        assert (result.ended, result.response, result.absorbed) == (Ended.SUPERSEDED, "", ())
        assert len(model.requests) == 1
        assert [message.role for message in result.messages] == [Role.ASSISTANT, Role.TOOL]


class Pasting(Control):
    """Bring a text that was cut, part by part; the store returns what waits until the turn ends."""

    async def absorb(self) -> Sequence[TurnMessage]:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        parts = [
            TurnMessage("m2", "A long", at, goes_on="\n"),
            TurnMessage("m3", "text.", at, continues=True),
        ]
        return parts if self.asked >= self.speak_at else []


async def test_a_cut_text_during_a_turn_is_one_message_after_a_take_over_too() -> None:
    journal = MemoryJournal()
    control = Pasting(speak_at=2)
    result, model = await run_loop(
        [wants(("add", {"a": 1, "b": 2})), says("3, and I read it.")], [add], journal=journal, control=control
    )
    assert [m.text for m in model.requests[1].messages if m.role is Role.USER][-1] == "A long\ntext."
    assert result.absorbed == ("m2", "m3")
    again, model = await run_loop([], [add], journal=journal, control=Pasting(speak_at=1))
    assert (again.absorbed, model.requests) == (("m2", "m3"), [])
