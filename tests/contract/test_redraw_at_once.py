"""Decisions do not queue: through the worker as it is, while a tool of the same conversation runs."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.inbox.inbox import Inbox
from core.queue.wakeups import RedisWakeups
from onevalet.settings import Settings
from onevalet.wiring.worker import open_worker
from tests.contract.canaries import SLACK, TELEGRAM, TWILIO, WEBHOOK_SECRET
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import PUBLIC_URL, Bubble, ChannelHarness, open_harness
from tests.core.harness import OPEN, Store, opened
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.plugins.gates import GATES, Gate
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text

pytestmark = pytest.mark.xdist_group("model")


@dataclass(slots=True)
class Running:
    """A worker as `onevalet worker` runs it, over one channel."""

    harness: ChannelHarness
    store: Store
    gate: Gate

    async def until_seen(self, matches: Callable[[Bubble], bool]) -> Bubble:
        """Wait until the person sees a message of ours."""
        seen = await eventually(lambda: [bubble for bubble in self.harness.bubbles() if matches(bubble)])
        return seen[0]

    async def approve(self, card: Bubble) -> None:
        """Let the person approve: by button, or by code where there are none; the provider has told it then."""
        if self.harness.name == "sms":
            code = await self.store.db.approvals.one("code")
            await self.harness.said(f"OK {code}")
        else:
            labels = [button for button, _ in card.buttons]
            await self.harness.press(card, labels.index("Approve"))
            await self.harness.settled()


@pytest.fixture
async def running(
    channel: str, database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Running]:
    """Run a worker with its own wakeups, poll and upkeep, and a web's inbox whose wakeups it hears."""
    gate = Gate()
    GATES.append(gate)
    async with ScriptedModel(answer) as model, opened(database_url) as store, ringing(redis_url) as wakeups:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        inbox = Inbox(store.database, wakeups, store.make_id, OPEN)
        async with (
            open_harness(HARNESSES[channel], inbox) as harness,
            open_worker(settings(harness, database_url, redis_url, tmp_path)),
        ):
            try:
                yield Running(harness, store, gate)
            finally:
                gate.opened.set()
    GATES.remove(gate)


@asynccontextmanager
async def ringing(redis_url: str) -> AsyncIterator[RedisWakeups]:
    """Yield wakeups as the web process has it."""
    wakeups = RedisWakeups(redis_url)
    await wakeups.start()
    try:
        yield wakeups
    finally:
        await wakeups.stop()


async def test_a_press_is_recorded_and_its_card_redrawn_while_a_tool_runs(
    running: Running, record_property: Callable[[str, object], None]
) -> None:
    harness, store, gate = running.harness, running.store, running.gate
    await harness.said("mail sam")
    card = await running.until_seen(lambda bubble: "sam@example.com" in bubble.text)
    await until_sent(store)
    await harness.said("and look that up")
    async with asyncio.timeout(PATIENCE):
        await gate.inside.wait()

    began = time.monotonic()
    await running.approve(card)
    recorded = time.monotonic() - began
    assert await store.db.approvals.one("state") == "approved", "with the provider's answer, it is recorded"
    drawn = await running.until_seen(lambda bubble: bubble.text.startswith("Approved ") or "Approved at" in bubble.text)
    seconds = time.monotonic() - began
    assert drawn.buttons == ()
    assert harness.name == "sms" or drawn.id == card.id, "the very card says so"
    assert await store.one("select count(*) from lanes where owner is not null") == 1
    assert not gate.opened.is_set()
    assert gate.sent == [], "the tool still runs, and the work that follows waits for it"
    record_property("recorded", round(recorded, 3))
    record_property("drawn", round(seconds, 3))
    print(f"{harness.name}: recorded after {recorded:.3f} s, drawn after {seconds:.3f} s")  # noqa: T201

    gate.opened.set()
    await running.until_seen(lambda bubble: "It is sent" in bubble.text)
    assert gate.sent == ["sam@example.com"]


async def until_sent(store: Store) -> None:
    """Wait until the card's receipt is written down."""
    await eventually(lambda: store.one("select count(*) = 1 from approvals where expires_at is not null"))


def answer(call: ModelCall) -> Reply:
    """Do what the person asks, by the tool for it."""
    results, words = call.tool_results, call.last_user
    if "Sent to" in str(results):
        return text("It is sent.")
    if "look" in words:
        return text("Found.") if "found" in str(results) else calls(("look_up", {}))
    return calls(("send_mail", {"to": "sam@example.com"}))


def settings(harness: ChannelHarness, database_url: str, redis_url: str, home: Path) -> Settings:
    """Configure a worker of one channel."""
    channel: dict[str, dict[str, Any]] = {
        "sms": {
            "twilio_account_sid": TWILIO.account_sid,
            "twilio_auth_token": TWILIO.auth_token,
            "twilio_from": TWILIO.number,
            "twilio_api_url": harness.simulator.twilio_url,
        },
        "slack": {
            "slack_bot_token": SLACK.bot_token,
            "slack_signing_secret": SLACK.signing_secret,
            "slack_api_url": harness.simulator.slack_url,
        },
        "telegram": {
            "telegram_bot_token": TELEGRAM.bot_token,
            "telegram_webhook_secret": WEBHOOK_SECRET,
            "telegram_api_url": harness.simulator.telegram_url,
        },
    }
    return Settings(
        _env_file=None,
        database_url=database_url,
        redis_url=redis_url,
        public_url=PUBLIC_URL,
        onevalet_home=home,
        onevalet_model="openai/scripted",
        onevalet_memory="off",
        onevalet_plugins="tests.plugins.gates",
        onevalet_secret_keys=base64.b64encode(bytes(32)).decode(),
        **channel[harness.name],
    )
