"""A thinking model that calls a tool, over Anthropic's own wire: its thoughts go back unaltered and are never shown."""

import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from core.journal.in_memory import MemoryJournal
from core.json_types import Json, JsonObject
from core.llm.types import ChatMessage
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Place, TurnRequest, TurnWork
from providers.models.litellm_client import LiteLLMClient
from tests.core.turns.test_orchestrator import NOW

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

THOUGHT: JsonObject = {"type": "thinking", "thinking": "Add them. Carefully.", "signature": "c2lnbmF0dXJl/+=="}
HIDDEN: JsonObject = {"type": "redacted_thinking", "data": "c2VjcmV0"}


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@pytest.fixture
async def requests(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[JsonObject]]:
    """Serve a model that thinks, calls a tool, and then answers; return the requests it got."""
    got: list[JsonObject] = []

    async def messages(request: web.Request) -> web.StreamResponse:
        got.append(await request.json())
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for event in _call() if len(got) == 1 else _answer():
            await stream.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        return stream

    app = web.Application()
    app.router.add_post("/v1/messages", messages)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("ANTHROPIC_API_BASE", f"http://127.0.0.1:{runner.addresses[0][1]}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    yield got
    await runner.cleanup()


async def test_thoughts_are_journalled_returned_as_they_came_and_not_shown(requests: list[JsonObject]) -> None:
    client = LiteLLMClient("anthropic/claude-sonnet-4-5")
    await client.warm_up()
    journal = MemoryJournal()
    messages = (TurnMessage("m", "3 and 4?", NOW),)
    request = TurnRequest(TurnWork("turn", journal), TurnTenant("t"), Place("sms"), FromPerson(messages))
    try:
        events = [event async for event in Orchestrator(client, "Koi", tools=[add]).stream_message(request)]
    finally:
        await client.close()
    result = events[-1].result
    assert result is not None
    assert result.reply == "Seven"
    assert "Carefully" not in "".join(event.text for event in events)
    assert (await journal.recorded())[0].result["thinking"] == [THOUGHT, HIDDEN]
    asked: Json = requests[1]["messages"]
    assert isinstance(asked, list)
    called = asked[1]
    assert isinstance(called, dict)
    assert isinstance(called["content"], list)
    assert called["content"][:2] == [THOUGHT, HIDDEN]
    kept = [ChatMessage.from_json(json.loads(json.dumps(message.to_json()))) for message in result.history]
    assert kept[1].thinking == (THOUGHT, HIDDEN)


def _call() -> list[JsonObject]:
    return _message(
        "tool_use",
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": "Add them. "},
                {"type": "thinking_delta", "thinking": "Carefully."},
                {"type": "signature_delta", "signature": str(THOUGHT["signature"])},
            ],
        ),
        (HIDDEN, []),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}},
            [
                {"type": "input_json_delta", "partial_json": '{"a": 3, '},
                {"type": "input_json_delta", "partial_json": '"b": 4}'},
            ],
        ),
    )


def _answer() -> list[JsonObject]:
    return _message(
        "end_turn",
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Sev"}, {"type": "text_delta", "text": "en"}]),
    )


def _message(stop: str, *blocks: tuple[JsonObject, list[JsonObject]]) -> list[JsonObject]:
    """Write a message as Anthropic streams it (docs.anthropic.com, "Streaming messages")."""
    start: JsonObject = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    events: list[JsonObject] = [{"type": "message_start", "message": start}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end: JsonObject = {"stop_reason": stop, "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}}, {"type": "message_stop"}]
