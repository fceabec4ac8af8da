"""A turn as a stream of events, over a scripted model in process."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from core.errors import LeaseLost, ModelAuthError, ModelUnavailable, TurnDelayed
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepRecord
from core.llm.types import ModelChunk, ModelRequest
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from core.turns.context import Refusal, TurnContext
from core.turns.event_stream import AHEAD, StreamEvent, StreamEventType
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Place, TurnRequest, TurnState, TurnWork
from tests.core.builders import FakeModel, Step, says, wants
from tests.eventually import never

CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001)


@dataclass
class StreamingModel(FakeModel):
    """Give each answer of the script word by word; `breaks` words before an error of the script."""

    written: int = 0
    closed: int = 0
    breaks: int = 0
    endless: bool = field(default=False)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """Yield the next of the script."""
        try:
            while self.endless:
                self.written += 1
                yield ModelChunk("word ")
            if isinstance(self.script[0], Exception):
                for _ in range(self.breaks):
                    yield ModelChunk("half ")
            answer = await self.answer(request)
            for word in answer.text.split():
                self.written += 1
                yield ModelChunk(word + " ")
            yield ModelChunk(answer=answer)
        finally:
            self.closed += 1


def _request(journal: MemoryJournal | None = None) -> TurnRequest:
    message = TurnMessage("m1", "Hello", datetime(2026, 1, 1, tzinfo=UTC))
    return TurnRequest(
        TurnWork("turn1", journal or MemoryJournal()), TurnTenant("t1"), Place("telegram"), FromPerson((message,))
    )


async def _events(*script: Step, **given: object) -> list[StreamEvent]:
    model = StreamingModel(list(script))
    orchestrator = Orchestrator(model, config=CONFIG, **given)  # type: ignore[arg-type]
    return [event async for event in orchestrator.stream_message(_request())]


def _kinds(events: list[StreamEvent]) -> list[str]:
    """Name the types, repeated ones once."""
    names = [event.type.value for event in events]
    return [names[0], *(after for before, after in pairwise(names) if before != after)]


@tool(effect="read")
async def look(context: ToolExecutionContext) -> str:
    """Look."""
    await context.progress("half way")
    return "seen"


class TestEvents:
    async def test_tell_a_turn_with_a_call_from_its_beginning_to_its_end(self) -> None:
        events = await _events(wants(("look", {}), beside="Let me see"), says("All is well"), tools=[look])
        assert _kinds(events) == [
            *("state_change", "message_start", "message_chunk", "message_end", "tool_call_start"),
            *("tool_progress", "tool_result", "step_completed"),
            *("message_start", "message_chunk", "message_end", "step_completed"),
            *("state_change", "execution_end"),
        ]
        steps = [event for event in events if event.type is StreamEventType.STEP_COMPLETED]
        assert [(step.step, step.usage.total, step.so_far.total) for step in steps] == [(0, 110, 110), (1, 110, 220)]
        assert [event.state for event in events if event.type is StreamEventType.STATE_CHANGE] == ["running", "done"]
        answer = "".join(event.text for event in events if event.type is StreamEventType.MESSAGE_CHUNK)
        assert answer == "Let me see All is well "
        last = events[-1]
        assert last.result is not None
        assert (last.text, last.result.reply) == ("All is well", "All is well")

    async def test_every_call_has_a_start_and_a_result_event(self) -> None:
        events = await _events(wants(("look", {}), ("nothing", {}), ("look", "[")), says("Well"), tools=[look])
        starts = [event.call_id for event in events if event.type is StreamEventType.TOOL_CALL_START]
        results = {event.call_id: event for event in events if event.type is StreamEventType.TOOL_RESULT}
        assert starts == sorted(results, key=str) == ["c0", "c1", "c2"]
        assert [results[start].success for start in starts] == [True, False, False]
        assert "no tool named 'nothing'" in results["c1"].text

    async def test_a_stream_that_breaks_off_starts_again(self) -> None:
        model = StreamingModel([ModelUnavailable("x"), says("All of it")], breaks=2)
        events = [event async for event in Orchestrator(model, config=CONFIG).stream_message(_request())]
        assert _kinds(events) == [
            *("state_change", "message_start", "message_chunk", "message_start", "message_chunk", "message_end"),
            *("step_completed", "state_change", "execution_end"),
        ]

    async def test_a_client_that_does_not_stream_is_told_in_one_piece(self) -> None:
        orchestrator = Orchestrator(FakeModel([says("All is well")]), config=CONFIG)
        events = [event async for event in orchestrator.stream_message(_request())]
        assert [event.text for event in events if event.type is StreamEventType.MESSAGE_CHUNK] == ["All is well"]

    async def test_a_finished_turn_that_is_replayed_tells_only_its_end(self) -> None:
        journal = MemoryJournal()
        await Orchestrator(FakeModel([wants(("look", {})), says("Done")]), tools=[look], config=CONFIG).handle_message(
            _request(journal)
        )
        again = Orchestrator(StreamingModel([]), tools=[look], config=CONFIG)
        events = [event async for event in again.stream_message(_request(journal))]
        assert _kinds(events) == ["state_change", "execution_end"]
        assert events[-1].text == "Done"


async def _refuse(request: TurnRequest, context: TurnContext) -> Refusal | None:
    return Refusal("limit", "Slower")


async def _break(request: TurnRequest, context: TurnContext) -> Refusal | None:
    raise RuntimeError("broken")


class TestTheEnd:
    async def test_comes_exactly_once_however_the_turn_ends(self) -> None:
        for events, state in (
            (await _events(says("Hi")), TurnState.DONE),
            (await _events(ModelAuthError("x")), TurnState.FAILED),
            (await _events(says(""), says("")), TurnState.DONE),
            (await _events(checks=[_refuse]), TurnState.DONE),
        ):
            ends = [event for event in events if event.type is StreamEventType.EXECUTION_END]
            assert len(ends) == 1
            assert events[-1] is ends[0]
            assert ends[0].result is not None
            assert ends[0].result.state is state

    async def test_comes_before_an_error_that_leaves_no_result_is_raised(self) -> None:
        class Lost(MemoryJournal):
            async def write(self, *records: StepRecord) -> None:
                raise LeaseLost("theirs")

        async def lost() -> list[StreamEvent]:
            return await _until_error(Orchestrator(FakeModel([says("Hi")])), LeaseLost, Lost())

        async def broken() -> list[StreamEvent]:
            return await _until_error(Orchestrator(FakeModel([]), checks=[_break]), TurnDelayed)

        for make in (lost, broken):
            events = await make()
            assert [event.type for event in events].count(StreamEventType.EXECUTION_END) == 1
            assert (events[-1].success, events[-1].result) == (False, None)


class TestPace:
    async def test_a_slow_reader_slows_the_turn(self) -> None:
        model = StreamingModel([], endless=True)
        stream = Orchestrator(model, config=CONFIG).stream_message(_request())
        for _ in range(5):
            await anext(stream)
        for _ in range(10 * AHEAD):  # turns of the loop, in each of which the model could write a word
            await asyncio.sleep(0)
        assert model.written <= AHEAD + 5
        await stream.aclose()

    @pytest.mark.parametrize("leave", [lambda stream: stream.aclose(), lambda stream: _cancelled(stream)])
    async def test_one_that_goes_away_stops_the_turn_and_leaves_no_task(
        self, leave: Callable[[AsyncGenerator[StreamEvent]], AsyncGenerator[None]]
    ) -> None:
        before = asyncio.all_tasks()
        model = StreamingModel([], endless=True)
        stream = Orchestrator(model, config=CONFIG).stream_message(_request())
        await anext(stream)
        await leave(stream)  # type: ignore[misc]
        assert asyncio.all_tasks() == before
        assert model.closed == 1


async def _until_error(
    orchestrator: Orchestrator, kind: type[Exception], journal: MemoryJournal | None = None
) -> list[StreamEvent]:
    stream = orchestrator.stream_message(_request(journal))
    events = [await anext(stream)]
    while events[-1].type is not StreamEventType.EXECUTION_END:
        events.append(await anext(stream))
    with pytest.raises(kind):
        await anext(stream)
    return events


async def _cancelled(stream: AsyncGenerator[StreamEvent]) -> None:
    reading = asyncio.Event()

    async def read() -> None:
        async for _ in stream:
            reading.set()
            await never()

    task = asyncio.create_task(read())
    await reading.wait()
    task.cancel()
    await asyncio.wait([task])
    await stream.aclose()
