"""Show that the assistant is working, and the answer while it is written. These are hints: the outbox sends the answer.

Nothing here holds up a turn: a separate task shows the newest text when the provider allows it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from core.errors import Ambiguous, DeliveryError, LeaseLost, RateLimited, StoreUnavailable
from core.hooks.hooks import Hook, HookContext, PlannedCall
from core.llm.types import ModelAnswer, TextSoFar
from core.messaging.capabilities import Marking, Preview, Streaming, Telling
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from core.messaging.streamed_message import StreamRow
from core.tools.addresses import before_links
from core.tools.doing import as_status
from core.turns.event_stream import Doing, StreamHook, Watching, in_words
from core.turns.stored import BegunTurn
from jobs.turns.call_status import calls_in_words
from jobs.turns.slow_model import told_in_words

WORKING_EVERY = 4.0
"""Seconds between hints that the assistant is working; Telegram's typing lasts five."""
TOLD_EVERY = 0.5
"""Seconds between two descriptions of the present work."""
MARK_AFTER = 0.3
"""Seconds before a person's message is marked, so that a faster answer costs no calls for a mark."""
DRAFT_TIMEOUT = 5.0
LIMITED_PAUSE = 30.0
"""Seconds without drafts after a rate limit without a Retry-After."""
STREAM_FROM = 80
"""Characters from which an answer is streamed; a shorter answer arrives as soon without."""
STREAM_START_GRACE = 2.0
"""Seconds that the end of a turn waits for a stream that is being started, so that its id is not lost."""

_log = structlog.get_logger()


class Drafting(Hook):
    """Hold the text so far of the model's newest answer, and while tools run, their calls in words."""

    def __init__(self, doing: Doing = in_words) -> None:
        self.text = ""
        self.doing = ""
        self.written = asyncio.Event()
        self.told = asyncio.Event()
        self._doing = doing

    @property
    def shown(self) -> str:
        """Return the present text of a draft."""
        return f"_{self.doing}_" if self.doing else self.text

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        """Store the text up to its first link, which is checked when the answer is whole; return at once."""
        self.text, self.doing = before_links(so_far.whole), ""
        self.written.set()

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Show an answer's calls in words."""
        if words := calls_in_words(answer, self._doing):
            self._tell(words)
        return answer

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        """Show the progress of a tool."""
        self._tell(before_links(text))

    def _tell(self, text: str) -> None:
        self.doing = as_status(text)
        self.written.set()
        self.told.set()


@asynccontextmanager
async def show_progress(
    channel: NotificationChannel | None,
    turn: BegunTurn,
    row: StreamRow,
    said: Callable[[], None],
    doing: Doing = in_words,
) -> AsyncIterator[tuple[Hook, ...]]:
    """Show that the assistant is working until the block ends; yield the hooks that the turn needs for it.

    `row`: the outbox row of the answer, which may be streamed. `said` is called after a message to the person.
    `doing` puts a call into words.
    """
    if channel is None:
        yield ()
        return
    drafting, growing, address = Drafting(doing), asyncio.Event(), turn.address
    tasks = [asyncio.create_task(_show_working(channel, address, growing, drafting), name="working")]
    hooks: tuple[Hook, ...] = ()
    if isinstance(channel, Preview):
        hooks = (drafting,)
        tasks.append(asyncio.create_task(_show_drafts(channel, address, turn.turn_id, drafting), name="drafts"))
    elif isinstance(channel, Streaming) and channel.streams_to(address):
        hooks = (drafting,)
        tasks.append(asyncio.create_task(_StreamedDraft(channel, address, row, drafting, growing).run(), name="stream"))
    if isinstance(channel, Watching) and (emit := channel.watcher(address)):
        hooks = (*hooks, StreamHook(emit, doing))
    newest = turn.newest_message
    mark = _Mark(channel, turn, newest) if isinstance(channel, Marking) and newest else None
    if mark is not None:
        tasks.append(asyncio.create_task(mark.show(), name="mark"))
    try:
        async with told_in_words(channel, address, turn.request.work.outage, said) as words:
            yield (*hooks, *words)
    finally:
        # Before the answer is committed: no draft may come after it.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if mark is not None:
            mark.clear()


