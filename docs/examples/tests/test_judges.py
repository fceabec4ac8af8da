from house.judges import Kind, OnceIsEnough
from onevalet import (
    CallResult,
    Hook,
    HookContext,
    ModelAnswer,
    ModelLayer,
    ModelRequest,
    Orchestrator,
    StepReport,
    StreamEvent,
    StreamEventType,
    TextSoFar,
    TokenUsage,
    ToolCall,
    new_turn,
    tool,
)


class Scripted:
    layers = (ModelLayer("scripted"),)

    def __init__(self, *answers: ModelAnswer) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return self.answers.pop(0)

    async def close(self) -> None: ...


class Meter(Hook):
    """Only observes: what was called, written and used."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.written = ""
        self.usage = TokenUsage()

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        self.written = so_far.whole

    async def call_finished(self, context: HookContext, result: CallResult) -> None:
        self.called.append(f"{result.call.name}: {result.text}")

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        self.usage += report.usage


@tool(effect="read")
async def temperature(city: str) -> str:
    """Measure the temperature of a city."""
    return f"12 degrees in {city}"


def asks_for(city: str) -> ModelAnswer:
    used = TokenUsage(input_tokens=100, output_tokens=5)
    return ModelAnswer(tool_calls=(ToolCall(city, "temperature", f'{{"city": "{city}"}}'),), usage=used)


async def test_judges_advise() -> None:
    model = Scripted(
        asks_for("Rome"), asks_for("Rome"), ModelAnswer(text="Look it up!"), ModelAnswer(text="It is 12 degrees.")
    )
    rater, meter = Scripted(ModelAnswer(text="no"), ModelAnswer(text="yes")), Meter()
    orchestrator = Orchestrator(model, tools=[temperature], hooks=[OnceIsEnough(), Kind(rater), meter])
    turn = new_turn("How cold is it in Rome?", "ann")
    events: list[StreamEvent] = [event async for event in orchestrator.stream_message(turn)]
    assert (events[-1].type, events[-1].result.reply) == (StreamEventType.EXECUTION_END, "It is 12 degrees.")
    assert "You have measured that already" in model.requests[2].messages[-1].text
    assert "Say it kindly." in model.requests[3].messages[-1].text
    assert meter.called == ["temperature: 12 degrees in Rome"] * 2
    assert meter.usage.input_tokens == 200
