"""Each statement of a delivery and a redraw, refused for good: what comes after goes on."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import asyncpg
import pytest
from structlog.testing import capture_logs

from core.messaging.messages import OutboundKind, OutboundMessage
from operations.doctor.database import check_writes
from operations.doctor.work import check_work
from tests.core.harness import opened
from tests.eventually import eventually
from tests.jobs.refusing_harness import Refusing, RefusingHarness
from tests.patience import PATIENCE

_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def quietly() -> Iterator[None]:
    """Draw no traceback of what is refused: drawing one takes longer than a delivery."""
    with capture_logs():
        yield


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[RefusingHarness]:
    database = Refusing(database_url)
    async with opened(database_url, database) as store:
        yield RefusingHarness(store, database)


async def _enqueue(system: RefusingHarness, sender: str, text: str) -> None:
    row = await system.store.admin.fetchrow("select tenant_id, id from conversations where peer = $1", sender)
    assert row is not None
    message = OutboundMessage(system.store.make_id("out"), OutboundKind.REPLY, text)
    await system.store.enqueue_in(row["tenant_id"], row["id"], [message])


async def _deliver(system: RefusingHarness) -> None:
    """Do what a worker's deliveries do, for a few rounds, over leases that run out."""
    for _ in range(4):
        with suppress(asyncpg.PostgresError):  # as core.queue.claim_loop does: logged, and looked at again
            await system.deliver()
        await system.store.expire()
        await system.store.make_due()


async def test_promise_4_a_refused_statement_lets_what_comes_after_be_sent(system: RefusingHarness) -> None:
    statements: list[str] = [""]
    for statement in statements:
        sender = f"+1555{next(_numbers):07}"
        await system.store.say("hello", sender=sender)
        await system.work()
        await system.deliver()
        await _enqueue(system, sender, f"first {sender}")
        system.database.seen.clear()
        system.database.refused = statement
        await (_deliver(system) if statement else system.deliver())
        system.database.refused = ""
        if not statement:
            statements += dict.fromkeys(system.database.seen)
        await _deliver(system)
        await _enqueue(system, sender, f"second {sender}")
        await _deliver(system)
        sent = [text for text in system.channel.texts if text.endswith(sender)]
        assert sent[-1] == f"second {sender}", statement
        assert sent.count(f"first {sender}") <= 1, statement
        assert await system.store.one("select count(*) from outbound where state in ('ready', 'sending')") == 0
    assert len(statements) > 3
    assert "failed" in await system.store.column("select distinct state from outbound")
    [trouble] = [check for check in await check_work(system.database) if check.what == "trouble"]
    assert not trouble.detail.startswith("0 ambiguous, 0 not deliverable")


async def test_promise_10_a_card_that_cannot_be_written_about_is_given_up(system: RefusingHarness) -> None:
    for number in range(2):
        await system.store.say("card please", sender=f"+155500000{number}0")
    sent_cards = "select count(*) from outbound where kind = 'card' and state = 'sent'"
    async with asyncio.timeout(PATIENCE):
        while await system.store.one(sent_cards) != 2:  # a turn that the database delays is taken up again
            await system.work()
            await system.deliver()
    for number in range(2):
        await system.store.say("no", sender=f"+155500000{number}0")
    assert await system.store.db.redraws.column("state") == ["due", "due"]
    drawing = system.redraws
    claim = await drawing.claim(None)
    assert claim is not None
    system.database.seen.clear()
    await drawing.run(claim)
    (refused,) = (statement for statement in system.database.seen if "update redraws r" in statement)
    system.database.refused = refused
    claim = await eventually(lambda: drawing.claim(None), "the next time that the database sets")
    assert claim is not None
    await drawing.run(claim)
    assert sorted(map(str, await system.store.db.redraws.column("state"))) == ["given_up", "given_up"]
    reasons = await system.store.db.redraws.column("reason", outbound_id=claim.outbound_id)
    assert reasons == ["the database refuses it"]
    [aside] = [check for check in await check_writes(system.database) if check.what == "not tried any more"]
    assert "2 cards" in aside.detail
