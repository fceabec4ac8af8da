"""What a run of an agent's handler comes to: which handler is called, and its result as text and in the journal."""

from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.journal.types import StepRecord
from core.json_types import JsonObject, storable


async def call_handler(agent: StandardAgent, last: AgentResult | None, said: str) -> AgentResult:
    """Call the handler of the state that the agent comes from."""
    came_from = last.status if last is not None else AgentStatus.INITIALIZING
    agent.status = AgentStatus.RUNNING
    match came_from:
        case AgentStatus.WAITING_FOR_INPUT:
            return await agent.on_waiting_for_input(said)
        case AgentStatus.WAITING_FOR_APPROVAL:
            return await agent.on_waiting_for_approval(said)
        case AgentStatus.PAUSED:
            return await agent.on_paused(said)
        case _:
            return await agent.on_initializing(said) or await agent.on_running(said)


def told(result: AgentResult) -> str:
    """Write a result as the text that the model reads."""
    said = [result.raw_message] if result.raw_message else []
    if result.outputs:
        said += [f"{name}: {value}" for name, value in result.outputs.items()]
    if said:
        return "\n".join(said)
    return "Done." if result.status is AgentStatus.COMPLETED else f"It ended as {result.status.value}."


def json_of(result: AgentResult) -> JsonObject:
    """Write a result down for the journal."""
    return {"status": result.status.value, "text": storable(result.raw_message), "outputs": storable(result.outputs)}


def result_of(record: StepRecord) -> AgentResult:
    """Read what `json_of` wrote."""
    outputs = record.result.get("outputs")
    return AgentResult(
        AgentStatus(str(record.result.get("status", AgentStatus.ERROR.value))),
        str(record.result.get("text", "")),
        outputs if isinstance(outputs, dict) else {},
    )
