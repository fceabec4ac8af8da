"""A scripted transcription server of OpenAI's shape: what it hears is up to the test, the wire is real.

async with ScriptedTranscription([heard("Call mum.")]) as server:
    ...  # ONEVALET_TRANSCRIPTION_URL = server.url, ONEVALET_TRANSCRIPTION_MODEL = openai/whisper-1
assert server.calls[0].name == "recording.ogg"
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Heard:
    """What the server does: answer, fail, hang, or say what is no transcript. Made by the helpers below."""

    body: JsonObject | bytes = field(default_factory=dict)
    status: int = 200
    hangs: bool = False
    headers: dict[str, str] = field(default_factory=dict)


def heard(text: str, seconds: float | None = None) -> Heard:
    """Answer with a transcript, and how long the recording lasts."""
    return Heard({"text": text} | ({"duration": seconds} if seconds is not None else {}))


def fails(status: int) -> Heard:
    """Fail as OpenAI does."""
    return Heard({"error": {"message": "scripted", "type": "scripted", "code": None}}, status)


def hangs() -> Heard:
    """Say nothing."""
    return Heard(hangs=True)


def says(body: bytes) -> Heard:
    """Answer 200 with what is no transcript."""
    return Heard(body)


def redirects(url: str) -> Heard:
    """Send the client elsewhere."""
    return Heard({}, 307, headers={"Location": url})


@dataclass(frozen=True, slots=True)
class TranscriptionCall:
    """One request: the fields of its form, and its file."""

    fields: dict[str, str]
    name: str
    body: bytes
    key: str


@dataclass(slots=True)
class ScriptedTranscription:
    """Serve /v1/audio/transcriptions on 127.0.0.1; once the script is over, `hears` answers."""

    script: Iterable[Heard] = ()
    hears: Callable[[TranscriptionCall], Heard] = lambda _: heard("the script is over")
    calls: list[TranscriptionCall] = field(default_factory=list)
    url: str = ""
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    _queue: deque[Heard] = field(default_factory=deque)
    _runner: web.AppRunner | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        """Start to serve; `url` ends in /v1."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/audio/transcriptions", self._transcribe)
        self._queue.extend(self.script)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving; hanging answers are cut."""
        self._stopping.set()
        if self._runner:
            await self._runner.cleanup()

    def add(self, *answers: Heard) -> None:
        """Queue further answers."""
        self._queue.extend(answers)

    async def _transcribe(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        file = form.get("file")
        if not isinstance(file, web.FileField) or "model" not in form:
            return web.json_response({"error": {"message": "model and file are required"}}, status=400)
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        call = TranscriptionCall(fields, file.filename, file.file.read(), key)
        self.calls.append(call)
        self.reached.set()
        answer = self._queue.popleft() if self._queue else self.hears(call)
        if answer.hangs:
            await self._stopping.wait()
            return web.Response(status=503)
        if isinstance(answer.body, bytes):
            return web.Response(body=answer.body, content_type="application/json", status=answer.status)
        return web.json_response(answer.body, status=answer.status, headers=answer.headers)
