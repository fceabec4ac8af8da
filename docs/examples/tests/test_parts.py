import os
from decimal import Decimal

import pytest
from onevalet import (
    ActionExecutor,
    ActionResult,
    ApprovalStore,
    Clock,
    CredentialStore,
    DailyBudgets,
    Database,
    Event,
    EventBus,
    EventTrigger,
    ModelAnswer,
    ModelLayer,
    ModelPrice,
    ModelRequest,
    Momex,
    MomexConfig,
    NoWakeups,
    Orchestrator,
    OrchestratorExecutor,
    RedisWakeups,
    ScheduleTrigger,
    SecretKeys,
    Storage,
    StoreUnavailable,
    TriggerContext,
    TriggerEngine,
    add_person,
    make_id,
    migrate,
    new_turn,
)


class Silent:
    """A model that has nothing to say."""

    layers = (ModelLayer("silent"),)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(text="All is well.")

    async def close(self) -> None: ...


class WaterPlants(ActionExecutor):
    name = "water"

    async def execute(self, context: TriggerContext) -> ActionResult:
        return ActionResult(True, "Watered.")


async def test_a_database_that_is_away_is_told_apart() -> None:
    database = Database("postgresql://ann:secret@127.0.0.1:1/valet", patience=0.5)
    with pytest.raises(StoreUnavailable):
        await add_person(database, "Ann")
    await database.close()


async def test_parts_stand_alone(own_servers: None) -> None:
    await migrate(os.environ["DATABASE_URL"])
    database = Database(os.environ["DATABASE_URL"])
    ann = await add_person(database, "Ann", timezone="Europe/London")
    keys = SecretKeys.from_text("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
    store = CredentialStore(database, keys)
    await store.save(ann, "canteen", {"token": "secret"})
    assert await store.get(ann, "canteen") == {"token": "secret"}

    bus = EventBus(os.environ["REDIS_URL"], database)
    wakeups = RedisWakeups(os.environ["REDIS_URL"])
    await wakeups.start()
    engine = TriggerEngine(database, make_id, Clock(), wakeups, event_bus=bus, executors=[WaterPlants()])
    engine.add_executors([OrchestratorExecutor(Orchestrator(Silent()))])
    task = await engine.create_task(
        tenant_id=ann,
        trigger=ScheduleTrigger(interval_minutes=60),
        executor="water",
        action={"plants": "all"},
    )
    assert task.number == 1
    await engine.create_task(tenant_id=ann, trigger=EventTrigger("garden", "soil.dry"), executor="water", action={})
    [run] = await engine.fire_for_event(ann, Event("garden", "soil.dry", id="1", tenant_id=ann))
    assert run
    assert await bus.publish(Event("garden", "rain", id="2", tenant_id=ann))
    assert not await bus.publish(Event("garden", "rain", id="2", tenant_id=ann))
    looking = TriggerEngine(database, make_id, Clock(), NoWakeups())
    assert [task.number for task in await looking.list_tasks(ann)] == [1, 2]
    await bus.close()

    budgets = DailyBudgets(database, Clock(), cap=Decimal("0.01"), prices=[ModelPrice(input=0.1, output=0.1)])
    poor = await Orchestrator(Silent(), budgets=budgets).handle_message(new_turn("Hello", ann))
    assert poor.reason == "budget"

    beside = Orchestrator(Silent(), approvals=ApprovalStore(database, wakeups), storage=Storage(database))
    assert await beside.list_pending_approvals(ann) == []

    momex = Momex(config=MomexConfig.from_env({"ONEVALET_MEMORY": "rules"}), database=database)
    memory = momex.for_tenant(ann)
    await memory.remember("I am allergic to nuts", key="said 1")
    [found] = await memory.search("nuts")
    assert "allergic" in found.text
    await momex.close()
    await wakeups.stop()
    await database.close()
