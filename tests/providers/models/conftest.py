"""A model that is scripted, and our client of it."""

from collections.abc import AsyncIterator

import pytest

from providers.models.litellm_client import LiteLLMClient
from tests.scripted_model import ScriptedModel


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedModel]:
    """Serve a model that says nothing yet; litellm is pointed at it."""
    async with ScriptedModel([]) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        yield server


@pytest.fixture
async def client() -> AsyncIterator[LiteLLMClient]:
    made = LiteLLMClient("openai/scripted")
    await made.warm_up()
    yield made
    await made.close()
