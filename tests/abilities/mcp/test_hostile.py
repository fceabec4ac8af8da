"""Servers that say too much, or what nobody can read: each costs a sentence, and who says too much is left alone."""

import asyncio
import base64
import gzip
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.errors import (
    AnswerTooLarge,
    AnswerUnreadable,
    ErrorAnswered,
    NoAnswer,
    ServerAway,
    Unreadable,
)
from abilities.mcp.hearing import MAX_ANSWER
from abilities.mcp.tools import mcp_tool
from abilities.mcp.types import Definition, McpServer, ServerReply
from core.errors import ToolFailed
from core.http.peer import LeftAlone, Pauses
from core.journal.types import Outcome, StepKey
from core.json_types import storable
from core.llm.types import ToolCall
from tests.abilities.mcp import hostile
from tests.abilities.mcp.hostile import Script
from tests.abilities.mcp.houses import ACT, House, over_pipes, result, words
from tests.core.builders import a_context
from tests.eventually import eventually

WORDS = "words-of-a-server"
NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'
PROGRESS = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'
PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}'
SAMPLING = '{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}'


async def test_a_server_that_keeps_to_it_is_understood(house: House) -> None:
    house.script.says("before", f"{NOTICE}\n{PROGRESS}\n" * 20)
    assert await house.call() == ServerReply("done")
    assert [one.name for one in await house.connections.tools("home")] == ["act"]


TOO_MUCH = [
    ("call", words(json.dumps("x" * MAX_ANSWER)), "bytes"),
    ("call", result('{"content":[],"structuredContent":{"a":[' + "[]," * 500_000 + "[]]}}"), "small values"),
    ("before", f"{NOTICE}\n" * 3_000, "words for a log"),
    ("before", f"{PROGRESS}\n" * 3_000, "progress"),
    ("before", f"{PING}\n" * 100, "pings"),
    ("before", f"{SAMPLING}\n" * 100, "questions for the model"),
]


@pytest.mark.whole("it works until a limit is reached")
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, text, _ in TOO_MUCH], ids=[n for *_, n in TOO_MUCH])
async def test_one_that_says_too_much_is_left_alone(house: House, name: str, text: str) -> None:
    house.script.says(name, text)
    with pytest.raises(AnswerTooLarge):
        await house.call()
    asked = len(house.script.asked)
    with pytest.raises(LeftAlone, match="The server home sent too much data, so I leave it alone for now"):
        await house.call()
    assert len(house.script.asked) == asked


async def test_one_with_accounts_is_left_alone_for_longer_each_time(
    at_http: tuple[Script, McpServer], connect: Callable[..., Connections]
) -> None:
    now = 0.0
    script, server = at_http
    connections = connect(server, pauses=Pauses("test", clock=lambda: now))
    for pause in (2.0, 4.0, 8.0):
        script.says("call", words(json.dumps("x" * MAX_ANSWER)))
        with pytest.raises(AnswerTooLarge):
            await connections.call("home", ACT, {}, who="ann")
        script.says("call", hostile.DONE)
        assert await connections.call("home", ACT, {}, who="bob") == ServerReply("done")
        now += pause - 0.1
        with pytest.raises(LeftAlone):
            await connections.call("home", ACT, {}, who="ann")
        now += 0.2
    assert await connections.call("home", ACT, {}, who="ann") == ServerReply("done")


@pytest.mark.parametrize(("many", "told"), [(30, None), (3_000, AnswerTooLarge)])
async def test_answers_to_nothing_and_second_answers_count_and_do_nothing(
    tmp_path: Path, connect: Callable[..., Connections], many: int, told: type[Exception] | None
) -> None:
    script, server = over_pipes(tmp_path)
    connections = connect(server)
    script.says("before", '{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0","id":1,"result":{}}\n' * many)
    if told is not None:
        with pytest.raises(told):
            await connections.call("home", ACT, {})
        return
    assert await connections.call("home", ACT, {}) == ServerReply("done")


@pytest.mark.parametrize("name", ["server/discover", "initialize", "tools/list"])
async def test_one_that_says_too_much_before_it_is_called_is_left_alone_at_once(house: House, name: str) -> None:
    house.script.says(name, words(json.dumps("x" * MAX_ANSWER)))
    with pytest.raises(LeftAlone):
        await house.call()


