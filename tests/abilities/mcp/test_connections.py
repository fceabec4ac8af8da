"""Connections with real MCP servers: over pipes and HTTP, in both eras, through restarts and changes of mind."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.errors import DefinitionChanged, LoginRefused, NoAnswer, ServerAway, ServerLost, ToolGone
from abilities.mcp.types import Definition, McpServer, ServerReply
from abilities.mcp.wording import unusable
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.servers.mcp import ScriptedMcp

type Connect = Callable[..., Connections]
LIGHT = {"name": "light", "description": "Switch the light.", "reads": False, "says": "It is on."}


async def _only(connections: Connections) -> Definition:
    (definition,) = await connections.tools("home")
    return definition


async def test_a_process_is_asked_and_answers(script: ScriptedMcp, connect: Connect) -> None:
    script.offers(LIGHT)
    connections = connect(script.over_pipes())
    definition = await _only(connections)
    assert (definition.name, definition.description, definition.reads) == ("light", "Switch the light.", False)
    assert await connections.call("home", definition, {"on": True}) == ServerReply("It is on.")
    assert script.calls == [{"name": "light", "arguments": {"on": True}}]


async def test_a_remote_server_is_asked_through_the_guard(script: ScriptedMcp, connect: Connect) -> None:
    script.offers(LIGHT, token="t0ken")
    with script.over_http() as server:
        connections = connect(server)
        with pytest.raises(LoginRefused):
            await connections.tools("home")
        headers = {"Authorization": "Bearer t0ken"}
        (definition,) = await connections.tools("home", headers)
        assert await connections.call("home", definition, {}, headers) == ServerReply("It is on.")
        with pytest.raises(ServerAway):
            await connect(server, hosts=()).tools("home", headers)
    assert len(script.calls) == 1


async def test_a_tool_that_changed_is_not_called(script: ScriptedMcp, connect: Connect) -> None:
    script.offers(LIGHT)
    connections = connect(script.over_pipes())
    accepted = await _only(connections)
    for change in ({"description": "Open the door."}, {"reads": True}, {"schema": {"type": "object", "title": "x"}}):
        script.offers({**LIGHT, **change})
        with pytest.raises(DefinitionChanged):
            await connections.call("home", accepted, {})
    script.offers({**LIGHT, "name": "other"})
    with pytest.raises(ToolGone):
        await connections.call("home", accepted, {})
    assert script.calls == []
    script.offers(LIGHT)
    assert (await connections.call("home", accepted, {})).text == "It is on."


async def test_a_process_that_dies_in_a_call_is_started_again(script: ScriptedMcp, connect: Connect) -> None:
    script.offers({**LIGHT, "dies": "after"})
    connections = connect(script.over_pipes())
    definition = await _only(connections)
    with pytest.raises(ServerLost):
        await connections.call("home", definition, {})
    script.offers(LIGHT)
    assert (await connections.call("home", definition, {})).text == "It is on.", "the first start is at once"
    script.offers({**LIGHT, "dies": "after"})
    for _ in range(2):
        with pytest.raises(ServerLost):
            await connections.call("home", definition, {})
    with pytest.raises(ServerAway, match="started again in"):
        await connections.call("home", definition, {})
    assert len(script.calls) == 4


@pytest.mark.whole("it waits for a limit of real time")
async def test_a_call_that_takes_too_long_ends_no_other(script: ScriptedMcp, connect: Connect) -> None:
    script.offers({**LIGHT, "sleeps": 600})
    connections = connect(replace(script.over_pipes(), timeout=2.0))
    definition = await _only(connections)
    first = asyncio.create_task(connections.call("home", definition, {}))
    await eventually(lambda: script.calls)
    second = asyncio.create_task(connections.call("home", definition, {}))
    ended = await asyncio.gather(first, second, return_exceptions=True)
    assert [type(error) for error in ended] == [NoAnswer, NoAnswer], "the second waited for its own time"
    script.offers(LIGHT)
    assert (await connections.call("home", definition, {})).text == "It is on."


async def test_what_does_not_start_is_away(connect: Connect) -> None:
    connections = connect(McpServer("home", command=(sys.executable, "-c", "pass"), timeout=20))
    with pytest.raises(ServerAway):
        await connections.tools("home")
    missing = connect(McpServer("home", command=("no-such-program-here",), timeout=20))
    with pytest.raises(ServerAway):
        await missing.tools("home")


async def test_a_start_that_nobody_waits_for_any_more_leaves_no_process(script: ScriptedMcp, connect: Connect) -> None:
    script.offers(LIGHT)
    connections = connect(script.over_pipes())
    asking = asyncio.create_task(connections.tools("home"))
    held = await eventually(lambda: [task for task in asyncio.all_tasks() if task.get_name() == "MCP server home"])
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.wait_for(held[0], PATIENCE)
    assert (await connections.call("home", await _only(connections), {})).text == "It is on."


async def test_resources_are_listed_and_read(script: ScriptedMcp, connect: Connect) -> None:
    script.offers(resources={"note://one": "Buy milk."})
    connections = connect(script.over_pipes())
    assert "note://one" in (await connections.resources("home")).text
    assert (await connections.read("home", "note://one")).text == "Buy milk."


@pytest.mark.whole("a server of others in a process of its own")
async def test_the_published_time_server_tells_the_time(connect: Connect) -> None:
    connections = connect(McpServer("time", command=(sys.executable, "-m", "mcp_server_time"), timeout=60))
    definitions = {one.name: one for one in await connections.tools("time")}
    assert definitions["get_current_time"].reads
    assert all(unusable(one, McpServer("time")) == "" for one in definitions.values())
    answer = await connections.call("time", definitions["get_current_time"], {"timezone": "Europe/Berlin"})
    assert "Europe/Berlin" in answer.text
    assert not answer.failed
    wrong = await connections.call("time", definitions["get_current_time"], {"timezone": "Mars"})
    assert wrong.failed
    assert "Mars" in wrong.text


@pytest.mark.slow
@pytest.mark.whole("a server of others in a process of its own")
async def test_the_published_fetch_server_is_understood(connect: Connect) -> None:
    connections = connect(McpServer("fetch", command=(sys.executable, "-m", "mcp_server_fetch"), timeout=60))
    (fetch,) = await connections.tools("fetch")
    assert (fetch.name, unusable(fetch, McpServer("fetch"))) == ("fetch", "")
    refused = await connections.call("fetch", fetch, {"url": "http://127.0.0.1:1/"})
    assert refused.failed
