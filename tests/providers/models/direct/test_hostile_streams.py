"""Streams of a model that misbehaves, over a real socket: each ends in one of our errors, bounded, and others go on."""

import asyncio
import gzip
import itertools
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest

from core.errors import ModelError
from core.http.peer import Allowance
from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer, ModelRequest
from providers.models import streamed_answer
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.eventually import never
from tests.faults.peers.speech import read_request
from tests.patience import PATIENCE
from tests.providers.models.direct.transcripts import openai_call, openai_chunk, openai_usage, openai_whole

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

HELLO = ModelRequest((SYSTEM, user("Hello")), timeout=PATIENCE)
MB = 1024 * 1024
END = (openai_chunk({}, "stop"), openai_usage())

type Wire = Callable[[], Iterable[bytes]]


def event(data: Json) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def said(*events: JsonObject) -> bytes:
    return b"".join(map(event, events)) + b"data: [DONE]\n\n"


@asynccontextmanager
async def saying(
    monkeypatch: pytest.MonkeyPatch,
    wire: Wire,
    *headers: str,
    kind: str = "text/event-stream",
    closes: bool = True,
    model: str = "openai/mine",
    direct: bool = True,
    status: str = "200 OK",
) -> AsyncIterator[LiteLLMClient]:
    """Serve what is said to whoever asks, and yield a client of a model that asks there."""
    head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *headers, "", ""))
    busy = set[asyncio.Task[None]]()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        busy.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await read_request(reader, "")
                writer.write(head.encode())
                for piece in wire():
                    writer.write(piece)
                    await writer.drain()
                if not closes:
                    await never()
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            busy.discard(task)
            writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    provider, url = model.partition("/")[0].upper(), f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    monkeypatch.setenv(f"{provider}_API_BASE", f"{url}/v1" if provider == "OPENAI" else url)
    monkeypatch.setenv(f"{provider}_API_KEY", "sk-test")
    client = LiteLLMClient(model, direct=direct)
    await client.warm_up()
    try:
        yield client
    finally:
        await client.close()
        server.close()
        for task in list(busy):
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def streamed(client: LiteLLMClient, request: ModelRequest = HELLO) -> ModelAnswer:
    answer = None
    async for chunk in client.stream(request):
        answer = chunk.answer
    assert answer is not None
    return answer


def again(piece: bytes) -> Wire:
    return lambda: itertools.repeat(piece)


def packed(encoding: str) -> Iterator[bytes]:
    """Pack events that say nothing, and then a gigabyte of spaces in one line."""
    block = b" " * (16 * MB)
    if encoding == "gzip":
        yield gzip.compress(event({}), 9)
        yield from itertools.repeat(gzip.compress(block, 9), 64)
        return
    packer = zlib.compressobj(9)
    yield packer.compress(event({})) + packer.flush(zlib.Z_FULL_FLUSH)
    # A full flush forgets what was before it: the same again may follow.
    yield from itertools.repeat(packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH), 64)


DEAREST = pytest.mark.whole("it works until a limit is reached, and is read event by event")
ENDLESS: dict[str, Wire] = {
    "events that say nothing": again(event({}) * 1000),
    "comments": again(b": on and on\n\n" * 1000),
    "one line": again(b"data: " + b"x" * 65536),
    "one event": again(b"data: x\n" * 1000),
    "a role in each event": again(event(openai_chunk({"role": "assistant"})) * 1000),
}


@pytest.mark.parametrize(
    "wire",
    [pytest.param(wire, id=name, marks=[] if name == "one event" else [DEAREST]) for name, wire in ENDLESS.items()],
)
async def test_a_stream_without_an_end_is_given_up_while_others_go_on(
    monkeypatch: pytest.MonkeyPatch, wire: Wire
) -> None:
    monkeypatch.setattr(streamed_answer, "ALLOWANCE", Allowance(16 * MB, 50_000, PATIENCE))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with saying(monkeypatch, wire) as client:
        going_on = asyncio.create_task(others())
        with suppress(ModelError):  # what has a piece for each event is cut, and is an answer
            assert (await streamed(client)).cut
        going_on.cancel()
    assert turns > 20