UNREADABLE = [
    result('{"content":[],"structuredContent":{"a":NaN}}'),
    result('{"content":[],"structuredContent":{"a":1e999}}'),
    result('{"content":[],"structuredContent":{"a":' + "9" * 400 + "}}"),
    result('{"content":[],"structuredContent":{"a":' + "[" * 120 + "]" * 120 + "}}"),
    result('{"content":[],"structuredContent":{"a":' + "[" * 50_000 + "]" * 50_000 + "}}"),
    result('{"content":[{"type":"image","data":7,"mimeType":"image/png"}]}'),
    '{"jsonrpc":"2.0","id":ID}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":-32700,"message":"no"}}',
]


@pytest.mark.parametrize("text", UNREADABLE, ids=[text[24:70] for text in UNREADABLE])
async def test_an_answer_that_cannot_be_read_is_said_to_be_one(house: House, text: str) -> None:
    house.script.says("call", text)
    with pytest.raises(AnswerUnreadable):
        await house.call()
    house.script.says("call", hostile.DONE)
    assert await house.call() == ServerReply("done")


@pytest.mark.parametrize("text", ["done", "[]", '"done"', '{"jsonrpc":', "\xff\xfe{}", "{}"])
async def test_what_is_no_message_is_no_answer(tmp_path: Path, connect: Callable[..., Connections], text: str) -> None:
    script, server = over_pipes(tmp_path, timeout=0.3)
    house = House(script, server, connect(server))
    script.says("initialize", text)
    with pytest.raises(ServerAway):
        await house.call()


@pytest.mark.parametrize("text", ["Starting up…", '{"level": "info"}', "[1, 2]", "", "\x00\xff"])
async def test_what_a_server_prints_besides_is_skipped(
    tmp_path: Path, connect: Callable[..., Connections], text: str
) -> None:
    script, server = over_pipes(tmp_path)
    script.says("before", f"{text}\n")
    assert await connect(server).call("home", ACT, {}) == ServerReply("done")


CLEANED = [
    (r'"a\u0000b"', "ab"),
    (r'"a\ud83d b"', "a\ufffd b"),
    (r'"\udc00"', "\ufffd"),
    (r'"\ud83d\ude00 \\ud83d"', "\U0001f600 \\ud83d"),
    ('"do\U000e0069\U000e0067ne\u200b\u2060\u00ad\u202e\ufeff"', "done"),
    ('"blank\u3164\u115f\u034f\U000e0101"', "blank"),
    ('"a\ufe00b❤\ufe0f 👩\u200d🚀"', "ab❤\ufe0f 👩\u200d🚀"),
    (r'"one\ntwo\tthree"', "one\ntwo\tthree"),
    ('"A\u030angstro\u0308m"', "A\u030angstro\u0308m"),
    ('"1\u202f000\u00a0€ un\u3000deux"', "1\u202f000\u00a0€ un\u3000deux"),
    (r'"one\r\ntwo\rthree\u2028four"', "one\ntwo\nthree\nfour"),
]


@pytest.mark.parametrize(("text", "clean"), CLEANED)
async def test_what_is_answered_can_be_stored_and_seen(house: House, text: str, clean: str) -> None:
    house.script.says("call", words(text))
    answer = await house.call()
    assert answer == ServerReply(clean)
    assert storable(answer.text) == answer.text


async def test_the_words_of_a_refusal_are_one_clean_line(house: House) -> None:
    refusal = {"code": -32000 - 1000, "message": "No.\n\u202e\U000e0041\x1b[31m" + "x" * 1000}
    house.script.says("call", '{"jsonrpc":"2.0","id":ID,"error":' + json.dumps(refusal) + "}")
    with pytest.raises(ErrorAnswered) as raised:
        await house.call()
    assert str(raised.value).startswith("No. [31mx")
    assert len(str(raised.value)) == 500


async def test_files_are_few_and_of_a_kind(house: House) -> None:
    def block(data: str, kind: str) -> str:
        return json.dumps({"type": "image", "data": data, "mimeType": kind})

    good = base64.b64encode(b"x").decode()
    blocks = [block("§§§", "image/png"), block(good, "../../x; y"), *[block(good, "image/png")] * 30]
    house.script.says("call", result(f'{{"content":[{",".join(blocks)}]}}'))
    answer = await house.call()
    assert {one.content_type for one in answer.pictures} == {"application/octet-stream", "image/png"}
    assert (len(answer.pictures), answer.text.splitlines().count("[One file too many.]")) == (20, 11)
    assert answer.text.startswith("[Something that cannot be read.]")


