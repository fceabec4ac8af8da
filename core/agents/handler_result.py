"""A handler's result: from which handler, as text for the model, and in the journal."""

from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.journal.types import StepRecord
from core.json_types import JsonObject, storable


async def call_handler(agent: StandardAgent, last: AgentResult | None, message: str) -> AgentResult:
    came_from = last.status if last is not None else AgentStatus.INITIALIZING
    agent.status = AgentStatus.RUNNING
    match came_from:
        case AgentStatus.WAITING_FOR_INPUT:
            return await agent.on_waiting_for_input(message)
        case AgentStatus.WAITING_FOR_APPROVAL:
            return await agent.on_waiting_for_approval(message)
        case AgentStatus.PAUSED:
            return await agent.on_paused(message)
        case _:
            return await agent.on_initializing(message) or await agent.on_running(message)


def result_text(result: AgentResult) -> str:
    parts = [result.raw_message] if result.raw_message else []
    parts += [f"{name}: {value}" for name, value in result.outputs.items()]
    if parts:
        return "\n".join(parts)
    return "Done." if result.status is AgentStatus.COMPLETED else f"It ended as {result.status.value}."


def json_of(result: AgentResult) -> JsonObject:
    return {"status": result.status.value, "text": storable(result.raw_message), "outputs": storable(result.outputs)}


def result_of(record: StepRecord) -> AgentResult:
    outputs = record.result.get("outputs")
    return AgentResult(
        AgentStatus(str(record.result.get("status", AgentStatus.ERROR.value))),
        str(record.result.get("text", "")),
        outputs if isinstance(outputs, dict) else {},
    )
