"""A remote server that wants each person's own login: the call carries their token, and a refused one is renewed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.hearing import MAX_ANSWER
from abilities.mcp.tools import McpTool, mcp_tool
from abilities.mcp.types import Definition
from core.credentials.types import Account, OpenAccount
from core.errors import ToolFailed
from core.journal.types import StepKey
from core.llm.types import ToolCall
from core.tools.account_argument import ACCOUNT
from tests.core.builders import a_context
from tests.servers.mcp import ScriptedMcp


class _Accounts:
    def __init__(self, secret: str) -> None:
        self._secret = secret
        self.asked: list[str] = []

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        self.asked.append(need)
        return OpenAccount(Account("linear", "primary"), "ann", self._secret, bearer=True)


async def test_a_call_carries_the_persons_token(script: ScriptedMcp, connect: Callable[..., Connections]) -> None:
    script.offers({"name": "light", "says": "It is on."}, token="anns")
    with script.over_http(account="linear:mcp") as server:
        connections = connect(server)
        (definition,) = await connections.tools("home", {"Authorization": "Bearer anns"})
        tool: Any = mcp_tool(server, definition, connections)
        assert isinstance(tool, McpTool)
        assert tool.accounts == ("linear:mcp",)
        assert ACCOUNT not in str(tool.spec.parameters), "the model sees it only where there are several"
        good: Any = _Accounts("anns")
        bad: Any = _Accounts("old")
        parsed = tool.parse({ACCOUNT: "primary"})
        assert await tool.run(parsed, replace(a_context(), accounts=good)) == "It is on."
        with pytest.raises(ToolFailed) as raised:
            await tool.run(parsed, replace(a_context(), accounts=bad))
    assert raised.value.refused is not None
    assert (raised.value.refused.need, raised.value.refused.service) == ("linear:mcp", "linear")
    assert good.asked == ["linear:mcp"]
    assert script.calls == [{"name": "light", "arguments": {}}]


async def test_a_server_that_says_too_much_is_left_alone_for_that_person(
    script: ScriptedMcp, connect: Callable[..., Connections]
) -> None:
    script.offers({"name": "light", "reads": True, "says": "x" * MAX_ANSWER}, token="anns")
    with script.over_http(account="linear:mcp", read_only=("*",)) as server:
        connections = connect(server)
        (definition,) = await connections.tools("home", {"Authorization": "Bearer anns"})
        tool: Any = mcp_tool(server, definition, connections)
        accounts: Any = _Accounts("anns")
        key, call = StepKey(1, 0), ToolCall("1", tool.name, "{}")
        ann = replace(a_context(), accounts=accounts, tenant_id="ann")
        for _ in range(2):
            with pytest.raises(ToolFailed, match="so I leave it alone for now"):
                await tool.run_call(key, call, {}, ann)
        assert len(script.calls) == 1
        script.offers({"name": "light", "reads": True, "says": "It is on."}, token="anns")
        bob = replace(ann, tenant_id="bob")
        assert (await tool.run_call(key, call, {}, bob)).text == "It is on."


def test_a_tool_with_an_account_of_its_own_cannot_be_offered(script: ScriptedMcp) -> None:
    server = replace(script.over_pipes(), account="linear:mcp")
    named: Any = {"type": "object", "properties": {"account": {"type": "string"}}}
    connections: Any = None
    assert mcp_tool(server, Definition("x", "", named), connections) is None
