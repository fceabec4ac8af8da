"""A scripted model behind the OpenAI wire protocol: the test chooses the answers, the wire is real.

    async with ScriptedModel([calls(("add", {"a": 1})), text("3")]) as model:
...  # OPENAI_API_BASE = model.url, any OPENAI_API_KEY
    assert model.calls[1].last_user == "one plus two"

`python -m onevalet.testing.scripted_model --port 0 --script echo` serves it in a process of its own; its first line of
output is JSON with the url.
"""

import argparse
import asyncio
import base64
import inspect
import json
import os
import re
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

from aiohttp import web

from core.json_types import Json, JsonObject, objects_in
from onevalet.testing.scripted_embedding import embed
from onevalet.testing.scripted_replies import ModelCall as ModelCall
from onevalet.testing.scripted_replies import Reply as Reply
from onevalet.testing.scripted_replies import Script as Script
from onevalet.testing.scripted_replies import calls as calls
from onevalet.testing.scripted_replies import cut as cut
from onevalet.testing.scripted_replies import echo as echo
from onevalet.testing.scripted_replies import error as error
from onevalet.testing.scripted_replies import hang as hang
from onevalet.testing.scripted_replies import malformed as malformed
from onevalet.testing.scripted_replies import text as text
from onevalet.testing.scripted_replies import text_of as text_of
from providers.models.silent_speech import recorded

_LOOK = 0.1
_SOUNDS = {"mp3": "audio/mpeg", "opus": "audio/ogg"}


