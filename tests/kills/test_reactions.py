"""A process is killed while it receives a reaction, or answers thanks; what is repeated then counts once."""

import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from abilities.reactions.thanks import Thanks
from core.json_types import JsonObject
from core.messaging.inbound import Reaction
from core.people.preferences import PreferenceStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import TelegramHarness
from tests.core.builders import FakeModel, says, wants
from tests.forker import Forker, plain_environment
from tests.kills.harness import RELEASE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes")]
MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "At noon?"}


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield a system in which Ada has talked."""
    async with open_approving(TelegramHarness, database_url, StandingClock(datetime.now(UTC))) as system:
        thanks = Thanks({"telegram": system.delivery.channel.sender})
        system.options = {"services": {Thanks: lambda _tenant, _turn: thanks}}
        system.model = FakeModel([says("Hello.")])
        await system.say("hello")
        yield system


type Die = Callable[..., Awaitable[None]]


@pytest.fixture
def die(forker: Forker, database_url: str, tmp_path: Path) -> Die:
    """Return what lets a process do what is ordered until it kills itself."""

    async def die(**order: Any) -> None:
        words, log = [database_url, json.dumps(order)], tmp_path / "victim.log"
        victim = forker.fork(words, plain_environment(), log, module="tests.kills.reacting_victim")
        assert await victim.wait() == -signal.SIGKILL, log.read_text()

    return die


def reaction_to(system: Approving, number: int, emoji: str) -> Reaction:
    """Return Ada's reaction to one of our messages."""
    channel = system.delivery.channel
    message = channel.bubbles()[number].id.rpartition(":")[2]
    address = channel.address()
    return Reaction(address, address.peer, ("update:77",), added=(emoji,), message=message)


@pytest.mark.parametrize("point", ["reacted_message after", "receive_press before", "receive_press after"])
async def test_promise_9_a_card_is_decided_once_if_a_reaction_kills_its_process(
    system: Approving, die: Die, point: str
) -> None:
    system.model = FakeModel([wants(("send_mail", MAIL)), says("I sent it.")])
    await system.say("mail sam about lunch")
    reaction = reaction_to(system, -1, "👍")
    await die(point=point, reaction=asdict(reaction))
    for _ in range(2):  # the provider sends again what was not acknowledged
        await system.delivery.store.inbox.accept(reaction)
        await system.work()
    assert (system.sent, await system.states()) == ([MAIL], ["approved"])
    reasons = await system.delivery.store.column("select reason from inbound where reason like 'reaction%'")
    assert reasons == ["reaction: approve"]


@pytest.mark.parametrize("point", ["receive_reaction before", "receive_reaction after"])
async def test_feedback_is_kept_once_if_a_reaction_kills_its_process(system: Approving, die: Die, point: str) -> None:
    reaction = reaction_to(system, 0, "👎")
    await die(point=point, reaction=asdict(reaction))
    await system.delivery.store.inbox.accept(reaction)
    rows = await system.delivery.store.admin.fetch("select emoji, given, liked from feedback")
    assert [tuple(row) for row in rows] == [("👎", True, False)]
    assert await system.delivery.store.one("select count(*) from inbound where reason = 'reaction: kept'") == 1


@pytest.mark.parametrize("point", ["finish_turn before", "finish_turn after"])
async def test_promise_5_thanks_get_one_reaction_if_that_kills_its_process(
    system: Approving, die: Die, point: str
) -> None:
    store, channel = system.delivery.store, system.delivery.channel
    await PreferenceStore(store.database).set(await store.db.person(), "thanks", "on")
    await channel.said("thanks")
    await die(point=point, telegram=channel.simulator.telegram_url)
    assert channel.reactions() == ["👍"]
    await store.admin.execute(RELEASE)
    system.model = FakeModel([])
    await system.work()
    assert (channel.reactions(), len(channel.bubbles())) == (["👍"], 1)
    states = await store.column("select state || ' ' || reason from turns order by started_at desc limit 1")
    assert states == ["done reaction"]
