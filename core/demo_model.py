"""A model that needs no key, for a first look: it recognises a few questions, calls the tools for them and says so."""

import json
import re
from collections.abc import Sequence

from core.model_types import ChatMessage, ModelAnswer, ModelLayer, ModelRequest, Role, TokenUsage, ToolCall

NAME = "demo"
_NOTE = "(I am only the demo model. Set ONEVALET_MODEL and its key for a real one.)"
_TIME = re.compile(r"\b(time|date|day is it|today|clock)\b|\buhr\b", re.IGNORECASE)
_SUM = re.compile(r"[\d(.][\d\s.()]*(?:(?:\*\*|//|[-+*/%^])[\s(-]*[\d.][\d\s.()]*)+")
_GREETING = re.compile(r"^\W*(hi|hello|hey|good (morning|evening|afternoon)|hallo|help|start)\b", re.IGNORECASE)


class DemoModel:
    """Answer without any model: the time, a calculation, or what it heard. Deterministic."""

    layers: Sequence[ModelLayer] = (ModelLayer(NAME),)

    async def warm_up(self) -> None:
        """Have nothing to load."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Call the tools that a message asks for, or answer from their results."""
        said, results = _latest(request.messages)
        if results:
            return _says("\n".join(results))
        offered = {tool.name for tool in request.tools} if request.use_tools else set[str]()
        calls = [call for text in said for call in _calls(text, offered)]
        if calls:
            wanted = tuple(ToolCall(f"demo_{index}", *call) for index, call in enumerate(calls))
            return ModelAnswer(tool_calls=wanted, usage=TokenUsage(1, 1), model=NAME, finish_reason="tool_calls")
        return _says("\n".join(_reply(text) for text in said))

    async def close(self) -> None:
        """Have nothing to release."""


def _latest(messages: Sequence[ChatMessage]) -> tuple[list[str], list[str]]:
    """Give what the person said since the last finished answer, and the results that came since."""
    said: list[str] = []
    results: list[str] = []
    for message in reversed(messages):
        if message.role is Role.ASSISTANT and not message.tool_calls:
            break
        if message.role is Role.TOOL:
            results.insert(0, message.text)
        elif message.role is Role.USER and not message.internal:
            said.insert(0, message.text)
    return said, results


def _calls(text: str, offered: set[str]) -> list[tuple[str, str]]:
    calls: list[tuple[str, str]] = []
    if "calculate" in offered and (found := _SUM.search(text)):
        calls.append(("calculate", json.dumps({"expression": found[0].strip()})))
    if "current_time" in offered and _TIME.search(text):
        calls.append(("current_time", "{}"))
    return calls


def _reply(text: str) -> str:
    if _GREETING.match(text):
        return "Hello! Ask me for the time, or to calculate something such as 17 * 23."
    return f"I heard: {text.strip()}"


def _says(text: str) -> ModelAnswer:
    return ModelAnswer(f"{text}\n{_NOTE}", usage=TokenUsage(1, 1), model=NAME, finish_reason="stop")
