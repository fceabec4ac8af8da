"""STOP and its kin from a phone to the ledger and back: the real route, the real outbox, Twilio as emulated."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from channels.http.app import build_app, serve
from channels.sms.receive import SmsChannel
from channels.sms.texts import OPTED_IN_REPLY, OPTED_OUT_REPLY
from core.inbox.inbox import Inbox
from core.messaging.messages import ReachabilityChange, ReachabilityReason
from jobs.delivery.runner import DeliveryRunner
from notify.sms.send import SmsNotification
from tests.core.harness import OPEN, Store, opened
from tests.core.language.english import english_in
from tests.jobs.worker_harness import WorkerHarness
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock, TwilioConfig
from workbench.simulator.twilio.optout import REPLIES

PUBLIC_URL = "https://valet.example.com"
ADA = "+14155550101"
STOPS = ("STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT")
STARTS = ("START", "UNSTOP")
HELPS = ("HELP", "INFO")
SHAPES: tuple[Callable[[str], str], ...] = (str, str.lower, str.title, lambda w: f"  {w}\n")
PUNCTUATED: tuple[Callable[[str], str], ...] = (lambda w: f"{w}.", lambda w: f"{w.lower()} !", lambda w: f'"{w}"')


@dataclass(slots=True)
class Phone:
    """Ada's phone, and the whole way between it and the store."""

    store: Store
    simulator: Simulator
    channel: SmsChannel
    sms: SmsNotification

    async def say(self, text: str) -> None:
        """Text us, and let everything be done about it."""
        await self.simulator.providers["twilio"].act("ada", "say", {"text": text, "wait": True})
        await self.work()

    async def work(self) -> None:
        """Run all turns and deliveries that are due."""
        await WorkerHarness(self.store).run_turns()
        runner = DeliveryRunner(self.store.outbox, {"sms": self.sms}, "w1")
        while claim := await runner.claim(None):
            await runner.run(claim)

    def heard(self) -> list[str]:
        """Return what arrived on the phone, in order."""
        state: Any = self.simulator.providers["twilio"].state()
        return [b["text"] for b in state["people"]["ada"]["bubbles"] if b["direction"] == "out"]

    async def states(self) -> list[str]:
        """Return the states of Ada's identities."""
        return [str(s) for s in await self.store.db.identities.column("state")]

    async def turns(self) -> int:
        """Count the turns."""
        count = await self.store.db.turns.count()
        assert isinstance(count, int)
        return count


type Phones = Callable[..., AbstractAsyncContextManager[Phone]]


@pytest.fixture
def phone(database_url: str) -> Phones:
    """Yield what makes a phone: `ours`, we answer STOP; `tells`, Twilio says what it took the word for."""

    @asynccontextmanager
    async def make(*, ours: bool, tells: bool = False) -> AsyncIterator[Phone]:
        twilio = TwilioConfig(answers_stop=not ours, tells_opt_out=tells)
        config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url=PUBLIC_URL, twilio=twilio, pace=0.01)
        async with opened(database_url) as store, serve_simulator(config, SystemClock()) as simulator:
            account: dict[str, Any] = {
                "account_sid": twilio.account_sid,
                "auth_token": twilio.auth_token,
                "sender": twilio.number,
                "public_url": PUBLIC_URL,
                "api_url": simulator.twilio_url,
            }
            inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN)
            channel = SmsChannel(**account, carrier_answers=not ours, sink=inbox)
            sms = SmsNotification(**account)
            async with serve(build_app([channel], ready=store.database.ready), "127.0.0.1", 0) as port:
                simulator.wire.connect_gateway(f"http://127.0.0.1:{port}", PUBLIC_URL)
                yield Phone(store, simulator, channel, sms)
            await channel.stop()
            await sms.close()

    return make


@pytest.mark.parametrize("tells", [False, True])
async def test_promise_8_every_twilio_keyword_works_and_only_twilio_replies(phone: Phones, tells: bool) -> None:
    async with phone(ours=False, tells=tells) as ada:
        await ada.say("hello")
        assert ada.heard() == ["re hello"]
        for word, shape in itertools.product(STOPS, SHAPES):
            before = len(ada.heard())
            await ada.say(shape(word))
            assert await ada.states() == ["stopped"], shape(word)
            await ada.say(STARTS[len(word) % 2])
            assert await ada.states() == ["active"], shape(word)
            assert ada.heard()[before:] == [REPLIES["STOP"], REPLIES["START"]]
        before = len(ada.heard())
        for word, shape in itertools.product(HELPS, SHAPES):
            await ada.say(shape(word))
        assert ada.heard()[before:] == [REPLIES["HELP"]] * len(HELPS) * len(SHAPES)
        assert await ada.turns() == 1


