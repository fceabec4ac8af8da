"""Show a person that we are at work, and the answer while it is written: hints only, the outbox's message is the truth.

Nothing here holds a turn up: words are left for a task of their own, which shows the newest when the provider lets it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from core.channel import NotificationChannel, Preview
from core.errors import DeliveryError, RateLimited
from core.hooks import Hook, HookContext
from core.messages import Address
from core.model_types import TextSoFar

WORKING_EVERY = 4.0
"""Seconds between hints that we are at work; Telegram's typing lasts five."""
DRAFT_TIMEOUT = 5.0
LIMITED_PAUSE = 30.0
"""Seconds without drafts when a provider limits us and does not say for how long."""

_log = structlog.get_logger()


class Drafting(Hook):
    """Keep what a model has written so far of its newest answer."""

    def __init__(self) -> None:
        self.text = ""
        self.written = asyncio.Event()

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        """Take the words, and return at once."""
        self.text = so_far.whole
        self.written.set()


@asynccontextmanager
async def at_work(
    channel: NotificationChannel | None, address: Address, draft_id: str
) -> AsyncIterator[tuple[Hook, ...]]:
    """Show that we are at work until the block ends; gives the hooks that the turn needs for it."""
    if channel is None:
        yield ()
        return
    drafting = Drafting()
    tasks = [asyncio.create_task(_show_working(channel, address), name="working")]
    if isinstance(channel, Preview):
        tasks.append(asyncio.create_task(_show_drafts(channel, address, draft_id, drafting), name="drafts"))
    try:
        yield (drafting,) if isinstance(channel, Preview) else ()
    finally:
        # Before the answer is committed: no draft may come after it.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _show_working(channel: NotificationChannel, address: Address) -> None:
    while True:
        await channel.show_working(address)
        await asyncio.sleep(WORKING_EVERY)


async def _show_drafts(channel: Preview, address: Address, draft_id: str, drafting: Drafting) -> None:
    while True:
        await drafting.written.wait()
        drafting.written.clear()
        pause = channel.draft_every
        try:
            async with asyncio.timeout(DRAFT_TIMEOUT):
                await channel.show_draft(address, drafting.text, draft_id)
        except RateLimited as limited:
            pause = limited.retry_after.total_seconds() if limited.retry_after else LIMITED_PAUSE
        except (DeliveryError, TimeoutError) as error:
            _log.warning("drafts_ended", turn=draft_id, cause=type(error).__name__)
            return
        except Exception:  # a bug in an adapter's drafts must not cost the answer
            _log.exception("drafts_ended", turn=draft_id)
            return
        await asyncio.sleep(pause)
