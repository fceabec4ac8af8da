"""What tasks answer where functions of the spine ask: what is planned and goes on, and what a run is about."""

from datetime import UTC, datetime, timedelta

from core.messaging.messages import Address
from notify.store import NotificationStore
from operations.console.access import Scope, Viewer
from operations.console.reading.names import read_titles
from tests.core.harness import ACCOUNT, CHANNEL, Store

ANN, BOB = "+15550000001", "+15550000002"
DUE = datetime(2026, 5, 1, 12, tzinfo=UTC)
TASK = (
    "insert into tasks (tenant_id, id, number, title, kind, trigger, output, state, due_at, zone, deleted_at,"
    " anchor, created_at) values ($1, $2, $3, $2, $4, $5, $6, $7, $8, 'Europe/Berlin', $9, now(), now())"
)


async def two_with_tasks(store: Store) -> tuple[str, str]:
    """Return Ann, who has tasks of each kind and state, and Bob, who has one."""
    await store.say("hello", sender=ANN)
    await store.say("hello", sender=BOB)
    ann, bob = [str(id) for id in await store.db.identities.column("tenant_id", order="user_key")]
    cron, urgent, empty = '{"cron": "0 9 * * 1"}', '{"urgency": "urgent"}', "{}"
    for number, row in enumerate(
        (
            ("weekly", "schedule", cron, urgent, "ACTIVE", DUE, None),
            ("once", "schedule", empty, empty, "ACTIVE", DUE - timedelta(days=1), None),
            ("paused", "schedule", cron, empty, "PAUSED", DUE, None),
            ("held", "schedule", cron, empty, "ACTIVE", DUE, None),
            ("never", "schedule", empty, empty, "COMPLETED", None, None),
            ("deleted", "schedule", cron, empty, "ACTIVE", DUE, DUE),
            ("on mail", "event", empty, empty, "ACTIVE", None, None),
        ),
        1,
    ):
        await store.admin.execute(TASK, ann, row[0], number, *row[1:])
    await store.admin.execute(TASK, bob, "secret", 1, "schedule", cron, empty, "ACTIVE", DUE, None)
    await store.db.tasks.change({"held": True}, id="held")
    return ann, bob


async def test_a_persons_page_shows_what_is_planned_next(store: Store) -> None:
    await two_with_tasks(store)
    page = await store.inbox.overview(Address(CHANNEL, ACCOUNT, ANN), ANN)
    assert page is not None
    assert [(task.number, task.title, task.due_at) for task in page.tasks] == [
        (2, "once", DUE - timedelta(days=1)),
        (1, "weekly", DUE),
    ]


async def test_all_that_is_planned_goes_into_the_archive(store: Store) -> None:
    ann, _ = await two_with_tasks(store)
    rows = await store.database.tenant_rows(ann, "select id, zone, cron, active from planned_work($1) order by number")
    assert [tuple(row) for row in rows] == [
        ("weekly", "Europe/Berlin", "0 9 * * 1", True),
        ("once", "Europe/Berlin", None, True),
        ("paused", "Europe/Berlin", "0 9 * * 1", False),
        ("held", "Europe/Berlin", "0 9 * * 1", False),
    ]
    [row] = await store.database.tenant_rows(ann, "select kind, number from count_active_work($1)")
    assert tuple(row) == ("task", 4)


async def test_a_run_is_as_urgent_as_its_task_and_a_turn_is_of_its_runs_task(store: Store) -> None:
    ann, bob = await two_with_tasks(store)
    for run, task in (("loud", "weekly"), ("quiet", "once")):
        await store.admin.execute(
            "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, turn_id)"
            " values ($1, $2, $3, 'o', now(), 'QUEUED', 'turn_' || $2)",
            ann,
            run,
            task,
        )
    notifications = NotificationStore(store.database, store.make_id)
    urgent = [await notifications.is_urgent_run(ann, run) for run in ("loud", "quiet", "gone")]
    assert urgent == [True, False, False]
    assert not await notifications.is_urgent_run(bob, "loud")
    of_turns = {"turn_loud": "weekly", "turn_quiet": "once", "turn_gone": None}
    for turn, expected in of_turns.items():
        [row] = await store.database.tenant_rows(ann, "select task_of_turn($1,$2) as task", turn)
        assert row["task"] == expected


async def test_tasks_are_called_by_number_and_title(store: Store) -> None:
    ann, bob = await two_with_tasks(store)
    titles = await read_titles(
        Scope(Viewer(ann, True), store.database), [(ann, "weekly"), (ann, "gone"), (ann, "secret"), (bob, "secret")]
    )
    assert titles == {(ann, "weekly"): "1. weekly", (bob, "secret"): "1. secret"}
