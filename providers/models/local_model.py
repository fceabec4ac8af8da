"""Calls of a model that runs in this process: asked in OpenAI's form as any other, without litellm."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.json_types import JsonObject
from core.llm.types import ModelAnswer
from providers.models.streamed_answer import bounded


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that runs in this process: its litellm name, and a function that answers messages in OpenAI's form.

    `answer` takes the messages and the tools: their names with their descriptions. `before` is awaited first, and may
    raise a `ModelError`.
    """

    model: str
    answer: Callable[[Sequence[JsonObject], Mapping[str, str]], ModelAnswer]
    before: Callable[[], Awaitable[None]] | None = None


async def answer(local: LocalModel, arguments: Mapping[str, Any], max_tokens: int | None) -> ModelAnswer:
    """Make a call with the arguments of litellm's; raise the `ModelError` that the model is asked to meet."""
    if local.before is not None:
        await local.before()
    offered = [tool["function"] for tool in arguments.get("tools", ())]
    tools = {tool["name"]: str(tool.get("description", "")) for tool in offered}
    return bounded(local.answer(arguments["messages"], tools), max_tokens)
