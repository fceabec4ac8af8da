"""Promise 11: a program searches what is remembered of its own person, told in their language, and of nobody else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from core.clock import Clock
from onevalet.settings import Settings
from onevalet.wiring.connections import Connections, open_connections
from onevalet.wiring.memories import open_memories
from onevalet.wiring.program_doors import build_client_tools
from operations.programs.sdk import build_server
from operations.programs.tokens import Client as Program
from tests.core.harness import opened


@pytest.fixture
async def connections(settings: Settings, database_url: str) -> AsyncIterator[Connections]:
    async with opened(database_url) as store:
        await store.admin.execute("insert into tenants (tenant_id, language) values ('ann', 'en'), ('bob', 'de')")
    async with open_connections(settings, "test", size=3) as connections:
        memory = open_memories(settings, connections.database, Clock())
        assert memory is not None
        await memory("ann").remember("My dentist is Doctor Weiss in Elm Street.", "one")
        await memory("ann").remember("I am allergic to peanuts.", "two")
        await memory("bob").remember("My dentist is Doctor Schwarz.", "three")
        yield connections


@asynccontextmanager
async def program_of(tenant: str, connections: Connections) -> AsyncIterator[Client]:
    """Connect a program of a person's by the official client."""

    async def who(_: Any) -> Program:
        return Program(tenant, f"mcp_{tenant}", "laptop", 1)

    async with Client(build_server(build_client_tools(connections, Clock()), who, "0")) as client:
        yield client


async def test_promise_11_a_program_searches_its_own_persons_memory(connections: Connections) -> None:
    async with program_of("ann", connections) as client:
        assert "search_memory" in {tool.name for tool in (await client.list_tools()).tools}
        told = await client.call_tool("search_memory", {"query": "dentist"})
        nothing = await client.call_tool("search_memory", {"query": "submarine"})
        wrong = await client.call_tool("search_memory", {"query": ""})
    found = [one["text"] for one in (told.structured_content or {})["memories"]]
    assert any("Weiss" in text for text in found)
    assert not any("Schwarz" in text for text in found)
    assert "you told me" in told.content[0].text  # type: ignore[union-attr]
    assert "Weiss" in told.content[0].text  # type: ignore[union-attr]
    assert (nothing.structured_content, nothing.content[0].text) == (  # type: ignore[union-attr]
        {"memories": []},
        "There are no memories.",
    )
    assert wrong.is_error
    async with program_of("bob", connections) as client:
        theirs = await client.call_tool("search_memory", {"query": "dentist"})
    assert "hast du mir gesagt" in theirs.content[0].text  # type: ignore[union-attr]
    assert "Schwarz" in str(theirs.structured_content)
    assert "Weiss" not in str(theirs.structured_content)
