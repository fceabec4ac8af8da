import os

from garden import beds
from onevalet import OneValet, TaskState, ToolExecutionContext, new_turn, tool
from onevalet.testing import ScriptedModel, calls, make_context, text


@tool(effect="idempotent", doing="Watering the plants…")
async def water_plants(room: str, context: ToolExecutionContext) -> str:
    """Water the plants of a room, and plan the next time.

    Args:
        room: The room's name, such as kitchen.
    """
    await context.progress(f"The {room} gets two litres.")
    kept = await context.storage.put("watered", context.idempotency_key, {"room": room})
    task = await context.tasks.create(
        {"kind": "schedule", "cron": "0 8 * * 1"},
        {"instruction": f"Remind me to water the {room}"},
        title=f"Water the {room}",
        key=context.idempotency_key,
    )
    token = await context.credentials.get(context.tenant_id, "pump")
    wants = await context.person.preferences()
    told = await context.notify(f"The {room} is watered.", category="garden")
    return f"Watered {kept.number}, task {task.number}, pump {token}, told {told}, {len(wants) > 0}."


async def test_a_tool_uses_the_persons_services() -> None:
    script = [calls(("water_plants", {"room": "kitchen"})), text("The kitchen is watered.")]
    async with ScriptedModel(script) as model:
        os.environ |= {"OPENAI_API_BASE": model.url, "OPENAI_API_KEY": "sk-scripted"}
        settings = {"ONEVALET_MODEL": "openai/scripted", "ONEVALET_MEMORY": "off"}
        async with OneValet(settings, plugins=[water_plants]) as valet:
            ann = await valet.tenant_id("ann", timezone="Europe/London")
            await valet.credentials.save(ann, "pump", {"token": "t"})
            reply = await valet.handle_message("Water the kitchen", tenant="ann")
            assert "The kitchen is watered." in reply.text
            result = next(iter(model.calls[1].tool_results.values()))
            assert result == "Watered 1, task 1, pump {'token': 't'}, told True, True."
            assert [task.title for task in await valet.tasks.list_tasks(ann)] == ["Water the kitchen"]

            context = valet.orchestrator.tool_context(new_turn("", ann), "test", "a key")
            await beds_are_looked_after(valet, context)


async def beds_are_looked_after(valet: OneValet, context: ToolExecutionContext) -> None:
    assert await beds.what_i_said("kitchen", context) == ["Water the kitchen"]
    [paused] = await beds.rest("water", context)
    assert paused.startswith("Water the kitchen (every Mon")
    assert [task.state for task in await context.tasks.list()] == [TaskState.PAUSED]
    assert "queue" in await beds.finish_first(context)
    assert await beds.note_order("seeds", context) == "Order 1: seeds."
    assert len(await beds.orders(context)) == 1
    await valet.credentials.delete(context.tenant_id, "pump")
    assert await beds.orders(context) == []


async def test_nobody_is_told_in_a_rehearsal() -> None:
    assert await make_context().notify("Nobody hears this.") is False
