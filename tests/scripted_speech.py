"""A scripted speech server of OpenAI's shape: what it says is up to the test, the wire is real.

async with ScriptedSpeech([says(b"<html>")]) as server:
    ...  # OPENAI_API_BASE = server.url, ONEVALET_SPEECH_MODEL = openai/tts-1
assert server.calls[0].body["input"] == "Hello."
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from core.json_types import JsonObject
from providers.models.silent_speech import recorded


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the server does: answer, fail, or hang. Made by the helpers below."""

    body: bytes
    status: int = 200
    hangs: bool = False
    headers: dict[str, str] = field(default_factory=dict)


def fails(status: int) -> Spoken:
    """Fail as OpenAI does."""
    return Spoken(b'{"error": {"message": "scripted", "type": "scripted", "code": null}}', status)


def hangs() -> Spoken:
    """Say nothing."""
    return Spoken(b"", hangs=True)


def says(body: bytes) -> Spoken:
    """Answer 200 with what may be no recording."""
    return Spoken(body)


def redirects(url: str) -> Spoken:
    """Send the client elsewhere."""
    return Spoken(b"", 307, headers={"Location": url})


@dataclass(frozen=True, slots=True)
class SpeechCall:
    """One request."""

    body: JsonObject
    key: str


@dataclass(slots=True)
class ScriptedSpeech:
    """Serve /v1/audio/speech on 127.0.0.1; once the script is over, recordings are the answers."""

    script: Iterable[Spoken] = ()
    calls: list[SpeechCall] = field(default_factory=list)
    url: str = ""
    _queue: deque[Spoken] = field(default_factory=deque)
    _runner: web.AppRunner | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        """Start to serve; `url` ends in /v1."""
        app = web.Application()
        app.router.add_post("/v1/audio/speech", self._speak)
        self._queue.extend(self.script)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving; hanging answers are cut."""
        self._stopping.set()
        if self._runner:
            await self._runner.cleanup()

    def add(self, *answers: Spoken) -> None:
        """Queue further answers."""
        self._queue.extend(answers)

    async def _speak(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.calls.append(SpeechCall(body, request.headers.get("Authorization", "").removeprefix("Bearer ")))
        if not self._queue:
            return web.Response(body=recorded(body["input"], body["response_format"]), content_type="audio/mpeg")
        answer = self._queue.popleft()
        if answer.hangs:
            await self._stopping.wait()
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)
