"""Anthropic caches a prompt up to the marks that it bears: on both paths they stand where a conversation is stable."""

import pytest

from core.json_types import JsonObject
from core.llm.types import ChatMessage, Marker, ModelRequest, Role, ToolCall, ToolSpec
from providers.models.chat_format import format_messages, format_tools
from tests.providers.models.direct import transcripts
from tests.providers.models.direct.test_both_paths import through

MARK = {"type": "ephemeral"}
SPEC: JsonObject = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOLS = (ToolSpec("one", "One.", SPEC), ToolSpec("two", "Two.", SPEC))
TALK = (
    ChatMessage(Role.SYSTEM, "You are Koi."),
    ChatMessage(Role.USER, "Hello"),
    ChatMessage(Role.ASSISTANT, "Hello!"),
    ChatMessage(Role.USER, "It is noon.", internal=True, marker=Marker.CONTEXT),
    ChatMessage(Role.USER, "One and one?"),
)
CALLED = (
    *TALK,
    ChatMessage(Role.ASSISTANT, tool_calls=(ToolCall("c1", "one", "{}"),)),
    ChatMessage(Role.TOOL, "2", tool_call_id="c1", name="one"),
)


@pytest.mark.parametrize("direct", [True, False])
async def test_tools_system_history_and_the_newest_result_are_marked(
    monkeypatch: pytest.MonkeyPatch, direct: bool
) -> None:
    said = next(iter(transcripts.CLAUDE_STREAMED.values()))
    request = ModelRequest(CALLED, TOOLS)
    _, sent = await through(monkeypatch, "anthropic", said, request, direct=direct, streamed=True)
    blocks = [*_blocks(sent.body["tools"]), *_blocks(sent.body["system"])]
    for message in _blocks(sent.body["messages"]):
        blocks += _blocks(message["content"])
    marked = [block.get("name") or block.get("text") or block.get("content") for block in blocks if _has_mark(block)]
    assert marked == ["two", "You are Koi.", "Hello!", "2"]


@pytest.mark.parametrize(
    ("model", "marks"),
    [
        ("anthropic/claude-sonnet-4-5", True),
        ("bedrock/us.anthropic.claude-sonnet-4-5-v1:0", True),
        ("vertex_ai/claude-sonnet-4-5", True),
        ("openrouter/anthropic/claude-sonnet-4.5", True),
        ("openai/gpt-5-mini", False),
        ("openai/claude-of-a-proxy", False),
        ("gemini/gemini-2.5-flash", False),
    ],
)
def test_only_models_of_anthropic_are_sent_marks(model: str, marks: bool) -> None:
    sent = [*format_messages(TALK, model), *format_tools(TOOLS, model)]
    assert sum("cache_control" in each for each in sent) == (3 if marks else 0)


def test_a_request_that_is_no_conversation_has_no_marked_message() -> None:
    sent = format_messages((TALK[0], TALK[1]), "anthropic/claude-sonnet-4-5")
    assert not any("cache_control" in each for each in sent)


def _blocks(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _has_mark(block: dict[str, object]) -> bool:
    return block.get("cache_control") == MARK
