"""A person's timezone that tzdata does not know any more: times are told in UTC, with a sentence about it."""

from abilities.tasks.dry_run import dry_run
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.tools_api import TaskAccess
from core.clock import zone_note, zone_or_utc
from core.turns.words.approvals import pending_text
from tests.abilities.tasks.harness import Harness
from tests.clocks import NOON

GONE = "Mars/Olympus"
NOTE = "Times are in UTC, since the timezone 'Mars/Olympus' no longer exists."
PAGE = "https://flights.example/x"


async def test_a_task_of_a_lost_zone_is_explained_listed_and_tried_in_utc(harness: Harness) -> None:
    watch = ConditionTrigger("value < 300", url=PAGE, every_minutes=10)
    task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=watch, action={"instruction": "go"})
    harness.world.pages[PAGE] = 310
    await harness.work()
    await harness.store.db.tenants.change({"timezone": GONE})
    task = await harness.again(task)
    assert str((await explain(harness.engine, task))["text"]).endswith(NOTE)
    lines = await dry_run(harness.engine, task)
    assert lines[0] == NOTE
    assert "310" in lines[1]
    access = TaskAccess(harness.engine, harness.tenant)
    assert [task.id for task in await access.list()] == [task.id]
    assert NOTE in access.describe({"kind": "condition", "expression": "value < 1", "url": PAGE}, GONE)


def test_a_lost_zone_is_utc_and_a_known_or_unset_one_needs_no_sentence() -> None:
    assert (zone_or_utc(GONE).key, zone_or_utc("").key) == ("UTC", "UTC")
    assert zone_or_utc("Europe/Berlin").key == "Europe/Berlin"
    assert (zone_note(""), zone_note("Europe/Berlin"), zone_note(GONE)) == ("", "", NOTE)
    assert pending_text([], GONE, NOON) == "Nothing is waiting for your decision."
