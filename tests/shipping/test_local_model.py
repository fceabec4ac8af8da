"""The recipe of docs/settings.md for a local model, followed to the letter with a small server in place of Ollama."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.ports import free_port
from tests.running_dev import dev_environment
from tests.scripted_model import ScriptedModel, calls, text
from tests.shipping.harness import ROOT, read
from tests.shipping.test_deploy_page import block

ENV = block("docs/settings.md", "sh", "ONEVALET_MODEL=openai/qwen3")
SERVERS = (block("docs/settings.md", "sh", "OLLAMA_"), block("docs/settings.md", "sh", "llama-server"))


def test_the_parts_of_the_recipe_name_one_model_address_and_context() -> None:
    settings = dict(line.split("=", 1) for line in ENV.splitlines())
    model = settings["ONEVALET_MODEL"].removeprefix("openai/")
    ollama, llama = SERVERS
    assert f"ollama pull {model}\n" in ollama
    assert re.findall(r"--alias (\S+)", llama) == [model]
    contexts = [*re.findall(r"OLLAMA_CONTEXT_LENGTH=(\d+)", ollama), *re.findall(r"--ctx-size (\d+)", llama)]
    assert contexts == [settings["ONEVALET_LOOP_CONTEXT_TOKEN_LIMIT"]] * 2
    port = re.findall(r"--port (\d+)", llama)[0]
    assert settings["OPENAI_API_BASE"] == f"http://127.0.0.1:{port}/v1"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("dev")
async def test_chat_answers_by_the_local_model_of_the_recipe(tmp_path: Path) -> None:
    replies = [calls(("calculate", {"expression": "12 * 12"})), text("Twelve dozen are 144.")]
    async with ScriptedModel(replies) as server:
        address = "http://127.0.0.1:11434/v1"
        assert address in ENV
        (tmp_path / ".env").write_text(ENV.replace(address, server.url))
        chat = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "onevalet",
            "chat",
            cwd=tmp_path,
            env=dev_environment(tmp_path / "home", free_port(1)) | {"PYTHONPATH": str(ROOT)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            shown, errors = await asyncio.wait_for(chat.communicate(b"What are twelve dozen?\n"), 4 * PATIENCE)
        finally:
            if chat.returncode is None:
                chat.kill()
        assert chat.returncode == 0, errors.decode()
        assert "Twelve dozen are 144." in shown.decode()
    assert [call.body["model"] for call in server.calls] == ["qwen3:8b"] * 2, "and no calls for memory or profile"
    assert {call.key for call in server.calls} == {"none"}
    assert {call.body.get("max_tokens") or call.body.get("max_completion_tokens") for call in server.calls} == {
        32_768 // 15
    }
    assert "calculate" in server.calls[0].tools
    assert "144" in "".join(server.calls[1].tool_results.values())


def test_readme_leads_to_the_recipe() -> None:
    assert "(docs/settings.md#a-local-model)" in read("README.md")
    assert "### A local model\n" in read("docs/settings.md")
