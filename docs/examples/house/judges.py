from collections.abc import Sequence
from typing import Any

from onevalet import (
    AskingJudge,
    ChatMessage,
    HookContext,
    Judge,
    Judgement,
    ModelAnswer,
    ModelClient,
    ModelRequest,
    Role,
)


class OnceIsEnough(Judge):
    """Advises a model that measures the same again."""

    async def rate_results(self, context: HookContext, trail: Sequence[Sequence[Any]]) -> Judgement:
        calls = [(call.name, call.arguments) for step in trail for call in step]
        if len(set(calls)) < len(calls):
            return Judgement("measured twice", "You have measured that already: answer.")
        return Judgement()


class Kind(AskingJudge):
    """Has another model rate each answer before the person reads it."""

    def __init__(self, client: ModelClient) -> None:
        self.client = client

    def question(
        self,
        context: HookContext,
        messages: Sequence[ChatMessage],
        trail: Sequence[Sequence[Any]],
        answer: ModelAnswer,
    ) -> ModelRequest:
        asked = ChatMessage(Role.SYSTEM, "Is this kind? Answer yes or no.")
        return ModelRequest((asked, ChatMessage(Role.USER, answer.text)))

    def judgement(self, rating: ModelAnswer) -> Judgement:
        if rating.text == "no":
            return Judgement("unkind", "Say it kindly.", usage=rating.usage)
        return Judgement(usage=rating.usage)
