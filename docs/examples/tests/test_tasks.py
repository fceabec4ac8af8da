import asyncio

from garden.tasks import WaterBed, soil_moisture
from onevalet import ConditionTrigger, Event, EventTrigger, OneValet, ScheduleTrigger


async def test_a_bed_is_watered_when_it_is_dry() -> None:
    async with OneValet({"ONEVALET_MEMORY": "off"}, plugins=[soil_moisture, WaterBed]) as valet:
        ann = await valet.tenant_id("ann", timezone="Europe/London")
        await valet.handle_message("Hello", tenant="ann")  # from now on she is reached in that conversation
        morning = await valet.tasks.create_task(
            tenant_id=ann,
            trigger=ScheduleTrigger(cron="0 8 * * *", timezone="Asia/Shanghai"),
            action={"instruction": "Summarise my unread mail"},
            output={"channel": "sms"},
        )
        assert morning.due_at is not None
        assert f"{morning.due_at:%H:%M}" == "00:00"  # in UTC
        dry = ConditionTrigger("value < 20", tool="soil_moisture", arguments={"bed": "roses"}, path="$.moisture")
        await valet.tasks.create_task(tenant_id=ann, trigger=dry, executor="water_bed", action={"bed": "roses"})
        hot = EventTrigger("weather", "heat", {"degrees": {"gt": 30}})
        await valet.tasks.create_task(tenant_id=ann, trigger=hot, executor="water_bed", action={"bed": "tulips"})

        assert (await told(valet)).startswith("Watered the roses, no. 1.")

        await valet.events.publish(Event("weather", "heat", {"degrees": 28}, id="1", tenant_id=ann))
        await valet.events.publish(Event("weather", "heat", {"degrees": 33}, id="2", tenant_id=ann))
        assert await told(valet) == "Watered the tulips, no. 2."


async def told(valet: OneValet) -> str:
    """Return the next thing that the person is told."""
    async with asyncio.timeout(60):
        while not (texts := await valet.unread("ann")):
            await asyncio.sleep(0.1)
    return "\n".join(texts)
