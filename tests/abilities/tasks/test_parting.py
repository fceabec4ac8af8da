"""Two people become one and part again: each has their tasks back, with all that belongs to a run."""

from datetime import timedelta

from tests.core.people.conftest import harness as harness
from tests.core.people.harness import CHAT, NOON, PHONE, Harness

ANN, ANN_CHAT = "+15550000001", "7001"
TASK = (
    "insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)"
    " values ($1, $2, $3, $2, 'event', '{}', now(), $4)"
)
RUN = (
    "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state)"
    " values ($1, 'run', $2, 'o', now(), 'COMPLETED')"
)
TOLD = (
    "insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, task_id, run_id)"
    " values ($1, $2, 'general', 'normal', 'news', $2, 'sent', now(), $3, $4)"
)


async def test_tasks_part_with_their_runs_lanes_and_notifications(harness: Harness) -> None:
    for place in ((ANN, PHONE), (ANN_CHAT, CHAT)):
        await harness.ask("hello", *place)
    ann, other = await harness.tenant(ANN), await harness.tenant(ANN_CHAT, CHAT)
    admin = harness.store.admin
    await admin.execute(TASK, ann, "ours", 1, NOON - timedelta(days=1))
    await admin.execute(TASK, other, "theirs", 1, NOON - timedelta(days=1))
    await admin.execute(RUN, other, "theirs")
    await admin.execute("insert into lanes (tenant_id, id) values ($1, 'run')", other)
    assert (await harness.link(await harness.code(ANN_CHAT, CHAT), ANN)).startswith("Linked")
    kept = await harness.tenant(ANN)
    # While they are one, the run tells something, and a task is made that acts by itself.
    await admin.execute(TOLD, kept, "of_the_task", "theirs", "")
    await admin.execute(TOLD, kept, "of_the_run", "", "run")
    await admin.execute(TASK, kept, "since", 3, NOON + timedelta(hours=1))

    await harness.settle()
    assert (await harness.ask("UNLINK", ANN_CHAT, CHAT)).startswith("Taken back")
    chat = await harness.tenant(ANN_CHAT, CHAT)
    assert chat != await harness.tenant(ANN) == ann
    rows = await admin.fetch("select tenant_id, id, number, state, reason from tasks order by id")
    assert [tuple(row) for row in rows] == [
        (ann, "ours", 1, "ACTIVE", ""),
        (ann, "since", 3, "PAUSED", "made while two people were linked"),
        (chat, "theirs", 1, "ACTIVE", ""),
    ]
    for table, id in (("task_runs", "run"), ("lanes", "run"), ("notifications", "of_the_task")):
        assert await harness.store.column(f"select tenant_id from {table} where id = $1", id) == [chat], table  # noqa: S608
    assert await harness.store.db.notifications.column("tenant_id", id="of_the_run") == [chat]
