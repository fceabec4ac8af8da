"""Each statement of a delivery, a redraw and a job of memory, refused for good: what comes after goes on."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import asyncpg
import pytest
from structlog.testing import capture_logs

from core.messaging.messages import OutboundKind, OutboundMessage
from jobs.memory import MemoryRunner
from onevalet.cli.doctor import _database
from tests.core.harness import opened
from tests.core.memory.harness import make_momex
from tests.jobs.refusing_harness import Refusing, RefusingOffice

_READING = "select turn_id, collection, messages, infer from memory_jobs where tenant_id = $1 and id = $2"
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def quietly() -> Iterator[None]:
    """Draw no traceback of what is refused: drawing one takes longer than a delivery."""
    with capture_logs():
        yield


@pytest.fixture
async def office(database_url: str) -> AsyncIterator[RefusingOffice]:
    database = Refusing(database_url)
    async with opened(database_url, database) as store:
        yield RefusingOffice(store, database)


async def _owe(office: RefusingOffice, sender: str, text: str) -> None:
    row = await office.store.eye.fetchrow("select tenant_id, id from conversations where peer = $1", sender)
    assert row is not None
    message = OutboundMessage(office.store.make_id("out"), OutboundKind.REPLY, text)
    await office.store.outbox.owe(row["tenant_id"], row["id"], [message])


async def _deliver(office: RefusingOffice) -> None:
    """Do what a worker's deliveries do, for a few rounds, over leases that run out."""
    for _ in range(4):
        with suppress(asyncpg.PostgresError):  # as jobs.claim_loop does: logged, and looked at again
            await office.deliver()
        await office.store.expire()
        await office.store.make_due()


@pytest.mark.timeout(120)
async def test_promise_4_a_refused_statement_lets_what_comes_after_be_sent(office: RefusingOffice) -> None:
    statements: list[str] = [""]
    for statement in statements:
        sender = f"+1555{next(_numbers):07}"
        await office.store.say("hello", sender=sender)
        await office.work()
        await office.deliver()
        await _owe(office, sender, f"first {sender}")
        office.database.seen.clear()
        office.database.refused = statement
        await (_deliver(office) if statement else office.deliver())
        office.database.refused = ""
        if not statement:
            statements += dict.fromkeys(office.database.seen)
        await _deliver(office)
        await _owe(office, sender, f"second {sender}")
        await _deliver(office)
        sent = [text for text in office.channel.texts if text.endswith(sender)]
        assert sent[-1] == f"second {sender}", statement
        assert sent.count(f"first {sender}") <= 1, statement
        assert await office.store.one("select count(*) from outbound where state in ('ready', 'sending')") == 0
    assert len(statements) > 5
    assert "failed" in await office.store.column("select distinct state from outbound")
    [trouble] = [one for one in await _database(office.database) if one.what == "trouble"]
    assert not trouble.detail.startswith("0 ambiguous, 0 not deliverable")


async def test_promise_10_a_card_that_cannot_be_written_about_is_given_up(office: RefusingOffice) -> None:
    for number in range(2):
        await office.store.say("card please", sender=f"+155500000{number}0")
    sent_cards = "select count(*) from outbound where kind = 'card' and state = 'sent'"
    async with asyncio.timeout(60):
        while await office.store.one(sent_cards) != 2:  # a turn that the database delays is taken up again
            await office.work()
            await office.deliver()
    for number in range(2):
        await office.store.say("no", sender=f"+155500000{number}0")
    assert await office.store.column("select state from redraws") == ["due", "due"]
    drawing = office.redraws
    claim = await drawing.claim(None)
    assert claim is not None
    office.database.seen.clear()
    await drawing.run(claim)
    (refused,) = (one for one in office.database.seen if one.startswith("select end_redraw("))
    office.database.refused = refused
    async with asyncio.timeout(20):
        while (claim := await drawing.claim(None)) is None:  # noqa: ASYNC110 - the database decides when
            await asyncio.sleep(0.05)
    await drawing.run(claim)
    assert sorted(map(str, await office.store.column("select state from redraws"))) == ["given_up", "given_up"]
    reasons = await office.store.column("select reason from redraws where outbound_id = $1", claim.outbound_id)
    assert reasons == ["the database refuses it"]
    [aside] = [one for one in await _database(office.database) if one.what == "not tried any more"]
    assert "2 cards" in aside.detail


async def test_a_job_of_memory_that_always_fails_is_set_aside_and_shown(office: RefusingOffice) -> None:
    momex = make_momex(office.database)
    runner = MemoryRunner(momex.work, "w1")
    await office.store.say("I like tea")
    await office.work()
    office.database.seen.clear()
    tries = 0
    while (job := await runner.claim(None)) and tries < 50:
        tries += 1
        office.database.refused = _READING
        with pytest.raises(asyncpg.PostgresError):
            await runner.run(job)
        office.database.refused = ""
        await office.store.eye.execute(
            "update memory_jobs set not_before = clock_timestamp() where not_before < 'infinity'"
        )
    assert tries == 10
    [aside] = [one for one in await _database(office.database) if one.what == "not tried any more"]
    assert aside.detail.startswith("1 of memory's jobs")
    await momex.close()
