"""Long polling against the emulated Telegram: the offset after the commit, one poller at a time, 409 survived."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import asyncpg
import pytest
from structlog.testing import capture_logs

from channels import polling
from channels.poll_lease import PollLease
from channels.telegram import poll
from channels.telegram.poll import Poller
from channels.telegram.receive import TelegramChannel
from core.clock import Clock
from core.db.database import Database
from core.json_types import Json, JsonObject
from core.messaging.channels import Check
from core.messaging.messages import IgnoredMessage, IgnoreReason
from core.messaging.stalls import POLL_TROUBLED, read_stalls
from providers.telegram.client import TelegramApi
from tests.channels.memory_sink import MemorySink
from tests.channels.telegram.builders import BOT_ID, make_channel
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.workbench.simulator.telegram_harness import Harness
from workbench.simulator.faults import FaultKind, Rule

GET_UPDATES = "telegram.getUpdates"
LONGEST_POLL = 50
"""Seconds that Telegram holds a poll at the most."""


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url, patience=1.0, size=4)
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll, "POLL_SECONDS", 1)
    monkeypatch.setattr(poll, "_CONFLICT_PAUSE", 0.05)
    monkeypatch.setattr(poll, "NOT_OURS_PAUSE", 0.05)
    monkeypatch.setattr(polling, "FIRST_PAUSE", 0.02)


@asynccontextmanager
async def running(harness: Harness, sink: MemorySink, database: Database) -> AsyncIterator[TelegramChannel]:
    channel = make_channel(sink, secret="", api_url=f"{harness.url}/telegram", database=database)
    await channel.start()
    try:
        yield channel
    finally:
        await channel.stop()


async def polling_check(channel: TelegramChannel) -> Check:
    return next(check for check in await channel.check() if check.what == "Telegram polling")


async def test_promise_1_updates_are_fetched_kept_and_confirmed(harness: Harness, database: Database) -> None:
    sink = MemorySink()
    await harness.act("start")
    await harness.act("say", text="before we came")
    async with running(harness, sink, database) as channel:
        await eventually(lambda: len(sink.accepted) == 2)
        for number in range(5):
            await harness.act("say", text=f"text {number}")
        await eventually(lambda: len(sink.accepted) == 7)
        await eventually(lambda: harness.telegram._world.updates.pending() == 0)
        assert (await polling_check(channel)).ok
    assert sink.texts() == ["/start", "before we came", *(f"text {number}" for number in range(5))]


async def test_promise_1_the_offset_stays_while_nothing_can_be_kept(harness: Harness, database: Database) -> None:
    sink = MemorySink(away=True)
    await harness.act("say", text="Hello")
    async with running(harness, sink, database):
        await eventually(lambda: sink.calls >= 2)
        assert harness.telegram._world.updates.pending() == 1
        sink.away = False
        await eventually(lambda: sink.texts() == ["Hello"])
        await eventually(lambda: harness.telegram._world.updates.pending() == 0)


async def test_promise_2_a_new_process_goes_on_where_the_last_one_ended(harness: Harness, database: Database) -> None:
    sink = MemorySink()
    await harness.act("say", text="first")
    async with running(harness, sink, database):
        await eventually(lambda: sink.texts() == ["first"])
    await harness.act("redeliver")
    await harness.act("say", text="second")
    async with running(harness, sink, database):
        await eventually(lambda: sink.texts() == ["first", "second"])
    assert sink.calls == 2  # the first was confirmed, so Telegram forgot it


async def test_one_of_many_processes_polls_and_another_takes_over(harness: Harness, database: Database) -> None:
    sinks = [MemorySink(), MemorySink()]
    async with running(harness, sinks[0], database) as first:
        await eventually(lambda: first._poller is not None and first._poller.reads)
        async with running(harness, sinks[1], database) as second:
            for number in range(5):
                await harness.act("say", text=str(number))
            await eventually(lambda: len(sinks[0].accepted) == 5)
            assert not sinks[1].calls
            assert (await polling_check(second)).ok
            await first.stop()
            await harness.act("say", text="after")
            await eventually(lambda: sinks[1].texts() == ["after"])
    conflicts = [call for call in harness.wire.journal.calls(provider="telegram") if '"error_code": 409' in str(call)]
    assert not conflicts


async def test_a_wait_of_a_day_is_asked_about_again_much_sooner(
    harness: Harness, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "MAX_WAIT", 0.05)
    harness.wire.faults.add(Rule(GET_UPDATES, FaultKind.RATE_LIMIT, seconds=86_400))
    sink = MemorySink()
    await harness.act("say", text="Hello")
    async with running(harness, sink, database):
        await eventually(lambda: sink.texts() == ["Hello"])


@pytest.mark.parametrize("updates", [[], [{"no": "number"}]])
async def test_a_server_that_holds_no_poll_is_not_asked_on_and_on(
    updates: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    class AtOnce:
        polls = 0

        async def get_updates(self, offset: int, seconds: int) -> list[Json]:
            self.polls += 1
            await asyncio.sleep(0)
            return updates

    class Held:
        async def claim(self) -> int:
            return 0

        async def keep(self, offset: int, problem: str = "") -> bool:
            return True

        async def release(self) -> None: ...

    async def take(update: JsonObject) -> None: ...

    monkeypatch.setattr(poll, "FLOOR", 0.1)
    api = AtOnce()
    poller = Poller(cast(TelegramApi, api), cast(PollLease, Held()), take, take, Clock())
    running = asyncio.create_task(poller.run())
    began = time.monotonic()
    await eventually(lambda: api.polls >= 5)
    spent = time.monotonic() - began
    poller.stop()
    await running
    assert api.polls <= spent / poll.FLOOR + 2


async def test_stopping_ends_a_long_poll_at_once(
    harness: Harness, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "POLL_SECONDS", LONGEST_POLL)
    async with running(harness, MemorySink(), database) as channel:
        await eventually(lambda: harness.telegram.is_polled, "a poll that is held")
        async with asyncio.timeout(LONGEST_POLL - 10):
            await channel.stop()


async def test_a_second_poller_turns_health_red_and_it_recovers_by_itself(harness: Harness, database: Database) -> None:
    sink = MemorySink()
    async with running(harness, sink, database) as channel:
        await harness.act("say", text="before")
        await eventually(lambda: sink.texts() == ["before"])
        await harness.act("second_poller", seconds=int(10 * PATIENCE))

        async def troubled() -> Check | None:
            check = await polling_check(channel)
            return None if check.ok else check

        check = await eventually(troubled, "red health")
        assert check is not None
        assert "terminated by other getUpdates request" in check.detail
        assert "another program" in check.fix
        seen = set[str]()  # between two refusals a poll may go well

        async def both_seen() -> bool:
            seen.update({channel.stall} & {POLL_TROUBLED})
            seen.update({f"telegram: {POLL_TROUBLED}"} & set(await read_stalls(database)))
            return len(seen) == 2

        await eventually(both_seen, "the stall here and in the database")
        await harness.act("say", text="during")
        await harness.act("second_poller", seconds=0)
        await eventually(lambda: sink.texts() == ["before", "during"])

        async def recovered() -> bool:
            stalled = channel.stall or f"telegram: {POLL_TROUBLED}" in await read_stalls(database)
            return not stalled and (await polling_check(channel)).ok

        await eventually(recovered, "green health")


async def test_promise_3_a_webhook_is_removed_and_nothing_pending_is_dropped(
    harness: Harness, database: Database
) -> None:
    sink = MemorySink()
    await harness.bot.set_webhook("https://localhost:8443/hook")  # nobody answers there
    await harness.act("say", text="waits")
    async with running(harness, sink, database):
        await eventually(lambda: sink.texts() == ["waits"])
    assert not (await harness.bot.get_webhook_info()).url


@pytest.mark.parametrize("kind", [FaultKind.SERVER_ERROR, FaultKind.RESET_BEFORE, FaultKind.RATE_LIMIT])
async def test_polling_goes_on_after_telegram_failed(harness: Harness, database: Database, kind: FaultKind) -> None:
    sink = MemorySink()
    harness.wire.faults.add(Rule(GET_UPDATES, kind, times=2, seconds=0.01))
    await harness.act("say", text="Hello")
    async with running(harness, sink, database):
        await eventually(lambda: sink.texts() == ["Hello"])


async def test_an_answer_that_was_lost_brings_the_updates_again(harness: Harness, database: Database) -> None:
    sink = MemorySink()
    await harness.act("say", text="Hello")
    harness.wire.faults.add(Rule(GET_UPDATES, FaultKind.RESET_AFTER, times=1))
    async with running(harness, sink, database):
        await eventually(lambda: sink.texts() == ["Hello"])


async def test_a_poison_update_does_not_block_the_others(harness: Harness, database: Database) -> None:
    sink = MemorySink(breaks_on="poison")
    with capture_logs() as logs:
        async with running(harness, sink, database):
            await harness.act("say", text="poison")
            await harness.act("say", text="after it")
            await eventually(lambda: sink.texts() == ["after it"])
    assert [entry for entry in logs if entry["event"] == "update_left_out"]
    (broken,) = [inbound for inbound in sink.accepted if isinstance(inbound, IgnoredMessage)]
    assert broken.reason is IgnoreReason.BROKEN


async def test_no_update_is_left_out_for_an_error_of_the_store(
    harness: Harness, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "MAX_PAUSE", 0.1)
    sink = MemorySink(breaks_on="poison", breaks_with=asyncpg.UndefinedFunctionError("a migration is missing"))
    with capture_logs() as logs:
        async with running(harness, sink, database):
            await harness.act("say", text="poison")
            await harness.act("say", text="after it")
            await eventually(lambda: sink.calls > 2 * polling.TRIES)
            assert harness.telegram._world.updates.pending() == 2
            sink.breaks_on = ""
            await eventually(lambda: sink.texts() == ["poison", "after it"])
    assert not [entry for entry in logs if entry["event"] == "update_left_out"]


async def test_an_update_that_cannot_be_read_is_recorded(harness: Harness, database: Database) -> None:
    sink = MemorySink()
    async with running(harness, sink, database):
        harness.telegram._world.updates.add("message", {"odd": 1}, queue="chat 1", life=60.0, person="ada")
        await harness.act("say", text="after it")
        await eventually(lambda: sink.texts() == ["after it"])
    (odd,) = [inbound for inbound in sink.accepted if isinstance(inbound, IgnoredMessage)]
    assert odd.reason is IgnoreReason.UNSUPPORTED


async def test_the_token_never_reaches_a_log(
    harness: Harness, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    sink = MemorySink()
    with caplog.at_level("DEBUG"), capture_logs() as logs:
        harness.wire.faults.add(Rule(GET_UPDATES, FaultKind.SERVER_ERROR))
        async with running(harness, sink, database) as channel:
            await harness.act("say", text="a private text")
            await eventually(lambda: sink.texts() == ["a private text"])
            await channel.check()
    # aiohttp's access log here is the emulated provider's own.
    ours = [record for record in caplog.records if record.name != "aiohttp.access"]
    assert {"httpcore.http11"} <= {record.name for record in ours}
    logged = f"{[record.getMessage() for record in ours]}{logs}"
    assert "telegram-token" not in logged
    assert "a private text" not in logged


async def test_the_lease_is_one_processs_until_it_ends(database: Database) -> None:
    lease = PollLease(database, channel="telegram", account=str(BOT_ID), owner="one")
    two = PollLease(database, channel="telegram", account=str(BOT_ID), owner="two")
    assert await lease.claim() == 0
    assert await two.claim() is None
    assert await lease.keep(42, "trouble")
    assert not await two.keep(7)
    assert (await two.look()).problem == "trouble"
    await database.rows("update channel_state set lease_until = clock_timestamp() - interval '1 second'")
    assert not (await two.look()).polled
    assert await two.claim() == 42
    assert not await lease.keep(99)
    assert await lease.claim() is None
    await two.release()
    assert await lease.claim() == 42