@pytest.mark.parametrize("many", [pytest.param(100_000, marks=pytest.mark.whole("it reads 100,000 declarations")), 600])
async def test_of_many_tools_the_first_are_offered(house: House, many: int) -> None:
    tools = ",".join(f'{{"name":"t{at}","inputSchema":{{"type":"object"}}}}' for at in range(many))
    house.script.says("tools/list", result(f'{{"tools":[{tools}]}}'))
    assert [one.name for one in await house.connections.tools("home")] == [f"t{at}" for at in range(500)]


async def test_pages_without_end_come_to_an_end(house: House) -> None:
    page = result('{"tools":[{"name":"tCOUNT","inputSchema":{"type":"object"}}],"nextCursor":"on"}')
    house.script.says("tools/list", page)
    for at in range(30):
        house.script.says("tools/list after on" + "n" * at, page.replace('"on"', f'"on{"n" * (at + 1)}"'))
    assert len(await house.connections.tools("home")) == 20
    assert house.script.asked.count("tools/list") <= 41, "the process is asked whether it lives"


async def test_a_tool_whose_name_nobody_could_type_is_not_there(house: House) -> None:
    names = ["ok", "x" * 1_000_000, "a\nb", "a\u200bb", " a", "\x1b[31m", ""]
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    house.script.says("tools/list", result(json.dumps({"tools": tools})))
    assert [one.name for one in await house.connections.tools("home")] == ["ok", ""]


async def test_the_schema_of_what_comes_back_is_never_run(house: House) -> None:
    twice: dict[str, Any] = {f"s{at}": {"allOf": [{"$ref": f"#/$defs/s{at + 1}"}] * 2} for at in range(26)}
    output = {"type": "object", "properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": twice | {"s26": {}}}
    tool = {"name": "act", "description": "Acts.", "inputSchema": {"type": "object"}, "outputSchema": output}
    house.script.says("tools/list", result(json.dumps({"tools": [tool]})))
    house.script.says("call", result('{"content":[],"structuredContent":{"a":1}}'))
    assert await house.call() == ServerReply('{"a": 1}')


async def test_what_nobody_asked_to_be_packed_is_not_unpacked(
    at_http: tuple[Script, McpServer], connect: Callable[..., Connections]
) -> None:
    script, server = at_http
    connections = connect(server)
    definition = (await connections.tools("home"))[0]
    packed = gzip.compress(b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}')
    script.says("tools/list", packed)
    script.says("encoding", "gzip")
    with pytest.raises(ServerAway):
        await connections.call("home", definition, {})
    script.says("encoding", "identity")
    script.says("tools/list", hostile.TOOLS)
    assert await connections.call("home", definition, {}) == ServerReply("done")
    script.says("encoding", "gzip")
    script.says("initialize", gzip.compress(hostile.INITIALIZED.encode()))
    with pytest.raises(Unreadable, match="an encoding that was not asked for"):
        await connections.call("home", definition, {})


@pytest.mark.parametrize("after", ["tools/list", "tools/call"])
async def test_one_that_floods_while_nobody_asks_is_ended_and_left_alone(
    tmp_path: Path, connect: Callable[..., Connections], capfd: pytest.CaptureFixture[str], after: str
) -> None:
    script, server = over_pipes(tmp_path)
    connections = connect(server)
    script.says("unasked", NOTICE)
    script.says("unasked after", after)
    if after == "tools/list":
        assert [one.name for one in await connections.tools("home")] == ["act"]
    else:
        assert await connections.call("home", ACT, {}) == ServerReply("done")
    await eventually(lambda: "mcp_server_left_alone" in capfd.readouterr().out)
    with pytest.raises(LeftAlone):
        await connections.tools("home")
    await eventually(lambda: not [task for task in asyncio.all_tasks() if task.get_name() == "MCP server home"])