@dataclass(slots=True)
class ScriptedModel:
    """Serve models, chat completions, embeddings, transcriptions and speech under /v1 on 127.0.0.1.

    Every request is kept.

    `script` is a function of the call, or a sequence of replies. `strict` refuses conversations that OpenAI refuses:
    tool calls without results, results without calls, bad tool names.
    """

    script: Script
    port: int = 0
    strict: bool = True
    dimensions: int = 1536
    calls: list[ModelCall] = field(default_factory=list)
    embedded: list[list[str]] = field(default_factory=list)
    embeddings: Reply | None = None  # how embeddings fail
    heard: str = ""  # the words of every recording
    spoken: list[str] = field(default_factory=list)  # the texts that were said
    listed: tuple[str, ...] = ()  # the models in its list, as of a server on the operator's own machine
    trouble: Literal["", "fails", "hangs"] = ""  # it fails, or says nothing, for as long as it is in trouble
    url: str = ""
    _queue: deque[Reply] = field(default_factory=deque)
    _runner: web.AppRunner | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        """Start to serve; `url` ends in /v1."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_post("/v1/audio/transcriptions", self._transcribe)
        app.router.add_post("/v1/audio/speech", self._speak)
        if not callable(self.script):
            self._queue.extend(self.script)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving; hanging answers are cut."""
        self._stopping.set()
        if self._runner:
            await self._runner.cleanup()

    @property
    def connections(self) -> int:
        """Return the number of open connections."""
        return len(self._runner.server.connections) if self._runner and self._runner.server else 0

    def add(self, *replies: Reply) -> None:
        """Queue further replies; they come before those of the script function."""
        self._queue.extend(replies)

    @property
    def waiting(self) -> int:
        """Count the queued replies that no call has taken yet."""
        return len(self._queue)

    async def _reply(self, call: ModelCall) -> Reply:
        if self.strict and (complaint := complain(call)):
            return error(400, code="invalid_value", message=complaint)
        if self._queue:
            return self._queue.popleft()
        if not callable(self.script):
            return error(500, message="the script has no further reply")
        reply = self.script(call)
        return await reply if inspect.isawaitable(reply) else reply

    async def _list(self, _: web.Request) -> web.Response:
        data = [{"id": name, "object": "model", "owned_by": "vllm", "max_model_len": 32_768} for name in self.listed]
        return web.json_response({"object": "list", "data": data})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        if self.trouble and (failure := await self._meet_trouble(request)):
            return failure
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        call = ModelCall(len(self.calls) + 1, time.monotonic(), body, key)
        self.calls.append(call)
        reply = await self._reply(call)
        if reply.delay:
            await self._pause(reply.delay)
        if reply.cut:
            if request.transport:
                request.transport.abort()
            return web.Response(status=499)
        if reply.status != 200:
            return _failure(reply)
        if reply.raw is not None:
            return web.Response(body=reply.raw, content_type="application/json")
        if call.body.get("stream"):
            return await _stream(request, call, reply)
        return web.json_response(_completion(call, reply))

    async def _meet_trouble(self, request: web.Request) -> web.Response | None:
        """Fail, or wait until the trouble ends; None if the client is still connected then."""
        while self.trouble == "hangs" and not self._stopping.is_set():
            await self._pause(_LOOK)
        if self.trouble == "fails":
            return _failure(error(503, message="the scripted model is in trouble"))
        gone = request.transport is None or request.transport.is_closing()
        return web.Response(status=499) if gone else None

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _embeddings(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        texts = [body["input"]] if isinstance(body["input"], str) else [str(text) for text in body["input"]]
        self.embedded.append(texts)
        if self.embeddings is not None:
            await self._pause(self.embeddings.delay)
            return _failure(self.embeddings)
        vectors = [embed(text, body.get("dimensions") or self.dimensions) for text in texts]
        data: list[Json] = []
        for index, vector in enumerate(vectors):
            packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            shown: Json = packed if body.get("encoding_format") == "base64" else list(vector)
            data.append({"object": "embedding", "index": index, "embedding": shown})
        count = sum(_tokens(text) for text in texts)
        usage: JsonObject = {"prompt_tokens": count, "total_tokens": count}
        return web.json_response({"object": "list", "data": data, "model": body["model"], "usage": usage})

    async def _transcribe(self, request: web.Request) -> web.Response:
        fields = await request.post()
        if not isinstance(fields.get("file"), web.FileField):
            return _failure(error(400, message="'file' is a required property"))
        return web.json_response({"text": self.heard})

    async def _speak(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        text, kind = str(body.get("input", "")), str(body.get("response_format", "mp3"))
        # platform.openai.com, audio/createSpeech: 4096 characters at most.
        if not body.get("voice") or not 0 < len(text) <= 4096 or kind not in _SOUNDS:
            return _failure(error(400, message="'input', 'voice' or 'response_format' is invalid"))
        self.spoken.append(text)
        return web.Response(body=recorded(text, kind), content_type=_SOUNDS[kind])


def complain(call: ModelCall) -> str:
    """Return OpenAI's complaint about this request, or ""."""
    if not call.messages:
        return "Invalid 'messages': empty array. Expected an array with minimum length 1."
    for name in call.tools:
        # platform.openai.com, function calling: a-z, A-Z, 0-9, underscores and dashes, 64 at most.
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
            return f"Invalid 'tools[].function.name': {name!r} does not match '^[a-zA-Z0-9_-]+$'."
    open_calls: set[str] = set()
    for message in call.messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
            open_calls.discard(str(message.get("tool_call_id")))
            continue
        if open_calls:
            break
        open_calls = {str(object.get("id")) for object in objects_in(message.get("tool_calls"))}
    if open_calls:
        ids = ", ".join(sorted(open_calls))
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
        )
    return ""


def _tokens(words: str) -> int:
    return max(1, len(words) // 4)


def _usage(call: ModelCall, reply: Reply) -> JsonObject:
    asked = _tokens(json.dumps(call.body.get("messages")))
    tokens = _tokens((reply.text or "") + json.dumps(reply.calls))
    return {"prompt_tokens": asked, "completion_tokens": tokens, "total_tokens": asked + tokens}


def _tool_calls(call: ModelCall, reply: Reply) -> list[JsonObject]:
    return [
        {
            "id": f"call_{call.number}_{index}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for index, (name, arguments) in enumerate(reply.calls)
    ]


def _envelope(call: ModelCall, kind: str) -> JsonObject:
    return {
        "id": f"chatcmpl-{call.number}",
        "object": kind,
        "created": int(time.time()),
        "model": call.body.get("model"),
    }


def _completion(call: ModelCall, reply: Reply) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = list(_tool_calls(call, reply))
    choice: JsonObject = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": reply.finish_reason,
    }
    return {**_envelope(call, "chat.completion"), "choices": [choice], "usage": _usage(call, reply)}


def _failure(reply: Reply) -> web.Response:
    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(
        reply.status, "server_error" if reply.status >= 500 else "invalid_request_error"
    )
    headers = {} if reply.retry_after is None else {"Retry-After": f"{reply.retry_after:g}"}
    error = {"message": reply.message, "type": kind, "param": None, "code": reply.code or None}
    return web.json_response({"error": error}, status=reply.status, headers=headers)


async def _stream(request: web.Request, call: ModelCall, reply: Reply) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    base = _envelope(call, "chat.completion.chunk")

    async def send(chunk: JsonObject) -> None:
        await stream.write(b"data: " + json.dumps({**base, **chunk}).encode() + b"\n\n")

    deltas = list(_deltas(call, reply))
    for delta in deltas:
        await asyncio.sleep(reply.spread / len(deltas))
        await send({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    await send({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]})
    options = call.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        await send({"choices": [], "usage": _usage(call, reply)})
    await stream.write(b"data: [DONE]\n\n")
    await stream.write_eof()
    return stream


def _deltas(call: ModelCall, reply: Reply) -> Iterable[JsonObject]:
    yield {"role": "assistant", "content": ""}
    for piece in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", reply.text or ""):
        yield {"content": piece}
    for index, (whole, (name, _)) in enumerate(zip(_tool_calls(call, reply), reply.calls, strict=True)):
        function = whole["function"]
        arguments = str(function["arguments"]) if isinstance(function, dict) else ""
        head: JsonObject = {"name": name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": whole["id"], "type": "function", "function": head}]}
        for start in range(0, len(arguments), 16):
            yield {"tool_calls": [{"index": index, "function": {"arguments": arguments[start : start + 16]}}]}


async def _serve(port: int, delay: float) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with ScriptedModel(lambda call: echo(call).after(delay), port=port) as model:
        sys.stdout.write(json.dumps({"url": model.url, "pid": os.getpid()}) + "\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> None:
    """Serve a named script until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m onevalet.testing.scripted_model")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", choices=["echo"], default="echo")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    asyncio.run(_serve(options.port, options.delay))


if __name__ == "__main__":
    main()
