"""One bad tool, page, block or byte of a server costs itself alone; each row says why its value is the right one."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.errors import AnswerUnreadable, ErrorAnswered, ServerAway, ToolGone
from abilities.mcp.types import Definition, McpServer, Picture, ServerReply
from abilities.mcp.wording import unusable
from core.errors import OneValetError
from tests.abilities.mcp.hostile import DONE, TOOL, Script
from tests.abilities.mcp.houses import ACT, House, result

ANY = {"type": "object"}
UNREADABLE = "[Something that cannot be read.]"
PNG = base64.b64encode(b"\x89PNG?>").decode()

TOOLS: list[tuple[str, Any, Any]] = [
    # why, the tool besides its name, what its parameters are; a text is why it cannot be offered, None: it is not there
    ("no schema: Unity-MCP #440, swift-sdk #79", {}, ANY),
    ("null, as serializers write what is not there", {"inputSchema": None}, ANY),
    ("an empty one: gitlab-mcp #286", {"inputSchema": {}}, ANY),
    ("an empty array, which is PHP's empty object", {"inputSchema": []}, ANY),
    ("true takes anything, says JSON Schema", {"inputSchema": True}, ANY),
    ("only its draft: mcp-server-taskwarrior #11", {"inputSchema": {"$schema": "x"}}, {"$schema": "x", **ANY}),
    ("parameters are an object, says the protocol", {"inputSchema": {"properties": {}}}, {"properties": {}, **ANY}),
    ("alternatives without a type: claude-code #88049", {"inputSchema": {"anyOf": [ANY]}}, {"anyOf": [ANY], **ANY}),
    ("an object among types", {"inputSchema": {"type": ["object", "null"]}}, ANY),
    ("nothing required: PraisonAI #3111", {"inputSchema": {**ANY, "required": None}}, ANY),
    ("PHP's empty properties", {"inputSchema": {**ANY, "properties": []}}, {**ANY, "properties": {}}),
    ("Anthropic's name for it", {"input_schema": {**ANY, "required": ["a"]}}, {**ANY, "required": ["a"]}),
    ("OpenAI's name for it", {"parameters": {**ANY, "required": ["a"]}}, {**ANY, "required": ["a"]}),
    ("a text: atlas-ui-3 #727", {"inputSchema": {"type": "string"}}, "its parameters are no object"),
    ("false takes nothing, so nothing can be said", {"inputSchema": False}, "its parameters are no object"),
    ("words", {"inputSchema": "object"}, "its parameters are no object"),
    (
        "required among the properties: mastra #23731",
        {"inputSchema": {**ANY, "properties": {"a": {}, "required": ["a"]}}},
        "its parameters hold something that is no schema",
    ),
    ("hints of null: mcp-js #117", {"inputSchema": ANY, "annotations": {"readOnlyHint": None, "title": None}}, ANY),
    ("hints that are none", {"inputSchema": ANY, "annotations": "read only"}, ANY),
    ("no description: fastmcp #594", {"inputSchema": ANY, "description": None}, ANY),
    ("a description that is none", {"inputSchema": ANY, "description": {"en": "Acts."}}, ANY),
    ("icons and titles, which nobody looks at", {"inputSchema": ANY, "icons": "x.png", "title": 7}, ANY),
    ("a schema of what comes back that is none", {"inputSchema": ANY, "outputSchema": "object"}, ANY),
    ("more of the protocol to come", {"inputSchema": ANY, "execution": {"taskSupport": "sometimes"}, "_meta": []}, ANY),
    ("a number that nobody can write", {"inputSchema": {**ANY, "maxProperties": float("inf")}}, None),
    ("nested without end", {"inputSchema": {**ANY, "not": json.loads("[" * 150 + "]" * 150)}}, None),
]


async def test_one_bad_tool_costs_itself_alone(house: House) -> None:
    bad = [{"name": f"t{at}", **tool} for at, (_, tool, _) in enumerate(TOOLS)]
    nameless: list[Any] = [None, "act", [], {}, {"inputSchema": ANY}, {"name": 7, "inputSchema": ANY}]
    house.script.says("tools/list", result(json.dumps({"tools": [*bad, *nameless, json.loads(TOOL)]})))
    found = {tool.name: tool for tool in await house.connections.tools("home")}

    def told(at: int) -> object:
        tool = found.get(f"t{at}")
        return None if tool is None else unusable(tool, house.server) or tool.schema

    assert {why: told(at) for at, (why, *_) in enumerate(TOOLS)} == {why: right for why, _, right in TOOLS}
    assert list(found)[-1] == "act"
    assert len(found) == len([right for *_, right in TOOLS if right is not None]) + 1
    assert await house.call() == ServerReply("done")


async def test_only_true_is_a_hint_that_a_tool_reads(house: House) -> None:
    hints = [True, "true", 1, "yes", None]
    tools = [{"name": f"t{at}", "annotations": {"readOnlyHint": hint}} for at, hint in enumerate(hints)]
    house.script.says("tools/list", result(json.dumps({"tools": tools})))
    assert [tool.reads for tool in await house.connections.tools("home")] == [True, False, False, False, False]


def _says(text: object) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _file(data: bytes, kind: str = "image/png") -> ServerReply:
    return ServerReply("", (Picture(kind, data),))


RESULTS: list[tuple[str, Any, ServerReply | type[OneValetError]]] = [
    # why, what the call results in, what of it counts
    ("no content, but data: python-sdk #1796", {"structuredContent": {"a": 1}}, ServerReply('{"a": 1}')),
    ("content of null, Go's list of nothing", {"content": None, "structuredContent": [1]}, ServerReply("[1]")),
    (
        "a word counts before data that is not as was said",
        {"content": [_says("ok")], "structuredContent": 7},
        ServerReply("ok"),
    ),
    ("nothing at all is a call that was made", {}, ServerReply("")),
    ("so is null, JSON-RPC's answer of what returns nothing", None, ServerReply("")),
    ("words alone", "done", ServerReply("done")),
    ("words as content", {"content": "done"}, ServerReply("done")),
    ("blocks without a frame", [_says("one"), _says("two")], ServerReply("one\ntwo")),
    ("one block without a list", {"content": _says("done")}, ServerReply("done")),
    ("bare words among blocks", {"content": ["one", _says("two")]}, ServerReply("one\ntwo")),
    ("the protocol's result of 2024", {"toolResult": {"a": 1}}, ServerReply('{"a": 1}')),
    ("a result of no protocol", {"temperature": 7}, ServerReply('{"temperature": 7}')),
    (
        "data with nothing but blanks beside",
        {"content": [_says(" ")], "structuredContent": {"a": 1}},
        ServerReply(' \n{"a": 1}'),
    ),
    ("a number as text", {"content": [_says(5)]}, ServerReply("5")),
    ("an object as text", {"content": [_says({"a": 1})]}, ServerReply('{"a": 1}')),
    ("a text of null", {"content": [_says(None), _says("done")]}, ServerReply("\ndone")),
    ("a block without a kind", {"content": [{"text": "done"}]}, ServerReply("done")),
    ("a kind to come, with its text", {"content": [{"type": "thinking", "text": "hm"}]}, ServerReply("hm")),
    ("a kind to come, without", {"content": [{"type": "map", "at": 7}]}, ServerReply('{"type": "map", "at": 7}')),
    ("JSON as a block", {"content": [{"type": "json", "json": [1]}]}, ServerReply('{"type": "json", "json": [1]}')),
    ("a block of nothing", {"content": [None, _says("done")]}, ServerReply("done")),
    (
        "one that nobody can read",
        {"content": [{"type": "image", "data": 7}, _says("ok")]},
        ServerReply(f"ok\n{UNREADABLE}"),
    ),
    (
        "a block nested too deeply",
        {"content": [_says("ok"), json.loads("[" * 150 + "]" * 150)]},
        ServerReply(f"ok\n{UNREADABLE}"),
    ),
    (
        "a number that is none, beside a text",
        {"content": [_says("ok")], "structuredContent": float("nan")},
        ServerReply("ok"),
    ),
    ("and alone: nothing of what came can be read", {"structuredContent": float("nan")}, AnswerUnreadable),
    ("nothing but a picture that is none", {"content": [{"type": "image", "data": 7}]}, AnswerUnreadable),
    ("an annotation that is none", {"content": [{**_says("ok"), "annotations": 7, "_meta": "x"}]}, ServerReply("ok")),
    ("a link without a name", {"content": [{"type": "resource_link", "uri": "x:1"}]}, ServerReply("x:1")),
    (
        "a resource without an address",
        {"content": [{"type": "resource", "resource": {"text": "ok"}}]},
        ServerReply("ok"),
    ),
    ("a resource of nothing", {"content": [{"type": "resource"}]}, ServerReply('{"type": "resource"}')),
    (
        "a picture without a kind",
        {"content": [{"type": "image", "data": PNG}]},
        _file(b"\x89PNG?>", "application/octet-stream"),
    ),
    (
        "a picture as browsers have it",
        {"content": [{"type": "image", "data": f"data:image/png;base64,{PNG}"}]},
        _file(b"\x89PNG?>"),
    ),
    (
        "base64 for addresses, in lines and not filled up",
        {
            "content": [
                {
                    "type": "image",
                    "mimeType": "image/png",
                    "data": PNG.replace("+", "-").replace("/", "_")[:4] + "\n" + PNG[4:].replace("/", "_").rstrip("="),
                }
            ]
        },
        _file(b"\x89PNG?>"),
    ),
    (
        "a film is a file too",
        {"content": [{"type": "video", "data": PNG, "mimeType": "video/mp4"}]},
        _file(b"\x89PNG?>", "video/mp4"),
    ),
    ("failed, and why", {"content": [_says("no")], "isError": True}, ServerReply("no", failed=True)),
    ("failed, in a word", {"content": [_says("no")], "isError": "true"}, ServerReply("no", failed=True)),
    ("not failed, in a word", {"content": [_says("ok")], "isError": "false"}, ServerReply("ok")),
    ("not failed, of null", {"content": [_says("ok")], "isError": None}, ServerReply("ok")),
    (
        "whatever else it is, it is not well",
        {"content": [_says("ok")], "isError": "perhaps"},
        ServerReply("ok", failed=True),
    ),
    ("what is besides and is no object", {"content": [_says("ok")], "_meta": [], "resultType": 7}, ServerReply("ok")),
]


async def _told(house: House, said: str | bytes) -> ServerReply | type[Exception]:
    house.script.says("call", said)
    try:
        return await house.call()
    except OneValetError as error:
        return type(error)


async def test_the_text_of_a_result_counts_whatever_else_is_wrong(house: House) -> None:
    told = {why: await _told(house, result(json.dumps(given))) for why, given, _ in RESULTS}
    assert told == {why: right for why, _, right in RESULTS}


def _message(**inside: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": "ID", **inside}).replace('"ID"', "ID")


OK: dict[str, Any] = {"content": [_says("done")]}
ENVELOPES: list[tuple[str, str | bytes, ServerReply | type[OneValetError]]] = [
    # why, what is answered, what it means
    ("a mark of byte order", "\ufeff" + DONE, ServerReply("done")),
    ("Windows' ends of lines", DONE + "\r", ServerReply("done")),
    (
        "Latin-1 costs its letter: kimi-code #886",
        DONE.replace("done", "caf\xe9 done").encode("latin-1"),
        ServerReply("caf\ufffd done"),
    ),
    (
        "so does a letter that was cut",
        DONE.encode().replace(b"done", "€ done".encode()[1:]),
        ServerReply("\ufffd\ufffd done"),
    ),
    ("a batch, as the protocol of March 2025 has it", f"[{DONE}]", ServerReply("done")),
    (
        "a batch with words for a log",
        f'[{{"jsonrpc":"2.0","method":"notifications/message"}},{DONE}]',
        ServerReply("done"),
    ),
    ("an error of null beside", _message(result=OK, error=None), ServerReply("done")),
    ("a result of null beside", _message(result=None, error={"code": 1, "message": "no"}), ErrorAnswered),
    ("an empty error beside", _message(result=OK, error={}), ServerReply("done")),
    ("a method of null beside", _message(result=OK, method=None), ServerReply("done")),
    ("another version of JSON-RPC", _message(result=OK, jsonrpc="1.0"), ServerReply("done")),
    ("a number as the version", _message(result=OK, jsonrpc=2.0), ServerReply("done")),
    ("a number as a text: python-sdk #192", DONE.replace("ID", '"ID"'), ServerReply("done")),
    ("a number with a fraction of nothing", DONE.replace("ID", "ID.0"), ServerReply("done")),
    ("a code in words", _message(error={"code": "E_NO", "message": "no"}), ErrorAnswered),
    ("no code", _message(error={"message": "no"}), ErrorAnswered),
    ("no words", _message(error={"code": 7}), ErrorAnswered),
    ("words alone", _message(error="no"), ErrorAnswered),
    (
        "the code of whatever went wrong is no end of the connection",
        _message(error={"code": -32000, "message": "no"}),
        ErrorAnswered,
    ),
    ("words of a log on the same line", b"INFO done in 3 ms " + DONE.encode(), ServerReply("done")),
    ("a progress bar", "\r 10% |=  |\r100% |===|\x1b[0m" + DONE, ServerReply("done")),
    ("two on one line", '{"jsonrpc":"2.0","id":999,"result":{}}' + DONE, ServerReply("done")),
    ("cut off: whose it is can still be seen", DONE[:-4], AnswerUnreadable),
]


async def test_one_bad_thing_around_an_answer_costs_no_answer(house: House) -> None:
    told = {why: await _told(house, said) for why, said, _ in ENVELOPES}
    assert told == {why: right for why, _, right in ENVELOPES}
    assert house.script.asked.count("initialize") == 1 or house.server.url, "the program was never started again"


async def test_what_a_log_on_stdout_quotes_is_no_answer(house: House) -> None:
    quoted = b'DEBUG read {"jsonrpc":"2.0","id":NUMBER,"method":"tools/call"} {"jsonrpc":"2.0","id":NUMBER,\n'
    lines = [b"\xe9t\xe9\n", *[quoted.replace(b"NUMBER", b"%d" % number) for number in range(1, 8)]]
    house.script.says("before", b"".join(lines))
    assert await house.call() == ServerReply("done")


async def test_the_words_of_an_error_are_told_in_whatever_form_they_come(house: House) -> None:
    for error in (
        "no",
        {"message": "no"},
        {"code": -32000, "message": "no"},
        {"code": "x", "data": "no"},
        {"message": ["no"]},
    ):
        house.script.says("call", _message(error=error))
        with pytest.raises(ErrorAnswered, match="no"):
            await house.call()


async def test_what_an_error_says_besides_is_kept(house: House) -> None:
    # From it the SDK knows which versions of the protocol a server speaks.
    data = {"supported": ["2099-01-01"], "requested": "2026-07-28"}
    error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
    house.script.says("server/discover", _message(error=error))
    with pytest.raises(ServerAway):
        await house.call()
    assert house.script.asked == ["server/discover"]


AT_HTTP: list[tuple[str, str, str, ServerReply | type[OneValetError]]] = [
    # why, the type, the body, what it means
    ("JSON that says it is text", "text/plain; charset=utf-8", DONE, ServerReply("done")),
    ("JSON of a kind of its own", "application/vnd.mcp+json", DONE, ServerReply("done")),
    ("no type", "application/octet-stream", DONE, ServerReply("done")),
    ("a page, after the call was made", "text/html", "<html>OK</html>", AnswerUnreadable),
    ("nothing, after the call was made", "application/json", "", AnswerUnreadable),
    (
        "a number that was never asked: radare2-mcp #68",
        "application/json",
        DONE.replace("ID", "0"),
        ServerReply("done"),
    ),
    ("no number: helidon-mcp #65", "application/json", _message(error="no").replace("ID", "null"), ErrorAnswered),
    (
        "an event over several lines",
        "text/event-stream",
        "event: message\ndata: " + DONE.replace(",", ",\ndata: ") + "\n\n",
        ServerReply("done"),
    ),
    ("an event without an end", "text/event-stream", f"data:{DONE}", ServerReply("done")),
    ("an event of a batch", "text/event-stream", f"id: 1\r\ndata: [{DONE}]\r\n\r\n", ServerReply("done")),
    (
        "a sign of life that is no message",
        "text/event-stream",
        f"data: ping\n\ndata: [1]\n\ndata: {DONE}\n\n",
        ServerReply("done"),
    ),
    ("an event of nothing before", "text/event-stream", f"id: 1\ndata:\n\ndata: {DONE}\n\n", ServerReply("done")),
    (
        "a half of a letter in an event",
        "text/event-stream",
        "data: " + DONE.replace("done", r"\ud83d") + "\n\n",
        ServerReply("\ufffd"),
    ),
]


async def test_one_bad_thing_of_http_costs_no_answer(
    at_http: tuple[Script, McpServer], connect: Callable[..., Connections]
) -> None:
    script, server = at_http
    house, told = House(script, server, connect(server)), {}
    for why, kind, body, _ in AT_HTTP:
        script.says("type", kind)
        told[why] = await _told(house, body)
    assert told == {why: right for why, *_, right in AT_HTTP}


PAGES: list[tuple[str, Any, str | None, list[str]]] = [
    # why, the cursor of the first page, the second page, the tools
    ("no further page", None, None, ["act"]),
    ("an empty cursor is a cursor, says the protocol of 2026", "", "more", ["act", "more"]),
    ("one that leads nowhere: java-sdk #628, codebase-memory-mcp #1247", "again", "again", ["act"]),
    ("an empty one that leads nowhere", "", "", ["act"]),
    ("a page that cannot be read", "on", "broken", ["act"]),
    ("a page that is refused", "on", "refused", ["act"]),
    ("a cursor that is none", 7, None, ["act"]),
]


@pytest.mark.parametrize(("why", "cursor", "second", "names"), PAGES, ids=[why for why, *_ in PAGES])
async def test_one_bad_page_costs_itself_alone(
    house: House, why: str, cursor: Any, second: str | None, names: list[str]
) -> None:
    pages = {
        "more": result('{"tools":[{"name":"more"}]}'),
        "broken": result('{"tools":"more"}'),
        "refused": _message(error={"code": -32602, "message": "Invalid cursor"}),
    }
    first = result(json.dumps({"tools": [json.loads(TOOL)], "nextCursor": cursor}))
    house.script.says("tools/list", first)
    if second is not None:
        house.script.says(f"tools/list after {cursor}", pages.get(second, first))
    assert [tool.name for tool in await house.connections.tools("home")] == names
    assert house.script.asked.count("tools/list") <= 4
    assert await house.call() == ServerReply("done")
    if second in ("broken", "refused"):
        with pytest.raises(OneValetError) as raised:
            await house.connections.call("home", Definition("more"), {})
        assert not isinstance(raised.value, ToolGone), "nobody knows what stands on that page"


async def test_a_list_of_nothing_is_one(house: House) -> None:
    for said in ('{"tools":null}', "{}", '{"tools":[]}'):
        house.script.says("tools/list", result(said))
        assert await house.connections.tools("home") == []


async def test_a_greeting_that_leaves_out_what_nobody_needs_is_one(house: House) -> None:
    house.script.says(
        "initialize", result('{"protocolVersion":"2024-11-05","capabilities":{"tools":true,"logging":[]}}')
    )
    assert await house.call() == ServerReply("done")


async def test_one_bad_resource_costs_itself_alone(house: House) -> None:
    listed = [
        None,
        {"name": "x"},
        {"uri": 7},
        {"uri": "x:1"},
        {"uri": "x:2", "name": "two", "mimeType": 7, "size": "big"},
    ]
    house.script.says("resources/list", result(json.dumps({"resources": listed, "nextCursor": "on"})))
    house.script.says("resources/list after on", result('{"resources":[{"uri":"x:3","name":"three"}]}'))
    assert (await house.connections.resources("home")).text == "x:1\nx:2 two\nx:3 three"
    contents = [{"text": "one"}, {"uri": "x:1", "blob": 7}, {"uri": "x:1", "blob": PNG, "mimeType": "image/png"}, "two"]
    house.script.says("resources/read", result(json.dumps({"contents": contents})))
    assert await house.connections.read("home", "x:1") == ServerReply("one\ntwo", (Picture("image/png", b"\x89PNG?>"),))


def test_the_tool_of_the_house_is_the_one_that_is_called() -> None:
    assert json.loads(TOOL)["name"] == ACT.name
