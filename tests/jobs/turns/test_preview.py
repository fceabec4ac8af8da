"""Drafts of an answer while it is written: hints that neither delay nor double what the outbox sends."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest

from core.errors import RateLimited, Unavailable
from core.llm.types import ModelAnswer, ModelChunk, ModelRequest
from core.messaging.messages import Address
from core.messaging.outbox import Outbox
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.delivery.runner import DeliveryRunner
from jobs.turns import preview
from jobs.turns.runner import TurnRunner
from tests.core.builders import FakeModel, says
from tests.core.harness import LEASE, Store
from tests.eventually import never
from tests.jobs.harness import RecordingChannel
from tests.jobs.turns.test_runner import replies
from tests.patience import PATIENCE


@dataclass(slots=True)
class DraftingChannel(RecordingChannel):
    """A channel that shows drafts, unless something is in its way."""

    draft_every: float = 0.0
    drafts: list[tuple[str, str]] = field(default_factory=list)
    trouble: Exception | Callable[[], Awaitable[None]] | None = None

    async def show_draft(self, to: Address, text: str, draft_id: str) -> None:
        """Record it, then do what is in the way."""
        self.drafts.append((draft_id, text))
        if isinstance(self.trouble, Exception):
            raise self.trouble
        if self.trouble is not None:
            await self.trouble()


@dataclass
class Writer(FakeModel):
    """Write an answer word by word, with a pause after each."""

    pause: float = 0.01

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """Yield the next of the script."""
        answer = await self.answer(request)
        for word in answer.text.split(" "):
            yield ModelChunk(word + " ")
            await asyncio.sleep(self.pause)
        yield ModelChunk(answer=answer)


async def _answer(store: Store, channel: RecordingChannel, *answers: ModelAnswer) -> float:
    """Run what waits and send what is owed; return the seconds that the turn took."""
    turns = TurnStore(store.database, store.make_id, LEASE)
    orchestrator = Orchestrator(Writer(list(answers)))
    runner = TurnRunner(turns, orchestrator, store.wakeups, {"sms": channel}, store.make_id, "w1")
    began = time.monotonic()
    while lease := await runner.claim(None):
        await runner.run(lease)
    took = time.monotonic() - began
    delivery = DeliveryRunner(Outbox(store.database, store.make_id, LEASE), {"sms": channel}, "w1")
    while claim := await delivery.claim(None):
        await delivery.run(claim)
    return took


TEN = "one two three four five six seven eight nine ten"


async def test_an_answer_is_shown_while_it_grows_and_sent_once_whole(store: Store) -> None:
    channel = DraftingChannel()
    await store.say("Count")
    await _answer(store, channel, says(TEN))
    texts = [text for _, text in channel.drafts]
    assert len(texts) > 2
    assert all(after.startswith(before) for before, after in pairwise(texts))
    assert len({draft_id for draft_id, _ in channel.drafts}) == 1
    assert channel.texts == [TEN]
    assert channel.working


async def test_drafts_keep_the_providers_pace_and_show_the_newest(store: Store) -> None:
    channel = DraftingChannel(draft_every=0.05)
    await store.say("Count")
    took = await _answer(store, channel, says(TEN))
    assert 2 <= len(channel.drafts) <= took / 0.05 + 2
    assert channel.texts == [TEN]


@pytest.mark.parametrize(
    "trouble",
    [RateLimited("slower", retry_after=timedelta(hours=1)), Unavailable("away"), ValueError("a bug"), never],
)
async def test_a_blocked_draft_neither_delays_nor_doubles_the_answer(
    store: Store, trouble: Exception | Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "DRAFT_TIMEOUT", 10 * PATIENCE)  # who waited for a draft would not come to an end
    channel = DraftingChannel(trouble=trouble)
    await store.say("Count")
    async with asyncio.timeout(PATIENCE):
        await _answer(store, channel, says(TEN))
    assert len(channel.drafts) == 1
    assert channel.texts == await replies(store) == [TEN]


async def test_no_draft_comes_after_the_answer_is_committed(store: Store) -> None:
    channel = DraftingChannel(draft_every=0.01)
    await store.say("Count")
    await _answer(store, channel, says(TEN))
    assert channel.drafts
    assert "drafts" not in {task.get_name() for task in asyncio.all_tasks()}, "nothing is left that could send one"


async def test_a_channel_without_drafts_gets_none(store: Store) -> None:
    channel = RecordingChannel()
    await store.say("Count")
    await _answer(store, channel, says(TEN))
    assert channel.texts == [TEN]
