from onevalet import (
    ChatMessage,
    Hook,
    HookContext,
    ModelAnswer,
    ModelLayer,
    ModelRequest,
    Orchestrator,
    Refusal,
    TurnRequest,
    TurnResult,
    TurnState,
    new_turn,
)


class Parrot:
    """A model that repeats what it is told."""

    layers = (ModelLayer("parrot"),)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        said = [message.text for message in request.messages if message.role == "user" and not message.internal]
        return ModelAnswer(text=said[-1])

    async def close(self) -> None: ...


class Louder(Hook):
    async def post_call(self, context: HookContext, reply: str) -> str:
        return reply.upper()


async def no_secrets(request: TurnRequest, context: object) -> Refusal | None:
    secret = any("password" in message.text for message in request.inbound)
    return Refusal("secret", "Please keep that to yourself.") if secret else None


class Signed(Orchestrator):
    """A step of one's own: every turn ends here."""

    async def post_process(self, request: TurnRequest, context, result: TurnResult) -> TurnResult:  # type: ignore[no-untyped-def]
        result = await super().post_process(request, context, result)
        assert result.state in TurnState
        return result


async def test_an_orchestrator_stands_alone() -> None:
    orchestrator = Signed(Parrot(), "You are a parrot.", hooks=[Louder()], checks=[no_secrets])
    history: tuple[ChatMessage, ...] = ()
    for said in ("Hello", "Bye"):
        result = await orchestrator.handle_message(new_turn(said, "ann", history=history))
        assert result.reply == said.upper()
        history += result.history
    refused = await orchestrator.handle_message(new_turn("My password is 1234", "ann"))
    assert (refused.reply, refused.reason) == ("Please keep that to yourself.", "secret")
    events = [event async for event in orchestrator.stream_message(new_turn("Hello", "ann"))]
    assert events[-1].result is not None
