"""Prompts begin like the one before, as far as providers can cache them: measured on what arrives at the model."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from core.inbox.inbox import Inbox
from core.queue.wakeups import NoWakeups
from onevalet.supervision.worker_start import ALONE
from onevalet.wiring.worker_parts import WorkerParts
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import ChannelHarness, open_harness
from tests.contract.test_redraw_at_once import settings
from tests.core.harness import OPEN, Store, opened
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text

SHARE = 0.9
"""The least share of the prompts that is byte by byte the beginning of the prompt before."""
ASKED = ("add one and two", "my sister Ana lives in Porto", "what time is it", "thanks a lot for that", "what do I owe")

pytestmark = [pytest.mark.xdist_group("model"), pytest.mark.timeout(180)]


@dataclass(slots=True)
class Talking:
    """A worker as `onevalet worker` has it, and a person who talks with it by SMS."""

    harness: ChannelHarness
    store: Store
    parts: WorkerParts
    model: ScriptedModel

    async def say(self, words: str) -> None:
        """Let the person write, and the turn be done."""
        await self.harness.said(words)
        lease = await self.parts.turns.claim(None)
        assert lease is not None
        await self.parts.turns.run(lease)


@pytest.fixture
async def talking(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Talking]:
    """Yield a worker of SMS with the tools that ship, behind a scripted model."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(answer))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        store = await stack.enter_async_context(opened(database_url))
        inbox = Inbox(store.database, NoWakeups(), store.make_id, OPEN)
        harness = await stack.enter_async_context(open_harness(HARNESSES["sms"], inbox))
        configured = settings(harness, database_url, redis_url, tmp_path)
        configured = configured.model_copy(update={"onevalet_plugins": ("agents",), "onevalet_system_prompt": ""})
        parts = await WorkerParts.open(stack, configured, ALONE)
        yield Talking(harness, store, parts, model)


async def test_nine_tenths_of_twenty_messages_prompts_begin_like_the_one_before(talking: Talking) -> None:
    for number in range(20):
        await talking.say(f"{ASKED[number % len(ASKED)]}, please ({number})")
    asked = talking.model.calls
    assert len(asked) == 20 + 8, "four in ten messages use tools"
    assert cached_share(asked) > SHARE
    assert len({call.system for call in asked}) == 1
    assert len({json.dumps(call.body["tools"]) for call in asked}) == 1


async def test_history_is_cut_in_steps_so_that_prompts_still_begin_alike(talking: Talking) -> None:
    await talking.say("hello there, it is me")
    await talking.store.admin.execute(
        "insert into history (tenant_id, conversation_id, position, session, turn_id, message)"
        " select h.tenant_id, h.conversation_id, 100 + n, h.session, h.turn_id, jsonb_set(h.message, '{text}',"
        " to_jsonb('message ' || n)) from history h, generate_series(1, 150) n where h.position = 1 + n % 2"
    )
    await talking.store.admin.execute("update conversations set history_seq = 250")
    starts: list[str] = []
    for number in range(20):
        await talking.say(f"and what about {number}")
        starts.append(str(talking.model.calls[-1].messages[1]["content"]))
    assert len(set(starts)) == 1
    assert cached_share(talking.model.calls[1:]) > SHARE


def cached_share(asked: Sequence[ModelCall]) -> float:
    """Return the share of all prompts but the first that the prompt before began with."""
    prompts = [f"{json.dumps(call.body.get('tools'))}{json.dumps(call.messages)}" for call in asked]
    shared = sum(_shared(first, second) for first, second in pairwise(prompts))
    return shared / sum(len(prompt) for prompt in prompts[1:])


def _shared(first: str, second: str) -> int:
    """Return how many characters two prompts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))


def answer(call: ModelCall) -> Reply:
    """Use two tools where the person asks for a sum, one where they ask for the time."""
    if call.tool_results and call.messages[-1]["role"] == "tool":
        return text("That makes three, and it is late.")
    if call.last_user.startswith("add"):
        return calls(("calculate", {"expression": "1 + 2"}), ("current_time", {}))
    if call.last_user.startswith("what time"):
        return calls(("current_time", {}))
    return text("I see, thank you for telling me.")
