"""A conversation with a scripted model."""

from collections.abc import AsyncIterator

import pytest

from providers.models.litellm_client import LiteLLMClient
from tests.core.agents.harness import Talk
from tests.core.harness import Store
from tests.scripted_model import ScriptedModel


@pytest.fixture
async def talk(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Talk]:
    """Yield a conversation whose model has no script yet and that has no agents yet."""
    async with ScriptedModel([], strict=True) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        client = LiteLLMClient("openai/scripted")
        await client.warm_up()
        yield Talk(store, server, client)
        await client.close()
