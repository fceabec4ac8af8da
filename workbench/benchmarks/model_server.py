"""A model that answers at once, in a process of its own: two calls of tools first, then 200 words.

`/few`, `/many` and `/whole` stream in few chunks or in 200, or do not stream.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

DONE = b"data: [DONE]"
_USAGE = {"prompt_tokens": 400, "completion_tokens": 40, "total_tokens": 440}
_CALLS = [("c1", "weather", '{"city": "Paris"}'), ("c2", "calendar", '{"day": "Monday"}')]
_WORDS = [f"word{number} " for number in range(200)]


def main() -> None:
    """Serve on a free port and print the address."""
    app = web.Application()
    for shape in ("few", "many", "whole"):
        app.router.add_post(f"/{shape}/v1/chat/completions", _answers(shape))
    asyncio.run(_serve(app))


async def _serve(app: web.Application) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


@contextmanager
def running() -> Iterator[str]:
    """Run the server; yield its address."""
    with subprocess.Popen(
        [sys.executable, "-m", "workbench.benchmarks.model_server"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            yield (server.stdout.readline() if server.stdout else "").strip()
        finally:
            server.terminate()


def _answers(shape: str) -> Any:
    ready = {called: _reply(shape, called=called) for called in (True, False)}

    async def answer(request: web.Request) -> web.StreamResponse:
        last = json.loads(await request.read())["messages"][-1]
        pieces = ready[last["role"] != "tool"]
        if shape == "whole":
            return web.Response(body=pieces[0], content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        return response

    return answer


def _reply(shape: str, *, called: bool) -> list[bytes]:
    calls = [{"id": id_, "type": "function", "function": {"name": n, "arguments": a}} for id_, n, a in _CALLS]
    reason = "tool_calls" if called else "stop"
    if shape == "whole":
        message = {"role": "assistant", "content": None if called else "".join(_WORDS)} | (
            {"tool_calls": calls} if called else {}
        )
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return [json.dumps({**_head("chat.completion"), "choices": [choice], "usage": _USAGE}).encode()]
    words = _WORDS if shape == "many" else ["".join(_WORDS[start : start + 50]) for start in range(0, 200, 50)]
    deltas: list[Any] = [{"role": "assistant", "content": None if called else ""}]
    deltas += [{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(calls)] if called else []
    deltas += [] if called else [{"content": word} for word in words]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": _USAGE}]
    wire = [b"data: " + json.dumps({**_head("chat.completion.chunk"), **chunk}).encode() + b"\n\n" for chunk in chunks]
    return [*wire, DONE + b"\n\n"]


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "scripted"}


if __name__ == "__main__":
    main()
