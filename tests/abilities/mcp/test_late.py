"""What arrived late, or not at all, has an unknown outcome: it is not told as refused, and is not done twice."""

import json
from collections.abc import Callable

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.errors import ErrorAnswered, NoAnswer, ServerLost
from abilities.mcp.types import McpServer
from core.errors import OneValetError
from core.journal.types import Outcome, StepKey
from core.llm.types import ToolCall
from tests.abilities.mcp.hostile import Script
from tests.abilities.mcp.houses import House
from tests.core.builders import a_context

KEY, CALL = StepKey(1, 0), ToolCall("1", "home__act", "{}")


def _error(code: int, message: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 0, "error": {"code": code, "message": message}}).replace("0,", "ID,", 1)


async def test_a_call_whose_answer_is_late_is_in_doubt_and_not_made_twice(
    hurried: Callable[[float], House],
) -> None:
    house = hurried(1.0)
    house.script.says("held", "yes")
    end = await house.tool().run_call(KEY, CALL, {}, a_context())
    house.script.says("held", "")
    assert end.outcome is Outcome.UNKNOWN
    assert end.text.startswith("The server home gave no answer in time. It may or may not have done what was asked")
    assert "Do not call it again with the same arguments" in end.text
    assert house.script.asked.count("tools/call") == 1


ANSWERS = [
    # code, what it says, what it means, why
    (-32001, "Request timed out", NoAnswer, "the code of the SDKs' own timeouts, passed on by a proxy"),
    (408, "Timed out while waiting for response", NoAnswer, "the same of the SDKs before"),
    (504, "upstream request timeout", NoAnswer, "a gateway that answers with the status as a code"),
    (-32603, "Internal error", ErrorAnswered, "its own word about what it did"),
    (-32602, "Output validation error", ErrorAnswered, "some servers check their output after they acted"),
    (-32601, "Unknown tool", ErrorAnswered, "its own word"),
    (1234, "The bulb is broken", ErrorAnswered, "a code of its own"),
]


@pytest.mark.parametrize(("code", "message", "told", "why"), ANSWERS)
async def test_an_error_is_told_as_one_and_that_of_a_timeout_as_no_answer(
    house: House, code: int, message: str, told: type[OneValetError], why: str
) -> None:
    house.script.says("call", _error(code, message))
    if told is ErrorAnswered:
        end = await house.tool().run_call(KEY, CALL, {}, a_context())
        assert (end.text, end.outcome) == (f"The server reports an error: {message}", Outcome.OK), why
        return
    with pytest.raises(told):
        await house.call()


STATUSES = [
    # status, body, what it means, why
    (202, "", NoAnswer, "accepted: it is done later, and nobody will say so"),
    (408, "", NoAnswer, "a proxy gave up waiting"),
    (499, "", NoAnswer, "nginx: whoever asked is gone"),
    (504, "<html>Gateway Timeout</html>", NoAnswer, "a gateway gave up waiting"),
    (504, '{"message": "Endpoint request timed out"}', NoAnswer, "the same in JSON that is no message"),
    (500, '{"error": "oops"}', ServerLost, "it failed in the middle"),
    (502, "<html>Bad Gateway</html>", ServerLost, "the connection behind a gateway ended"),
    (503, "", ServerLost, "a proxy may say so after it passed the call on"),
    (400, "", ErrorAnswered, "its own word about what it was asked"),
    (429, '{"error": "slow down"}', ErrorAnswered, "the same"),
]


@pytest.mark.parametrize(("status", "body", "told", "why"), STATUSES)
async def test_a_status_that_stands_for_no_answer_is_none(
    at_http: tuple[Script, McpServer],
    connect: Callable[..., Connections],
    status: int,
    body: str,
    told: type[OneValetError],
    why: str,
) -> None:
    script, server = at_http
    house = House(script, server, connect(server))
    script.says("status", str(status))
    script.says("call", body)
    with pytest.raises(OneValetError) as raised:
        await house.call()
    assert type(raised.value) is told, why
    assert script.asked.count("tools/call") == 1
