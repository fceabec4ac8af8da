"""Promise 3: what providers kept while we were away comes in through the same inbox, once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from channels.sms.receive import SmsChannel
from core.clock import Clock, set_clock
from core.errors import StoreUnavailable, Unavailable
from core.inbox.inbox import Inbox
from core.messaging.channels import WHOLE, InboundSink, Received, Sweep
from core.messaging.inbound import Inbound
from jobs.upkeep.catchup import CatchUp
from tests.core.harness import Store
from tests.patience import PATIENCE
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import PEOPLE, SimulatorConfig, TwilioConfig

ADA = PEOPLE[0]


@pytest.fixture
async def away() -> AsyncIterator[Simulator]:
    """A provider whose webhooks reach nobody: the gateway is away."""
    config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url="https://valet.example", pace=0.01)
    async with serve_simulator(config, Clock()) as simulator:
        yield simulator


def _sms(
    store: Store, simulator: Simulator, kind: type[SmsChannel] = SmsChannel, sink: InboundSink | None = None
) -> SmsChannel:
    twilio = TwilioConfig()
    return kind(
        account_sid=twilio.account_sid,
        auth_token=twilio.auth_token,
        sender=twilio.number,
        public_url="https://valet.example",
        api_url=simulator.twilio_url,
        sink=sink or store.inbox,
    )


async def _say(simulator: Simulator, text: str) -> None:
    await simulator.providers["twilio"].act(ADA.key, "say", {"text": text, "wait": True})


async def test_promise_3_texts_without_a_webhook_are_found_once_and_in_order(store: Store, away: Simulator) -> None:
    sms = _sms(store, away)
    sweeper = CatchUp([sms], store.database, "w1")
    try:
        await _say(away, "from before we were there")
        assert await sweeper.sweep(sms) == 0, "the first sweep only sets the mark"
        await store.admin.execute("update channel_state set watermark = watermark + interval '6 minutes'")
        assert await sweeper.sweep(sms) == 0
        await store.db.channel_state.change({"watermark": datetime.now(UTC)})
        for number in range(3):
            await _say(away, f"missed {number}")
        assert await sweeper.sweep(sms) == 4, "the overlap of five minutes brings the old one too"
        assert await sweeper.sweep(sms) == 0
        texts = await store.db.inbound.column("text", order="seq")
        assert texts[1:] == ["missed 0", "missed 1", "missed 2"]
    finally:
        await sms.stop()


async def test_one_worker_sweeps_at_a_time_and_a_dead_one_is_followed(store: Store, away: Simulator) -> None:
    sms = _sms(store, away)
    try:
        await CatchUp([sms], store.database, "w1").sweep(sms)
        await store.admin.execute(
            "update channel_state set sweep_owner = 'dead', sweep_until = clock_timestamp() + interval '1 minute'"
        )
        assert await CatchUp([sms], store.database, "w2").sweep(sms) is None
        await store.admin.execute("update channel_state set sweep_until = clock_timestamp() - interval '1 second'")
        assert await CatchUp([sms], store.database, "w2").sweep(sms) == 0
    finally:
        await sms.stop()


async def test_a_sweep_that_fails_leaves_the_mark_where_it_was(store: Store, away: Simulator) -> None:
    class Failing(SmsChannel):
        async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
            raise Unavailable("away")

    sms = _sms(store, away, Failing)
    sweeper = CatchUp([sms], store.database, "w1")
    try:
        await sweeper.sweep(sms)
        before = await store.db.channel_state.one("watermark")
        assert await sweeper.sweep(sms) is None
        assert await store.db.channel_state.one("watermark") == before
    finally:
        await sms.stop()


class Cutting:
    """An inbox of processes that die: each takes in so many, and no more."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.left = 0

    async def accept(self, inbound: Inbound) -> Received:
        """Take it in, or die."""
        if self.left == 0:
            raise StoreUnavailable("killed")
        self.left -= 1
        return await self.inbox.accept(inbound)


async def test_promise_3_a_repeatedly_interrupted_sweep_still_completes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.sms.catchup._REMEMBERED_EVERY", 3)
    clock = tmp_path / "clock.json"
    config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url="https://valet.example", pace=0.01)
    async with serve_simulator(config, Clock(clock)) as away:
        for number in range(40):
            set_clock(clock, offset=(number - 42) * 3 * 3600.0)  # over five days
            await _say(away, f"missed {number}")
        cutting = Cutting(store.inbox)
        sms = _sms(store, away, sink=cutting)
        try:
            await CatchUp([sms], store.database, "w").sweep(sms)
            first = datetime.now(UTC) - timedelta(days=6)
            await store.db.channel_state.change({"watermark": first})
            lives, places = 0, []
            while await CatchUp([sms], store.database, f"w{lives}").sweep(sms) is None:
                assert await store.db.channel_state.one("watermark") == first, "not before its end"
                lives, cutting.left = lives + 1, 8
                places.append(str(await store.db.channel_state.one("sweep_place")))
                assert lives < 15
        finally:
            await sms.stop()
    assert await store.db.inbound.column("text", order="seq") == [f"missed {n}" for n in range(40)]
    assert 5 <= lives <= 9
    assert places == sorted(places)
    assert len({place[:10] for place in places if place}) > 1, "over several days"
    row = await store.admin.fetchrow("select watermark > $1, sweep_place, sweep_began from channel_state", first)
    assert row is not None
    assert tuple(row) == (True, "", None)


async def test_who_lost_the_sweep_to_another_stops_and_leaves_its_place_alone(store: Store, away: Simulator) -> None:
    class Late(SmsChannel):
        async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
            await sweep.reached("2026-01-01")
            await store.db.channel_state.change({"sweep_owner": "other"})
            await sweep.reached("2026-01-02")
            raise AssertionError("it went on")

    sms = _sms(store, away, Late)
    sweeper = CatchUp([sms], store.database, "w1")
    try:
        await sweeper.sweep(sms)
        assert await sweeper.sweep(sms) is None
        row = await store.admin.fetchrow("select sweep_owner, sweep_place from channel_state")
        assert row is not None
        assert tuple(row) == ("other", "2026-01-01")
    finally:
        await sms.stop()


class OddChannel(SmsChannel):
    """A channel that meets something that nobody thought of."""

    async def identify(self) -> None:
        """Meet it."""
        raise KeyError("odd")


async def test_what_one_channel_cannot_read_keeps_no_other_from_being_swept(store: Store, away: Simulator) -> None:
    odd, sms = _sms(store, away, OddChannel), _sms(store, away)
    await asyncio.wait_for(CatchUp([odd, sms], store.database, "w1").once(), PATIENCE)
    assert await store.column("select channel from channel_state where watermark is not null") == ["sms"]
    await sms.stop()
