"""What a message costs in round trips: counted on the wire, so that the figures hold on any machine."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import Monitor

from core.inbox.inbox import Inbox
from core.messaging.due_messages import Claim
from core.queue.claim_loop import Runner
from core.queue.wakeups import NoWakeups
from core.turns.store import HISTORY_ROWS
from jobs.later.queueing import TAKING
from jobs.turns.messages import Sender
from onevalet.migrating import migrate
from onevalet.supervision.worker_start import ALONE
from onevalet.wiring.worker import open_worker
from onevalet.wiring.worker_parts import WorkerParts
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import ChannelHarness, open_harness
from tests.contract.test_redraw_at_once import ringing, settings
from tests.core.harness import OPEN, Store, opened
from tests.eventually import eventually
from tests.postgres_meter import PostgresMeter, metered, rows_read, wal_flushes
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from tests.services import private_postgres, private_valkey

PLAIN_ROUND_TRIPS, PLAIN_TRANSACTIONS, PLAIN_FLUSHES = 4, 4, 3
TOOLS_ROUND_TRIPS, TOOLS_TRANSACTIONS, TOOLS_FLUSHES = 5, 5, 3
"""Ceilings: lower them with each round trip that is saved. One reads which skills the person has."""
ACTING_FLUSHES = 4
"""With two tools that act: that both begin."""
LOOK, WRITE = "select turn_news(", "select record_step("
"""A round trip more where the machine is so slow that what a write told of further messages has become old."""
COMMANDS = 3.5
"""Of Redis, for a plain message: its wakeup is two, and the rates are one."""
BY_TIME = frozenset({"XREADGROUP", "XAUTOCLAIM", "ZRANGEBYSCORE", "INFO", "PING"})
"""What a worker asks now and then whether anybody writes or not: more often a message, the slower the machine."""
MESSAGES, MARK = 20, "so far"
OLD_MESSAGES = """
with added as (
    insert into history (tenant_id, conversation_id, position, session, message)
    select c.tenant_id, c.id, c.history_seq + n, c.session, '{"role": "user", "text": "said long ago"}'
    from conversations c, generate_series(1, 5000) n returning 1)
update conversations set history_seq = history_seq + 5000
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("model")]


@dataclass(slots=True)
class Metered:
    """A worker's parts as `onevalet worker` has them, without its polls and upkeep, behind a meter."""

    harness: ChannelHarness
    store: Store
    parts: WorkerParts
    meter: PostgresMeter
    model: ScriptedModel
    sending: Runner[Claim]
    """What a worker sends its answers by."""

    async def answer(self, words: str) -> None:
        """Let the person write, and let the worker do what a wakeup for it leads to."""
        await self.harness.said(words)
        self.meter.clear()
        lane = str(await self.store.db.lanes.one("id"))
        lease = await self.parts.turns.claim(lane)
        assert lease is not None
        await self.parts.turns.run(lease)
        await self.sending.room()

    def looks(self) -> int:
        """Return how often the turn had to ask what has reached it, alone or as it wrote what waited."""
        asked, written = (sum(each.startswith(start) for each in self.meter.statements) for start in (LOOK, WRITE))
        assert written <= 2, "the calls of an answer, and what they read"
        return asked + max(written - 1, 0)


@pytest.fixture
async def running(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Metered]:
    async with open_metered(database_url, redis_url, tmp_path, monkeypatch) as metered_worker:
        yield metered_worker


@asynccontextmanager
async def open_metered(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **more: object
) -> AsyncIterator[Metered]:
    """Yield a worker of SMS with three tools, and `more` settings; whatever else there is waits for no flush."""
    unflushed = f"{database_url}{'&' if '?' in database_url else '?'}synchronous_commit=off"
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(answer))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        store = await stack.enter_async_context(opened(unflushed))
        inbox = Inbox(store.database, NoWakeups(), store.make_id, OPEN)
        harness = await stack.enter_async_context(open_harness(HARNESSES["sms"], inbox))
        meter = await stack.enter_async_context(metered(database_url))
        configured = settings(harness, meter.url, redis_url, tmp_path).model_copy(
            update={"onevalet_plugins": ("agents.arithmetic", "agents.clock", "tests.plugins.acting")} | more
        )
        parts = await WorkerParts.open(stack, configured, ALONE)
        sending = Runner("delivery", parts.delivery.claim, parts.delivery.run, slots=1)
        claim_after = partial(parts.delivery.outbox.claim_after, worker=parts.delivery.worker)
        parts.turns.send_by(Sender(sending.hold, claim_after))
        yield Metered(harness, store, parts, meter, model, sending)


