"""What is loaded at the start: only what the configured providers need."""

import subprocess
import sys

import pytest

MCP = "litellm.responses.mcp.chat_completions_handler"


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [("'openai/mine'", False), ("'openai/mine', ['cohere/mine']", True), ("'openai/mine', direct=False", True)],
)
def test_what_litellms_own_calls_need_is_loaded_for_those_only(arguments: str, loaded: bool) -> None:
    script = (
        "import asyncio, sys; from core.llm.litellm_client import LiteLLMClient;"
        f"asyncio.run(LiteLLMClient({arguments}).warm_up()); print({MCP!r} in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout.strip() == str(loaded)