async def test_promise_8_each_stop_is_confirmed_once_where_the_carrier_does_not(phone: Phones) -> None:
    async with phone(ours=True) as ada:
        await ada.say("hello")
        shapes = itertools.cycle((*SHAPES, *PUNCTUATED))
        for word, shape in zip((*STOPS, *STOPS), shapes, strict=False):
            await _forget_how_often(ada)
            before = len(ada.heard())
            await ada.say(shape(word))
            await ada.say(word)  # said again: nothing from any path
            await ada.say("are you there?")
            assert ada.heard()[before:] == [OPTED_OUT_REPLY], shape(word)
            await ada.say("START")
            await ada.say("START")
            assert ada.heard()[before:] == [OPTED_OUT_REPLY, OPTED_IN_REPLY], shape(word)
        assert await ada.turns() == 1
        await ada.say("hello again")
        assert ada.heard()[-1] == "re hello again"


@pytest.mark.parametrize("language", ["de", "zh"])
async def test_stop_and_start_are_confirmed_in_the_persons_language(phone: Phones, language: str) -> None:
    async with phone(ours=True) as ada:
        await ada.say("hello")
        await ada.store.db.tenants.change({"language": language, "language_from": ""})
        for word in ("STOP", "START", "HELP"):
            before = len(ada.heard())
            await ada.say(word)
            [said] = ada.heard()[before:]
            assert english_in(said, language) == []


async def test_help_is_answered_by_us_where_the_carrier_does_not(phone: Phones) -> None:
    async with phone(ours=True) as ada:
        for word in HELPS:
            before = len(ada.heard())
            await ada.say(word)
            [answer] = ada.heard()[before:]
            assert "STOP" in answer


async def test_promise_8_messages_ready_at_a_stop_stay_unsent_even_after_start(phone: Phones) -> None:
    async with phone(ours=True) as ada:
        await ada.say("hello")
        async with ada.store.database.tenant(await ada.store.db.person()) as connection:
            await connection.execute(
                "select enqueue(tenant_id, id, null, $1) from conversations",
                [{"id": f"out_{kind}", "kind": kind, "text": kind} for kind in ("notification", "receipt", "card")],
            )
        for key, reachable in (("k1", False), ("k2", True)):
            reason = ReachabilityReason.OPTED_IN if reachable else ReachabilityReason.OPTED_OUT
            change = ReachabilityChange("sms", ada.channel.account, ADA, reachable, reason, (key,))
            await Inbox(ada.store.database, ada.store.wakeups, ada.store.make_id, OPEN).accept(change)
        await ada.work()
        assert ada.heard() == ["re hello"]
        assert set(await ada.store.column("select state from outbound where turn_id is null")) == {"failed"}


async def test_repeated_stop_and_start_is_not_confirmed_every_time(phone: Phones) -> None:
    async with phone(ours=True) as ada:
        await ada.say("hello")
        for _ in range(12):
            await ada.say("STOP")
            await ada.say("START")
        assert await ada.states() == ["active"]
        assert ada.heard().count(OPTED_OUT_REPLY) == ada.heard().count(OPTED_IN_REPLY) == 5


async def test_promise_8_a_refusal_by_twilio_feeds_the_same_ledger(phone: Phones) -> None:
    async with phone(ours=False) as ada:
        await ada.say("hello")
        # Twilio knows of a STOP that we were never told of: at once it is ours too, and nothing more is tried.
        ada.simulator.providers["twilio"]._store.stopped.add((ada.channel.account, ADA))  # type: ignore[attr-defined]
        await ada.say("still there?")
        assert await ada.states() == ["stopped"]
        await ada.say("and now?")
        assert await ada.store.column("select error_code from deliveries where error_code <> ''") == ["21610"]
        await ada.say("START")
        await ada.say("hello again")
        assert ada.heard()[-1] == "re hello again"
        rows = await ada.store.admin.fetch("select user_key, state, how from consents order by id")
        assert [tuple(row) for row in rows] == [(ADA, "stopped", "rejected 21610"), (ADA, "active", "started")]


async def test_yes_starts_again_and_is_still_an_answer(phone: Phones) -> None:
    async with phone(ours=True) as ada:
        await ada.say("hello")
        await ada.say("STOP")
        await ada.say("yes")
        assert ada.heard()[-2:] == [OPTED_IN_REPLY, "re yes"]


async def _forget_how_often(ada: Phone) -> None:
    await ada.store.db.consents.delete()
