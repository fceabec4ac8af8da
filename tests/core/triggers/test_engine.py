"""Promise 13: tasks fire when they are due, once each; the turn is their own, and its outcome is told."""

from datetime import timedelta

from core.triggers.schedule import ScheduleTrigger
from tests.core.triggers.house import House

DAILY = ScheduleTrigger(cron="0 8 * * *")


async def test_a_scheduled_task_runs_as_a_turn_of_its_own_and_its_outcome_is_told(house: House) -> None:
    task = await house.engine.create_task(
        tenant_id=house.tenant, trigger=DAILY, action={"instruction": "Summarise my unread mail"}
    )
    assert (task.number, task.title, task.zone) == (1, "Summarise my unread mail", "Europe/Berlin")
    assert await house.work() == 0
    house.clock.pass_by(hours=23, seconds=1)
    assert await house.work() == 1
    assert await house.states(task) == ["COMPLETED"]
    [request] = house.says.requests
    assert request.inbound == ()
    assert request.trigger is not None
    assert request.trigger.content.startswith("[Scheduled Task] Summarise my unread mail\n")
    assert await house.sent() == ["done: [Scheduled Task] Summarise my unread mail"]
    assert (await house.again(task)).next_at == task.next_at + timedelta(days=1)  # type: ignore[operator]
    assert await house.work() == 0