async def test_a_plain_message_costs_the_worker_few_round_trips(running: Metered) -> None:
    await running.answer("hello")  # what is prepared and remembered once
    await running.answer("hello again")
    assert len(running.model.calls) == 2, "one a message"
    looks = running.looks()
    assert looks <= 1
    assert len(running.meter.statements) - looks <= PLAIN_ROUND_TRIPS, running.meter.statements
    assert running.meter.transactions - looks <= PLAIN_TRANSACTIONS


async def test_a_message_with_two_tools_costs_the_worker_few_round_trips(running: Metered) -> None:
    await running.answer("hello")
    await running.answer("add")
    assert len(running.model.calls) == 3, "one a message, and one more for its tools"
    total, now = running.model.calls[-1].tool_results.values()
    assert (total, now[:6]) == ("3", "It is "), "both ran"
    looks = running.looks()
    assert looks <= 2
    assert len(running.meter.statements) - looks <= TOOLS_ROUND_TRIPS, running.meter.statements
    assert running.meter.transactions - looks <= TOOLS_TRANSACTIONS


async def test_a_message_waits_for_few_flushes_and_reads_no_more_than_its_window(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        async with open_metered(postgres.url, redis_url, tmp_path, monkeypatch) as running:
            for words, flushes in (("hello", PLAIN_FLUSHES), ("add", TOOLS_FLUSHES), ("post", ACTING_FLUSHES)):
                await running.answer(words)
                before = await wal_flushes(postgres.url)
                await running.answer(words)
                assert await wal_flushes(postgres.url) - before <= flushes
            admin = running.store.admin
            await admin.execute(OLD_MESSAGES)
            for newer in (0, 1):
                await admin.execute("update conversations set session = session + $1", newer)
                await running.answer("hello")
                before = await rows_read(admin, "history")
                await running.answer("hello")
                assert await rows_read(admin, "history") - before <= HISTORY_ROWS + 20


async def test_a_plain_message_costs_few_commands_of_redis(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(answer))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        valkey = await stack.enter_async_context(private_valkey())
        store = await stack.enter_async_context(opened(database_url))
        wakeups = await stack.enter_async_context(ringing(valkey.url))
        inbox = Inbox(store.database, wakeups, store.make_id, OPEN)
        harness = await stack.enter_async_context(open_harness(HARNESSES["sms"], inbox))
        await stack.enter_async_context(open_worker(settings(harness, database_url, valkey.url, tmp_path)))
        redis = await stack.enter_async_context(Redis.from_url(valkey.url))
        async with redis.monitor() as monitor:
            for number in range(MESSAGES + 1):
                await harness.said("hello")
                await eventually(partial(answered, harness, number + 1))
                if number == 0:
                    await marked(monitor, valkey.url)
            commands = await marked(monitor, valkey.url, without=TAKING)
    assert of_messages(commands) <= MESSAGES * COMMANDS, commands


def of_messages(commands: Counter[str]) -> int:
    """Return how many of the commands messages lead to."""
    # A question for the next wakeup that finds none within its time is asked again: each wakeup ends one at most.
    waits = min(commands["BZPOPMIN"], commands["ZADD"])
    return waits + sum(count for name, count in commands.items() if name not in BY_TIME | {"BZPOPMIN"})


async def marked(monitor: Monitor, redis_url: str, without: str = "") -> Counter[str]:
    """Return the commands since the last mark, without our own, those of new connections, and those inside scripts.

    `without`: the name of connections that are left out, as what they ask comes with time, and not with messages.
    """
    commands: Counter[str] = Counter()
    async with Redis.from_url(redis_url) as redis:
        clients = await redis.client_list() if without else []
        ports = {client["addr"].rsplit(":")[-1] for client in clients if client["name"] == without}
        assert bool(ports) is bool(without)
        await redis.echo(MARK)
    async for entry in monitor.listen():
        if MARK in entry["command"]:
            return commands
        if entry["client_port"] in ports:
            continue
        if entry["client_type"] != "lua" and not entry["command"].startswith(("AUTH", "CLIENT", "HELLO", "SELECT")):
            commands[entry["command"].split()[0]] += 1
    raise AssertionError


def answered(harness: ChannelHarness, count: int) -> bool:
    """Return whether so many answers came."""
    return len(harness.bubbles()) == count


def answer(call: ModelCall) -> Reply:
    """Use two tools where the person asks for a sum, and two that act where they ask to post."""
    if call.last_user.startswith("add") and call.messages[-1]["role"] != "tool":
        return calls(("calculate", {"expression": "1 + 2"}), ("current_time", {}))
    if call.last_user.startswith("post") and call.messages[-1]["role"] != "tool":
        return calls(("post", {"text": "tea"}), ("post", {"text": "milk"}))
    return text("Hello.")
