from onevalet import (
    AgentResult,
    AgentStatus,
    InputField,
    LiteLLMClient,
    ModelAnswer,
    ModelClient,
    ModelLayer,
    ModelRequest,
    Orchestrator,
    PoolLimits,
    ReactLoopConfig,
    ReactLoopResult,
    StandardAgent,
    ToolCall,
    ToolCallRecord,
    TriggerMessage,
    TurnRequest,
    TurnState,
    new_turn,
    tool,
    valet,
)


class Said:
    """A model's connection that needs none."""

    layers = (ModelLayer("scripted"),)

    async def close(self) -> None: ...


@tool(effect="read")
async def menu(day: str) -> str:
    """Tell what there is to eat."""
    return f"Soup on {day}"


class Counting(Orchestrator):
    """Looks at how an answer was reached before it is sent."""

    async def react_loop(self, request: TurnRequest, context) -> ReactLoopResult:  # type: ignore[no-untyped-def]
        self.last = await super().react_loop(request, context)
        return self.last


class Undecided(Said):
    """A model that looks at the menu as long as it may."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        if not request.use_tools:
            return ModelAnswer(text="Soup.")
        return ModelAnswer(tool_calls=(ToolCall(f"{len(request.messages)}", "menu", '{"day": "Friday"}'),))


async def test_a_loop_tells_how_it_ended() -> None:
    model: ModelClient = Undecided()
    orchestrator = Counting(model, tools=[menu], config=ReactLoopConfig(max_turns=2))
    result = await orchestrator.handle_message(new_turn("What is there?", "ann"))
    assert (result.reply, result.reason) == ("Soup.", "max_turns")
    calls: tuple[ToolCallRecord, ...] = orchestrator.last.tool_calls
    assert [(call.name, call.args_summary, call.success) for call in calls] == [("menu", {"day": "Friday"}, True)] * 2


@valet()
class OrderAgent(StandardAgent):
    """Order lunch."""

    dish: str = InputField("Which dish?")

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(AgentStatus.COMPLETED, raw_message=f"Ordered: {self.dish}")


class Hungry(Said):
    """A model that orders what it is told, then says what came of it."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        said = request.messages[-1]
        if said.role == "tool":
            return ModelAnswer(text=said.text)
        dish = said.text.partition(" ")[2]
        return ModelAnswer(tool_calls=(ToolCall("1", "OrderAgent", f'{{"dish": "{dish}"}}' if dish else "{}"),))


async def test_an_orchestrator_has_agents() -> None:
    async with Orchestrator(Hungry(), agents=[OrderAgent], pool_limits=PoolLimits(max_waiting=3)) as orchestrator:
        done = await orchestrator.handle_message(new_turn("Lunch: soup", "ann"))
        asked = await orchestrator.handle_message(new_turn("Lunch", "ann"))
    assert (done.state, done.reply) == (TurnState.DONE, "Ordered: soup")
    assert (asked.state, asked.reply) == (TurnState.WAITING, "Which dish?")


class Herald(Said):
    """A model that says what woke it."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(text=request.messages[-1].text.partition(": ")[2])


async def test_a_turn_may_begin_without_words_of_the_person() -> None:
    woken = TriggerMessage("ann", "[Event Trigger] soil.dry: Water me!", {"source": "garden"})
    result = await Orchestrator(Herald()).handle_message(new_turn(woken, "ann"))
    assert result.reply == "Water me!"


def test_models_have_layers() -> None:
    client: ModelClient = LiteLLMClient("openai/gpt-5-mini", ["openai/gpt-5-nano"], keys=["sk-none"])
    assert [layer.model for layer in client.layers] == ["openai/gpt-5-mini", "openai/gpt-5-nano"]
