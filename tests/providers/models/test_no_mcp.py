"""litellm's own calls, over both of OpenAI's interfaces, where the package `mcp` is not installed."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("model")]
SCRIPT = """
import asyncio, os, sys
sys.modules["mcp"] = None  # an import of it fails
from aiohttp import web
from providers.models.litellm_client import LiteLLMClient
from core.llm.types import ChatMessage, ModelRequest, Role, ToolSpec

ADD = ToolSpec("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}})
REQUEST = ModelRequest((ChatMessage(Role.USER, "Hello"),), tools=(ADD,), timeout=30)
MESSAGE = {"role": "assistant", "content": "by chat"}
TEXT = {"type": "output_text", "text": "by responses", "annotations": []}
OUTPUT = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [TEXT]}
ANSWERS = {
    "chat/completions": {"choices": [{"index": 0, "finish_reason": "stop", "message": MESSAGE}]},
    "responses": {"object": "response", "created_at": 1, "status": "completed", "output": [OUTPUT], "tools": [],
                  "parallel_tool_calls": True, "tool_choice": "auto"},
}

async def answer(request):
    told = await request.json()
    assert told["tools"], "the tools are sent"
    made = {"id": "a", "object": "chat.completion", "created": 1, "model": "scripted"}
    return web.json_response(made | ANSWERS[request.match_info["path"]])

async def main():
    app = web.Application()
    app.router.add_post("/v1/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    os.environ |= {"OPENAI_API_BASE": "http://127.0.0.1:%d/v1" % runner.addresses[0][1], "OPENAI_API_KEY": "sk"}
    for model in ("openai/scripted", "openai/responses/scripted"):
        client = LiteLLMClient(model, direct=False)
        print((await client.answer(REQUEST)).text)
        await client.close()
    await runner.cleanup()

asyncio.run(main())
"""


def test_a_call_with_tools_needs_no_mcp() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["by chat", "by responses"], done.stderr[-2000:]
