"""Calls of a model that runs in this process: asked in OpenAI's form as any other, without litellm."""

from collections.abc import Mapping
from typing import Any

from core.llm.types import LocalModel, ModelAnswer
from providers.models.streamed_answer import bounded


async def answer(local: LocalModel, arguments: Mapping[str, Any], max_tokens: int | None) -> ModelAnswer:
    """Make a call with the arguments of litellm's; raise the `ModelError` that the model is asked to meet."""
    if local.before is not None:
        await local.before()
    offered = [tool["function"] for tool in arguments.get("tools", ())]
    tools = {tool["name"]: str(tool.get("description", "")) for tool in offered}
    return bounded(local.answer(arguments["messages"], tools), max_tokens)
