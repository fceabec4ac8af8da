from house.hooks import not_at_home, polite
from onevalet import ModelAnswer, ModelLayer, ModelRequest, Orchestrator, ToolCall, new_turn, tool


class Scripted:
    """A model whose answers are written down."""

    layers = (ModelLayer("scripted"),)

    def __init__(self, *answers: ModelAnswer) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return self.answers.pop(0)

    async def close(self) -> None: ...


@tool(effect="read")
async def temperature(city: str) -> str:
    """Measure the temperature of a city."""
    return f"12 degrees in {city}"


def asks_for(city: str) -> ModelAnswer:
    return ModelAnswer(tool_calls=(ToolCall("1", "temperature", f'{{"city": "{city}"}}'),))


async def test_hooks_change_what_passes() -> None:
    model = Scripted(asks_for("paris"), ModelAnswer(text="Cool."))
    orchestrator = Orchestrator(model, tools=[temperature], hooks=[polite, not_at_home])
    result = await orchestrator.handle_message(new_turn("How cold is it?", "ann"))
    assert result.reply == "Cool. At your service."
    assert model.requests[1].messages[-1].text == "12 degrees in Paris (as measured)"
    assert polite.seen == ["the model has answered", "about to call temperature", "the model has answered"]


async def test_a_rule_denies() -> None:
    model = Scripted(asks_for("atlantis"), ModelAnswer(text="I cannot tell."))
    orchestrator = Orchestrator(model, tools=[temperature], hooks=[polite, not_at_home])
    await orchestrator.handle_message(new_turn("And there?", "ann"))
    assert "Nobody can measure there." in model.requests[1].messages[-1].text