class _Mark:
    """The mark on the turn's newest message. A killed worker may have left a mark."""

    def __init__(self, channel: Marking, turn: BegunTurn, message: str) -> None:
        self._channel = channel
        self._address = turn.address
        self._message = message
        self._stands = turn.attempts > 1

    async def show(self) -> None:
        await asyncio.sleep(MARK_AFTER)
        self._stands = True
        self._channel.mark(self._address, self._message)

    def clear(self) -> None:
        if self._stands:
            self._channel.unmark(self._address, self._message)


async def _show_working(
    channel: NotificationChannel, address: Address, growing: asyncio.Event, drafting: Drafting
) -> None:
    while not growing.is_set():
        if drafting.doing and isinstance(channel, Telling):
            await channel.show_doing(address, drafting.doing)
        else:
            await channel.show_working(address)
        drafting.told.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(WORKING_EVERY):
                await drafting.told.wait()
            await asyncio.sleep(TOLD_EVERY)


async def _show_drafts(channel: Preview, address: Address, draft_id: str, drafting: Drafting) -> None:
    while True:
        await drafting.written.wait()
        drafting.written.clear()
        pause = channel.draft_every
        try:
            async with asyncio.timeout(DRAFT_TIMEOUT):
                await channel.show_draft(address, drafting.shown, draft_id)
        except RateLimited as limited:
            pause = _pause(limited)
        except (DeliveryError, TimeoutError) as error:
            _log.warning("drafts_ended", turn=draft_id, cause=type(error).__name__)
            return
        except Exception:  # a bug in an adapter's drafts must not cost the answer
            _log.exception("drafts_ended", turn=draft_id)
            return
        await asyncio.sleep(pause)


class _StreamedDraft:
    """An answer that is streamed into its final message while that message is the head of the outbox."""

    def __init__(
        self, channel: Streaming, address: Address, row: StreamRow, drafting: Drafting, growing: asyncio.Event
    ) -> None:
        self._channel = channel
        self._address = address
        self._row = row
        self._drafting = drafting
        self._growing = growing
        self._model_text = ""
        self._shown = 0
        """Characters that the message shows."""

    async def run(self) -> None:
        """Start the message when there is enough to show, and append to it."""
        try:
            while len(self._drafting.text) < STREAM_FROM:
                await self._next_words()
            stream = await self._begun()
            while stream and await self._row.leads():
                await self._add(stream)
                await self._next_words()
        except (DeliveryError, StoreUnavailable, LeaseLost, TimeoutError) as error:
            _log.warning("stream_ended", turn=self._row.turn_id, cause=type(error).__name__)
        except Exception:  # a bug in an adapter's streams must not cost the answer
            _log.exception("stream_ended", turn=self._row.turn_id)

    async def _next_words(self) -> None:
        await self._drafting.written.wait()
        self._drafting.written.clear()

    async def _begun(self) -> str | None:
        """Start the message. The start completes even if the turn ends during it."""
        starting = asyncio.create_task(self._start(), name="stream start")
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.wait([starting], timeout=STREAM_START_GRACE)
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            raise

    async def _start(self) -> str | None:
        if not await self._row.begin():
            return None
        try:
            async with asyncio.timeout(DRAFT_TIMEOUT):
                stream = await self._channel.start_stream(self._address)
        except DeliveryError as error:
            if not isinstance(error, Ambiguous):
                await self._row.forget()
            raise
        self._growing.set()
        return stream if await self._row.keep(stream) else None

    async def _add(self, stream: str) -> None:
        """Append the new text. Shown text stays: a further answer of the model becomes a new paragraph."""
        whole = self._drafting.text
        goes_on = whole.startswith(self._model_text)
        more = whole[len(self._model_text) :] if goes_on else f"\n\n{whole}"
        if not more.strip() or self._shown + len(more) > self._channel.stream_limit:
            return
        pause = self._channel.stream_every
        try:
            async with asyncio.timeout(DRAFT_TIMEOUT):
                await self._channel.append_stream(self._address, stream, more)
            self._model_text, self._shown = whole, self._shown + len(more)
        except RateLimited as limited:
            pause = _pause(limited)
        await asyncio.sleep(pause)


def _pause(limited: RateLimited) -> float:
    return limited.retry_after.total_seconds() if limited.retry_after else LIMITED_PAUSE
