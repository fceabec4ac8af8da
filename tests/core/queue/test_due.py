"""What is due, and when to look again: nothing that could be claimed is left out, nothing told without reason."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.queue.due import DueWatch, DueWork
from tests.clocks import StandingClock
from tests.core.harness import Store

LATER = 60.0
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

TASK = (
    "insert into tasks (tenant_id, id, number, title, kind, trigger, action, anchor, due_at, next_at, created_at)"
    " select tenant_id, 'task', 1, 'T', 'schedule', '{}', '{}', $1, $1, $1, $1 from tenants"
)


async def due(store: Store, now: datetime | None = NOW) -> dict[str, float]:
    """Return what is due, and in how many seconds."""
    rows = await store.database.rows("select * from what_is_due($1)", now)
    return {row["work"]: row["wait"] for row in rows}


async def test_nothing_is_due_where_nothing_waits(store: Store) -> None:
    assert await due(store) == {}
    await store.enqueue("Hello.")
    claim = await store.claim_sending("Hello.")
    await store.send(claim)
    await store.admin.execute("delete from memory_jobs; delete from profile_jobs")
    assert await due(store) == {}, "all is answered and sent"


async def test_a_message_is_due_at_once_and_its_turn_when_its_lease_ends(store: Store) -> None:
    await store.say("hello")
    assert (await due(store))["turns"] <= 0
    lease, _ = await store.claim_turn()
    assert 0 < (await due(store))["turns"] <= 30, "a worker holds it: a dead one's is free when its lease ends"
    await store.turns.leave(lease, timedelta(seconds=LATER))
    assert 30 < (await due(store))["turns"] <= LATER


async def test_an_answer_is_due_at_once_or_when_its_sender_should_be_done(store: Store) -> None:
    await store.enqueue("Hello.")
    assert (await due(store))["deliveries"] <= 0
    await store.claim_sending("Hello.")
    assert 0 < (await due(store))["deliveries"] <= 30
    await store.expire()
    assert (await due(store))["deliveries"] <= 0
    await store.admin.execute("update outbound set next_attempt_at = clock_timestamp() + interval '1 minute'")
    assert 30 < (await due(store))["deliveries"] <= LATER


async def test_an_account_is_due_when_it_is_looked_after_next(store: Store) -> None:
    await store.say("hello")
    await store.admin.execute(
        "insert into data_keys (tenant_id, version, secret_key_id, wrapped) select tenant_id, 1, 'k', '' from tenants;"
        "insert into credentials (tenant_id, service, account_name, key_version, credentials_json)"
        " select tenant_id, 'work', 'primary', 1, '' from tenants"
    )
    assert "accounts" not in await due(store)
    await store.admin.execute("update credentials set attend_at = clock_timestamp() + interval '1 minute'")
    assert 30 < (await due(store))["accounts"] <= LATER
    assert 30 < (await due(store, None))["accounts"] <= LATER, "whatever people's time is"


async def test_a_task_is_due_by_peoples_time_and_never_while_that_is_unknown(store: Store) -> None:
    await store.say("hello")
    await store.admin.execute(TASK, NOW + timedelta(seconds=LATER))
    assert (await due(store))["tasks"] == pytest.approx(LATER, abs=1)
    assert (await due(store, NOW + timedelta(seconds=LATER)))["tasks"] <= 0
    assert "tasks" not in await due(store, None)


@pytest.mark.parametrize(
    ("work", "statement"),
    [
        (
            "redraws",
            "insert into redraws (tenant_id, outbound_id, outcome, outcome_at)"
            " select tenant_id, id, '', now() from outbound",
        ),
        ("quarantine", "update turns set state = 'running', quarantined = true, finished_at = null"),
        (
            "notifications",
            "insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at)"
            " select tenant_id, 'n', 'c', 'normal', 't', 'k', 'failed', now() from tenants",
        ),
        ("approvals", "insert into approval_cards select tenant_id, id, 'a', 'number' from outbound"),
    ],
)
async def test_each_kind_of_work_is_named(store: Store, work: str, statement: str) -> None:
    await store.enqueue("Hello.")
    await store.admin.execute("delete from memory_jobs; delete from profile_jobs")
    assert work not in await due(store)
    await store.admin.execute("set session_replication_role = replica")  # the row alone, without what it belongs to
    await store.admin.execute(statement)
    assert (await due(store))[work] <= 0


async def test_the_watch_calls_those_who_have_work_and_looks_again_in_time(store: Store) -> None:
    calls: list[str] = []
    watch = DueWatch(store.database, StandingClock(NOW), every=5.0)
    for work in DueWork:
        watch.call(work, lambda work=work: calls.append(work.value))  # type: ignore[misc]
    assert await watch.once() == 5.0
    assert calls == []
    await store.say("hello")
    await store.admin.execute(TASK, NOW + timedelta(seconds=2))
    assert await watch.once() == pytest.approx(2.0, abs=0.5)
    assert calls == ["turns"]


async def test_news_make_the_watch_look_before_its_time(store: Store) -> None:
    called = asyncio.Event()
    watch = DueWatch(store.database, StandingClock(NOW), every=3600)
    watch.call(DueWork.TURNS, called.set)
    looking = asyncio.create_task(watch.run())
    await store.say("hello")
    watch.look()
    await called.wait()
    looking.cancel()


async def test_a_stream_of_news_makes_two_looks_a_second(store: Store) -> None:
    looks = 0

    class Counted(DueWatch):
        async def once(self) -> float:
            nonlocal looks
            looks += 1
            return 3600

    watch = Counted(store.database, StandingClock(NOW), every=3600)
    looking = asyncio.create_task(watch.run())
    began = asyncio.get_running_loop().time()
    while looks < 2 or asyncio.get_running_loop().time() < began + 1.2:
        watch.look()
        await asyncio.sleep(0.01)
    looking.cancel()
    spent = asyncio.get_running_loop().time() - began
    assert looks <= 1 + 2 * spent
