"""A turn as a stream of events: a hook writes them, the caller reads them, and neither runs ahead of the other."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from core.hooks.hooks import Hook, HookContext, PlannedCall, StepReport
from core.journal.types import Outcome
from core.llm.types import ModelAnswer, TextSoFar, TokenUsage
from core.messaging.messages import Address
from core.tools.doing import doing_in_words
from core.tools.results import CallResult
from core.turns.types import TurnResult

AHEAD = 32
"""Events that wait for a slow reader; then the turn waits too."""


class StreamEventType(StrEnum):
    """The kind of an event."""

    MESSAGE_START = "message_start"
    """The model begins to write. If the message before it has no end, it broke off, and the new message replaces it."""
    MESSAGE_CHUNK = "message_chunk"
    MESSAGE_END = "message_end"
    TOOL_CALL_START = "tool_call_start"
    TOOL_PROGRESS = "tool_progress"
    TOOL_RESULT = "tool_result"
    STATE_CHANGE = "state_change"
    STEP_COMPLETED = "step_completed"
    EXECUTION_END = "execution_end"
    """The last event, exactly once, also if the turn failed."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event of a turn; fields that do not belong to its type are None or empty.

    `arguments` are the model's own text. `text` is the model's words, a call's activity in words for the person
    (TOOL_CALL_START), a tool's progress, or a call's result as the model gets it; `usage` is the step's tokens and
    `so_far` the turn's. EXECUTION_END has the `result`, or the `error` that ended the turn without one.
    """

    type: StreamEventType
    turn_id: str
    step: int = 0
    text: str = ""
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    success: bool = True
    state: StrEnum | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    so_far: TokenUsage = field(default_factory=TokenUsage)
    result: TurnResult | None = None
    error: Exception | None = None


type Doing = Callable[[str], str]
"""Returns the activity of a tool's call, in words for the person."""


def in_words(name: str) -> str:
    """Return the activity of a call, by the tool's name alone."""
    return doing_in_words(None, name)


type Emit = Callable[[StreamEvent], Awaitable[None]]


@runtime_checkable
class Watching(Protocol):
    """Optional capability of a way out: the events of the turns of a conversation are shown there while they run."""

    def watcher(self, to: Address) -> Emit | None:
        """Return the receiver of each event of a turn that begins now, or None if nobody watches."""
        ...


@runtime_checkable
class Finishing(Protocol):
    """Optional capability of a way out: the results of a conversation's turns are wanted there as they are."""

    def turn_ended(self, to: Address, turn_id: str, result: TurnResult) -> None:
        """Note the result of a turn, before it is committed."""
        ...


class StreamHook(Hook):
    """Emit a turn's events, after all hooks that can modify them."""

    priority = 1_000_000

    def __init__(self, emit: Emit, doing: Doing = in_words) -> None:
        self._emit = emit
        self._doing = doing
        self._writing = False

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        if so_far.text == so_far.whole:
            await self._emit(_event(StreamEventType.MESSAGE_START, context))
        self._writing = True
        await self._emit(_event(StreamEventType.MESSAGE_CHUNK, context, text=so_far.text))

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        if self._writing:
            self._writing = False
            await self._emit(_event(StreamEventType.MESSAGE_END, context, text=answer.text))
        for call in answer.tool_calls:
            await self._emit(
                _event(
                    StreamEventType.TOOL_CALL_START,
                    context,
                    call_id=call.id,
                    name=call.name,
                    arguments=call.arguments,
                    text=self._doing(call.name),
                )
            )
        return answer

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        await self._emit(_event(StreamEventType.TOOL_PROGRESS, context, call_id=call.id, name=call.name, text=text))

    async def call_finished(self, context: HookContext, result: CallResult) -> None:
        await self._emit(
            _event(
                StreamEventType.TOOL_RESULT,
                context,
                call_id=result.call.id,
                name=result.call.name,
                text=result.text,
                success=result.outcome is Outcome.OK,
            )
        )

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        await self._emit(_event(StreamEventType.STEP_COMPLETED, context, usage=report.usage, so_far=report.so_far))

    async def state_changed(self, context: HookContext, state: StrEnum) -> None:
        await self._emit(_event(StreamEventType.STATE_CHANGE, context, state=state))


async def events_of(
    turn_id: str, work: Callable[[Hook], Awaitable[TurnResult]], doing: Doing = in_words
) -> AsyncGenerator[StreamEvent]:
    """Run a turn with a hook that reports it, and yield the events; closing this cancels the turn.

    An error that ends the turn without a result is in EXECUTION_END, and raised after it.
    """
    queue: asyncio.Queue[StreamEvent] = asyncio.Queue(AHEAD)
    read = True

    async def run() -> None:
        try:
            result = await work(StreamHook(queue.put, doing))
        except BaseException as error:
            if read:
                reported = error if isinstance(error, Exception) else RuntimeError("cancelled")
                await queue.put(StreamEvent(StreamEventType.EXECUTION_END, turn_id, success=False, error=reported))
            raise
        await queue.put(StreamEvent(StreamEventType.EXECUTION_END, turn_id, text=result.reply, result=result))

    task = asyncio.create_task(run(), name=f"stream {turn_id}")
    try:
        while True:
            event = await queue.get()
            yield event
            if event.type is StreamEventType.EXECUTION_END:
                break
        await task
    finally:
        read = False
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()


def _event(kind: StreamEventType, context: HookContext, **more: object) -> StreamEvent:
    return StreamEvent(kind, context.turn_id, context.step, **more)  # type: ignore[arg-type]