@pytest.mark.parametrize("wire", [lambda: [event({})], lambda: [b"data: "], list], ids=["event", "line", "nothing"])
async def test_a_stream_that_never_goes_on_is_given_up(monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    async with saying(monkeypatch, wire, closes=False) as client:
        with pytest.raises(ModelError):
            await streamed(client, replace(HELLO, timeout=0.5))


NO_ANSWERS: dict[str, Wire] = {
    "no finish": lambda: [event(openai_chunk({"content": "Hi"}))],
    "garbage": again(bytes(range(256)) * 256),
    "deep": lambda: [b"data: " + b"[" * 100_000 + b"\n\n"],
    "a list": lambda: [event([])],
    "choices of another kind": lambda: [event({"choices": {"a": 1}})],
    "a delta of another kind": lambda: [event({"choices": [{"delta": [1, 2]}]})],
    "calls of another kind": lambda: [said(openai_chunk({"tool_calls": 7}), *END)],
}


@pytest.mark.parametrize("wire", NO_ANSWERS.values(), ids=NO_ANSWERS)
async def test_a_stream_that_is_no_answer_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    async with saying(monkeypatch, wire) as client:
        with pytest.raises(ModelError):
            await streamed(client)


@pytest.mark.whole("it works until a limit is reached")
async def test_a_stream_is_given_up_after_its_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamed_answer, "ALLOWANCE", Allowance(10**12, 10**12, 0.5))
    async with saying(monkeypatch, again(event({}))) as client:
        with pytest.raises(ModelError):
            await streamed(client)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_bomb_is_given_up_before_it_is_large(monkeypatch: pytest.MonkeyPatch, encoding: str, kind: str) -> None:
    pieces = list(packed(encoding))
    async with saying(monkeypatch, lambda: pieces, f"Content-Encoding: {encoding}", kind=kind) as client:
        tracemalloc.start()
        try:
            with pytest.raises(ModelError):
                await streamed(client)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 24 * MB


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_a_packed_stream_is_read_however_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, encoding: str, size: int
) -> None:
    plain = said(openai_chunk({"content": "Hello " * 50}), *END)
    body = gzip.compress(plain) if encoding == "gzip" else zlib.compress(plain)
    cut = [body[start : start + size] for start in range(0, len(body), size)]
    async with saying(monkeypatch, lambda: cut, f"Content-Encoding: {encoding}") as client:
        assert (await streamed(client)).text == "Hello " * 50


@pytest.mark.whole("it works until a limit is reached")
async def test_an_answer_of_a_hundred_thousand_tokens_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [event(openai_chunk({"content": f" w{number}"})) for number in range(100_000)]
    async with saying(monkeypatch, lambda: [*words, said(*END)]) as client:
        answer = await streamed(client, replace(HELLO, max_output_tokens=128_000, timeout=PATIENCE * 4))
    assert not answer.cut
    assert answer.text.endswith(" w99998 w99999")


@pytest.mark.parametrize("index", [-1, 10**9, 2**63, 1.5, "0", [0], True], ids=str)
async def test_a_call_by_a_number_that_no_answer_has_is_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, index: Json
) -> None:
    call = openai_call(0, "{}", "add", "c1")
    call["tool_calls"][0]["index"] = index  # type: ignore[index,call-overload]
    async with saying(monkeypatch, lambda: [said(openai_chunk(call), *END)]) as client:
        with pytest.raises(ModelError):
            await streamed(client)


@pytest.mark.whole("it works until a limit is reached")
async def test_a_million_parts_of_calls_are_cut_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many: JsonObject = {
        "tool_calls": [{"index": 0, "id": f"c{number}", "function": {"name": "add"}} for number in range(10_000)]
    }
    async with saying(monkeypatch, lambda: [event(openai_chunk(many))] * 100) as client:
        with pytest.raises(ModelError):
            await streamed(client)
    part = event(openai_chunk(openai_call(0, "")))
    async with saying(monkeypatch, lambda: [part * 1000] * 1000) as client:
        assert (await streamed(client)).cut


ODD = ["NaN", "1e400", "-5", '"many"', str(2**63), "9" * 400, "[1]", '{"a": 1}', "1.5"]


@pytest.mark.parametrize("whole", [False, True], ids=["streamed", "whole"])
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd[:12])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
async def test_usage_that_no_call_has_is_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, name: str, odd: str, whole: bool
) -> None:
    usage: JsonObject = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, name: "HERE"}
    hello: JsonObject = {"content": "Hi"}
    if whole:
        body = json.dumps(openai_whole(hello, "stop") | {"usage": usage}).replace('"HERE"', odd).encode()
    else:
        last: JsonObject = openai_chunk({}, "stop") | {"usage": usage}
        body = said(openai_chunk(hello), last).replace(b'"HERE"', odd.encode())
    kind = "application/json" if whole else "text/event-stream"
    async with saying(monkeypatch, lambda: [body], kind=kind) as client:
        with pytest.raises(ModelError):
            await streamed(client)
