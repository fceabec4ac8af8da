"""The scripted model and the store that these tests share."""

from collections.abc import AsyncIterator

import pytest

from core.llm.litellm_client import LiteLLMClient
from tests.core.agents.harness import Talk
from tests.core.harness import Store, opened
from tests.scripted_model import ScriptedModel


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with opened(database_url) as store:
        yield store


@pytest.fixture
async def talk(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Talk]:
    """Yield a talk whose model says nothing yet, and whose agents are the test's to set."""
    async with ScriptedModel([], strict=True) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        client = LiteLLMClient("openai/scripted")
        await client.warm_up()
        yield Talk(store, server, client)
        await client.close()
