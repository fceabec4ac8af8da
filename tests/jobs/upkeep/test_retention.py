"""What was kept long enough goes, some rows at a time; what is open, newer or of another kind stays."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from jobs.upkeep import retention
from jobs.upkeep.retention import Retention, RetentionPeriods
from tests.clocks import StandingClock
from tests.core.db.test_row_security import ANN, two_people
from tests.core.harness import Store

DAY = timedelta(days=1)
OF_A_TURN = (
    "turns",
    "inbound",
    "history",
    "outbound",
    "steps",
    "approvals",
    "message_words",
    "undo_records",
    "prompts",
)
AUDIT = ("approval_audit", "person_audit", "console_looks", "console_actions")


@pytest.fixture
async def kept(store: Store) -> Retention:
    """Return the retention of an installation where Ann and Bob have rows in every table, as of now."""
    await two_people(store)
    # The template's rows have a card that waits; here it is decided, unless a test says otherwise.
    await store.db.approvals.change({"state": "approved"})
    await store.admin.execute(
        "update outbound set state = 'sent' where state in ('held', 'ready', 'sending', 'checking')"
    )
    return Retention(store.database, StandingClock(datetime.now(UTC)), store.make_id, RetentionPeriods())


def clock(kept: Retention) -> StandingClock:
    assert isinstance(kept.clock, StandingClock)
    return kept.clock


async def counts(store: Store, tables: tuple[str, ...]) -> dict[str, int]:
    """Count the rows of tables."""
    return {table: int(str(await store.one(f"select count(*) from {table}"))) for table in tables}  # noqa: S608


async def test_messages_go_with_all_that_belongs_to_them_and_not_a_day_early(store: Store, kept: Retention) -> None:
    before = await counts(store, OF_A_TURN)
    assert all(before.values()), before
    clock(kept).move(364 * DAY)
    assert await kept.prune_messages() == 0
    assert await counts(store, OF_A_TURN) == before
    clock(kept).move(2 * DAY)
    assert await kept.prune_messages() > 0
    assert await counts(store, OF_A_TURN) == dict.fromkeys(OF_A_TURN, 0)
    # People, what they told, their tasks and what they allowed are no messages.
    stay = ("tenants", "identities", "conversations", "memories", "profile_facts", "tasks", "credentials", *AUDIT)
    assert all((await counts(store, stay)).values())
    assert await store.db.inbox_keys.count() == 0


async def test_promise_2_a_persons_old_key_takes_no_newer_one_of_another_person(store: Store, kept: Retention) -> None:
    await store.db.inbox_keys.change({"channel": "sms", "account": "one", "key": "same"})
    newer = await store.one("select max(tenant_id) from inbox_keys")
    await store.admin.execute(
        "update inbox_keys set received_at = received_at + interval '2 days' where tenant_id = $1", newer
    )
    clock(kept).move(366 * DAY)
    await kept.prune_messages()
    assert await store.db.inbox_keys.column("tenant_id") == [newer]


async def test_what_is_open_stays_however_old_it_is(store: Store, kept: Retention) -> None:
    await store.admin.execute("update approvals set state = 'pending', code = 'C' || tenant_id")
    clock(kept).move(1000 * DAY)
    turns = await store.db.approvals.column("turn_id", state="pending")
    await kept.prune_messages()
    assert set(await store.db.turns.column("id")) == set(turns)
    await store.say("still waiting", sender=ANN)
    await kept.prune_messages()
    assert await store.db.inbound.column("text", state="waiting") == ["still waiting"]


async def test_rows_that_are_at_work_are_passed_over_and_hold_nobody_up(
    store: Store, kept: Retention, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_TURNS", 1)
    clock(kept).move(1000 * DAY)
    [held, *_] = await store.db.turns.column("id", order="finished_at")
    other = await asyncpg.connect(store.url)
    try:
        async with other.transaction():
            await other.execute("select 1 from turns where id = $1 for update", held)
            assert await kept.prune_messages() > 0
            assert await store.db.turns.column("id") == [held]
    finally:
        await other.close()
    await kept.prune_messages()
    assert await store.db.turns.column("id") == []


async def test_journals_go_first_and_unknown_outcomes_stay(store: Store, kept: Retention) -> None:
    [turn, *_] = await store.db.turns.column("id", order="finished_at")
    await store.admin.execute(
        "insert into steps (tenant_id, turn_id, step, call_index, kind, state, outcome)"
        " select tenant_id, id, 7, 0, 'tool', 'done', 'unknown' from turns where id = $1",
        turn,
    )
    await store.admin.execute("update turns set usage = '{\"calls\": 3}'")
    clock(kept).move(89 * DAY)
    assert await kept.prune_journals() == 0
    clock(kept).move(2 * DAY)
    assert await kept.prune_journals() == 2
    assert await store.db.steps.column("outcome") == ["unknown"]
    assert await counts(store, ("memory_recalls",)) == {"memory_recalls": 0}
    assert await store.column("select usage ->> 'calls' from turns") == ["3", "3"]
    # What was seen once is not looked at again; what ends later is.
    assert await kept.prune_journals() == 0
    await store.say("again", sender=ANN)
    lease, begun = await store.claim_turn()
    await store.finish(lease, begun, "yes")
    clock(kept).move(91 * DAY)
    assert await kept.prune_journals() == 1


async def test_journals_are_pruned_in_batches_to_the_last(
    store: Store, kept: Retention, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Turns that ended in the same moment are in one batch.
    await store.admin.execute("update turns set finished_at = now()")
    monkeypatch.setattr(retention, "MAX_TURNS", 1)
    clock(kept).move(100 * DAY)
    assert await kept.prune_journals() == 2
    assert await store.db.steps.count() == 0


async def test_journals_that_others_hold_are_passed_over_and_come_later(store: Store, kept: Retention) -> None:
    await store.admin.execute(
        "update turns set finished_at = now() + (number * interval '1 second') from (select id as"
        " of, row_number() over (order by id) as number from turns) n where id = of"
    )
    clock(kept).move(100 * DAY)
    _, held = await store.db.turns.column("id", order="finished_at")
    other = await asyncpg.connect(store.url)
    try:
        async with other.transaction():
            # As a deletion holds the turns of its person.
            await other.execute("select 1 from turns where id = $1 for no key update", held)
            assert await kept.prune_journals() == 1
            assert set(await store.db.steps.column("turn_id")) == {held}
    finally:
        await other.close()
    assert await kept.prune_journals() == 1
    assert await store.db.steps.count() == 0


async def test_audit_and_usage_outlive_messages(store: Store, kept: Retention) -> None:
    usage = ("usage_days", "spending", "segment_days")
    await store.admin.execute("delete from usage_days where day < current_date; delete from spending")
    await store.admin.execute(
        "insert into spending (tenant_id, day, spent) select tenant_id, current_date, 0.5 from tenants"
    )
    await store.admin.execute("update segment_days set day = current_date")
    for table in AUDIT:
        await store.admin.execute(f"update {table} set at = now()")  # noqa: S608
    clock(kept).move(729 * DAY)
    await kept.prune_messages()
    assert await kept.prune_audit() == await kept.prune_usage() == 0
    spent = await store.one("select sum(spent) from spending where task_id = ''")
    clock(kept).move(3 * DAY)
    assert await kept.prune_audit() > 0
    assert await kept.prune_usage() > 0
    assert sum((await counts(store, (*AUDIT, *usage))).values()) == 0
    # What everybody spent together stays, in which nobody can be told apart.
    assert await store.one("select sum(cost) from usage_totals where kind = 'spent'") == spent


async def test_nothing_goes_while_the_clock_is_wrong(store: Store, kept: Retention) -> None:
    class Wrong(StandingClock):
        async def sound_now(self) -> datetime | None:
            return None

    wrong = Retention(store.database, Wrong(datetime.now(UTC) + 9000 * DAY), store.make_id, RetentionPeriods())
    before = await counts(store, (*OF_A_TURN, *AUDIT))
    assert [await chore.once() for chore in wrong.chores()] == [0] * len(wrong.chores())
    assert await counts(store, (*OF_A_TURN, *AUDIT)) == before