@pytest.mark.whole("the server has five seconds to read that its call is called off")
async def test_one_that_reads_nothing_has_its_time_and_no_more(
    tmp_path: Path, connect: Callable[..., Connections]
) -> None:
    script, server = over_pipes(tmp_path, timeout=1.0)
    script.says("deaf after", "tools/list")
    with pytest.raises(NoAnswer):
        await connect(server).call("home", ACT, {"x": "y" * 1_000_000})


async def test_the_person_is_told_why_and_whether_its_outcome_is_known(house: House) -> None:
    key, call = StepKey(1, 0), ToolCall("1", "home__act", "{}")
    house.script.says("call", words(json.dumps("x" * MAX_ANSWER)))
    acts = await house.tool().run_call(key, call, {}, a_context())
    assert acts.outcome is Outcome.UNKNOWN
    assert acts.text.startswith("The server home sent too much data, so I leave it alone for now. It may or may not")
    with pytest.raises(ToolFailed, match="so I leave it alone for now"):
        await house.tool().run_call(key, call, {}, a_context())


@pytest.mark.parametrize("read_only", [(), ("act",)])
async def test_an_unreadable_answer_fails_what_reads_and_leaves_acts_in_doubt(
    house: House, read_only: tuple[str, ...]
) -> None:
    key, call = StepKey(1, 0), ToolCall("1", "home__act", "{}")
    house.script.says("call", result('{"content":[{"type":"image","data":7}]}'))
    reads = Definition(ACT.name, ACT.description, ACT.schema, reads=True)
    house.script.says(
        "tools/list", hostile.TOOLS.replace('"inputSchema"', '"annotations":{"readOnlyHint":true},"inputSchema"')
    )
    made: Any = mcp_tool(McpServer("home", read_only=read_only), reads, house.connections)
    if read_only:
        with pytest.raises(ToolFailed, match="What the server home answered cannot be read"):
            await made.run_call(key, call, {}, a_context())
        return
    end = await made.run_call(key, call, {}, a_context())
    assert (end.outcome, end.text.partition(".")[0]) == (
        Outcome.UNKNOWN,
        "What the server home answered cannot be read",
    )


SAYS = json.dumps(WORDS)
LEAKS = [
    ("before", f"{WORDS}\n"),
    ("before", f'{{"jsonrpc":"2.0","method":{SAYS},"params":{{"a":{SAYS}}}}}\n'),
    ("before", f'{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":{SAYS},"data":{SAYS}}}}}\n'),
    ("before", f'{{"jsonrpc":"2.0","id":{SAYS},"method":{SAYS}}}\n'),
    ("before", f'{{"jsonrpc":"2.0","id":{SAYS},"result":{{}}}}\n'),
    ("call", f'{{"jsonrpc":"2.0","id":ID,"error":{{"code":-32603,"message":{SAYS}}}}}'),
    ("call", result(f'{{"content":{SAYS}}}')),
    ("call", f"{WORDS}"),
    ("call", words('"\\ud800' + WORDS + '"')),
    ("tools/list", result(f'{{"tools":[{{"name":{SAYS},"inputSchema":{{"x-mcp-header":{SAYS}}}}}]}}')),
    ("tools/list", f'{{"jsonrpc":"2.0","id":ID,"error":{{"code":-32603,"message":{SAYS}}}}}'),
    ("initialize", result(f'{{"protocolVersion":{SAYS},"capabilities":{{}},"serverInfo":{{}}}}')),
    ("server/discover", result(f'{{"supportedVersions":[{SAYS}],"capabilities":{{}}}}')),
    ("initialize", f"{WORDS}"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), LEAKS)
async def test_no_word_of_a_server_is_in_the_log(
    at_http: tuple[Script, McpServer],
    tmp_path: Path,
    connect: Callable[..., Connections],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    name: str,
    text: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    pipes = over_pipes(tmp_path, timeout=0.5)
    for script, server in (pipes, at_http):
        script.says(name, text)
        connections = connect(server)
        key, call = StepKey(1, 0), ToolCall("1", "home__act", "{}")
        made: Any = mcp_tool(McpServer("home"), ACT, connections)
        with suppress(ToolFailed):
            await made.run_call(key, call, {}, a_context())
        await connections.close()
    logged = caplog.text + "".join(capfd.readouterr())
    assert WORDS not in logged
