"""What docs/deploy.md and docs/settings.md tell operators to write fits what the processes do."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from abilities.memory.settings import MemorySettings
from channels.http.app import MAX_BODY
from channels.http.deadlines import Limits
from onevalet.settings import Settings
from onevalet.wiring.loop import loop_config
from tests.documents.blocks import blocks_of
from tests.shipping.harness import read


def block(page: str, language: str, begins: str = "") -> str:
    """Return a page's block of code in a language, the one that begins so."""
    (found,) = [block.text for block in blocks_of(page) if block.language == language and block.text.startswith(begins)]
    return found


@pytest.mark.parametrize("proxy", ["nginx", "caddyfile"])
def test_the_proxies_shown_keep_to_the_limits_of_web(proxy: str) -> None:
    shown = block("docs/deploy.md", proxy)
    sizes = re.findall(r"(?:client_max_body_size|max_size|request_buffers) (\d+)(?:k;|KiB)", shown)
    assert sizes
    assert {int(size) * 1024 for size in sizes} == {MAX_BODY}
    (kept,) = re.findall(r"keepalive(?:_timeout)? (\d+)s", shown)
    assert timedelta(seconds=int(kept)) < timedelta(seconds=Limits().idle)
    assert "X-Forwarded" not in shown


def test_the_limits_that_the_page_names_are_those_of_web() -> None:
    limits, page = Limits(), " ".join(read("docs/deploy.md").split())
    assert f"{limits.header:g} seconds for its headers and {limits.body:g} for its body" in page
    assert f"over {MAX_BODY // 1024} KiB" in page
    assert f"the {limits.idle:g} seconds of `web`" in page


def test_the_install_of_the_page_works_with_the_pip_that_a_python_brings() -> None:
    """pip 23.2, which comes with Python 3.12.1, wants a hash of `pydantic-ai-slim[openai]`, which it works out."""
    [install] = [line for line in block("docs/deploy.md", "sh", "cd /opt/onevalet").splitlines() if "/pip " in line]
    assert {"--no-deps", "--require-hashes"} <= set(install.split())


def test_the_local_models_settings_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in Settings.model_fields if name.startswith("onevalet_")]:
        monkeypatch.delenv(name.upper(), raising=False)
    (tmp_path / ".env").write_text(block("docs/settings.md", "sh", "ONEVALET_MODEL=openai/qwen3"))
    settings = Settings()
    assert settings.onevalet_model == "openai/qwen3:8b"
    assert [key.get_secret_value() for key in settings.onevalet_model_keys] == ["none"]
    loop = loop_config(settings.loop)
    assert (loop.context_token_limit, loop.llm_first_token_timeout) == (32_768, 120)
    assert settings.of(MemorySettings).onevalet_memory == "rules"
