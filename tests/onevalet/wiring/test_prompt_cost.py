"""What fifty tools of MCP servers and twenty skills cost each prompt, and that they are chosen as when all is shown."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.tools import mcp_tool
from abilities.mcp.types import McpServer
from abilities.skills.use import SkillTools, _use_skill
from core.agents.registry import AgentRegistry
from core.errors import ToolRetry
from core.http.guarded_client import GuardedClient
from core.journal.types import Outcome
from core.json_types import Json
from core.llm.types import ToolCall, ToolSpec
from core.loop.config import ReactLoopConfig
from core.tools.results import CallResult
from core.tools.tool import AnyTool, Described
from core.tools.toolbox import SWITCH, Toolbox, ToolRegistry, groups_in
from core.turns.orchestrator import Orchestrator
from onevalet.wiring.plugins import Plugins, load_plugins
from tests.core.builders import FakeModel, says
from tests.core.turns.test_orchestrator import _request
from tests.jobs.turns.prompt_cost import SERVERS, THINGS, VERBS, definition

MOST_MORE = 1000
"""Tokens that all of it may add to a prompt; in full, the tools alone would cost five times that."""


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins(["agents"])


@pytest.fixture(scope="module")
def fifty() -> list[AnyTool]:
    connections = Connections([], GuardedClient())
    definitions = [definition(verb, thing) for verb in VERBS for thing in THINGS]
    servers = [McpServer(name, url="https://mcp.example/mcp") for name in SERVERS]
    made = [mcp_tool(server, definition, connections) for server in servers for definition in definitions]
    return [tool for tool in made if tool is not None]


def _skill_tool() -> AnyTool:
    line = "When somebody wants the weekly report of a project, or asks how it went"
    return _use_skill(tuple((f"report-{number}", line) for number in range(20)), cast(SkillTools, None))


class _Source:
    def __init__(self, tools: Sequence[AnyTool]) -> None:
        self._tools = tools

    async def tools_for(self, tenant_id: str, described: Described) -> Sequence[AnyTool]:
        return self._tools


async def _hello(plugins: Plugins, tools: Sequence[AnyTool]) -> tuple[int, Sequence[ToolSpec]]:
    """Return the tokens of a hello's prompt, four bytes each, and the tools in it."""
    model = FakeModel([says("Hi")])
    agents = AgentRegistry(plugins.agents, groups=plugins.groups)
    orchestrator = Orchestrator(model, tools=plugins.tools, agents=agents, tool_sources=[_Source(tools)])
    await orchestrator.handle_message(_request("hello"))
    request = model.requests[0]
    return (_size(request.tools) + sum(len(message.text) for message in request.messages)) // 4, request.tools


def _size(specs: Sequence[ToolSpec]) -> int:
    return sum(len(json.dumps([spec.name, spec.description, spec.parameters])) for spec in specs)


async def test_fifty_tools_and_twenty_skills_add_little_to_a_hello(plugins: Plugins, fifty: list[AnyTool]) -> None:
    alone, _ = await _hello(plugins, [])
    all_of_it, shown = await _hello(plugins, [*fifty, _skill_tool()])
    in_full = _size([tool.spec for tool in fifty]) // 4
    assert len(fifty) == 50
    assert all_of_it - alone < MOST_MORE < in_full / 4, (alone, all_of_it, in_full)
    assert not [spec.name for spec in shown if "__" in spec.name]


def test_one_hundred_requests_reach_the_tool_that_they_would_in_full(plugins: Plugins, fifty: list[AnyTool]) -> None:
    requests = [
        (f"{polite} {verb} the {thing} in {server}", f"{server}__{verb}_{thing}")
        for polite in ("Please", "Could you")
        for server in SERVERS
        for verb in VERBS
        for thing in THINGS
    ]
    assert len(requests) == 100
    tools = ToolRegistry([*(tool for tool in plugins.tools if not tool.inverse), *fifty])
    for words, meant in requests:
        assert _called(Toolbox(tools, in_full=1000), words) == meant
        assert _called(Toolbox(tools, in_full=ReactLoopConfig().tools_in_full), words) == meant


def _called(toolbox: Toolbox, words: str) -> str:
    """Return what a model calls that goes by the names alone, those that the switch lists included."""
    offered = [spec.name for spec in toolbox.offered.specs]
    listed = [name for spec in toolbox.offered.specs if spec.name == SWITCH for name in groups_in(spec.description)]
    said = set(re.findall(r"\w+", words.lower()))
    best = max([*offered, *listed], key=lambda name: len(said & set(re.findall(r"[a-z]+", name))))
    if best not in offered:
        given: dict[str, Any] = {"group": best.partition("__")[0]}
        call = ToolCall("c", SWITCH, json.dumps(given))
        toolbox.apply(CallResult(call, "on", Outcome.OK))
        assert best in [spec.name for spec in toolbox.offered.specs], "what was opened is offered in full"
    tool = toolbox.get(best)
    assert tool is not None
    arguments: Json = {"query": words}
    try:
        tool.parse(arguments)
    except ToolRetry:
        return ""
    return best
