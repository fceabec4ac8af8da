"""A server that replays a provider's answer byte by byte, and the outcome of a call to it by either path."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from aiohttp import web

from core.errors import ModelError, ModelRateLimited
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest, ToolCall
from providers.models.litellm_client import LiteLLMClient

_COMPARED_HEADERS = (
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
    "anthropic-beta",
    "openai-organization",
    "openai-project",
    "http-referer",
    "x-title",
)


_USED: set[str] = set()
"""The addresses at which something was served before."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a provider answered. `cut`: the connection broke after it."""

    pieces: Sequence[bytes]
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Wire:
    """A request as the provider got it."""

    path: str
    headers: Mapping[str, str]
    body: JsonObject


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, without what litellm makes up anew each time."""

    error: str = ""
    retry_after: timedelta | None = None
    answer: ModelAnswer | None = None
    told: str = ""


@dataclass(slots=True)
class Replay:
    """The server: what it answers next, and what it was asked."""

    transcript: Transcript
    url: str = ""
    following: list[Transcript] = field(default_factory=list)
    """What it answers after that, one by one."""
    asked: list[Wire] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    """What follows the first piece waits for it; set unless a test clears it."""

    def __post_init__(self) -> None:
        """Hold nothing back."""
        self.goes_on.set()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name: request.headers[name] for name in _COMPARED_HEADERS if name in request.headers}
        self.asked.append(Wire(request.path_qs, headers, json.loads(await request.read())))
        self.connections.add(id(request.transport))
        said = self.transcript
        if self.following:
            self.transcript = self.following.pop(0)
        response = web.StreamResponse(status=said.status, headers={"Content-Type": said.content_type, **said.headers})
        await response.prepare(request)
        for number, piece in enumerate(said.pieces):
            await asyncio.sleep(said.pause)
            if number:
                await self.goes_on.wait()
            await response.write(piece)
        if said.cut and request.transport:
            request.transport.abort()
        return response


@asynccontextmanager
async def replaying(transcript: Transcript) -> AsyncIterator[Replay]:
    """Serve a transcript at every address."""
    replay = Replay(transcript)
    app = web.Application()
    app.router.add_post("/{anything:.*}", replay._answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    # litellm keeps its connections by address, so no address may come again.
    while not replay.url or replay.url in _USED:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        replay.url = f"http://127.0.0.1:{runner.addresses[-1][1]}"
    _USED.add(replay.url)
    try:
        yield replay
    finally:
        await runner.cleanup()


async def outcome(client: LiteLLMClient, request: ModelRequest, *, streamed: bool) -> Outcome:
    """Make a call and return what came of it."""
    told, answer = "", None
    try:
        if streamed:
            async for chunk in client.stream(request):
                told, answer = told + chunk.text, chunk.answer
        else:
            answer = await client.answer(request)
    except ModelRateLimited as error:
        return Outcome(type(error).__name__, error.retry_after)
    except ModelError as error:
        return Outcome(type(error).__name__)
    assert answer is not None
    return Outcome(answer=_plain(answer), told=told)


def _plain(answer: ModelAnswer) -> ModelAnswer:
    """Return an answer whose calls are numbered where litellm gives them random ids, at a price of fifteen decimals.

    The same rates, added up in another order, differ in the last digit that a float has.
    """
    calls = []
    for number, call in enumerate(answer.tool_calls):
        given = re.sub(r"^call_[0-9a-f]{28}(?=$|__)", f"#{number}", call.id)
        calls.append(ToolCall(given, call.name, call.arguments, call.extra))
    usage = answer.usage if answer.usage.cost is None else replace(answer.usage, cost=round(answer.usage.cost, 15))
    return ModelAnswer(answer.text, tuple(calls), answer.thinking, usage, answer.model, answer.finish_reason)
