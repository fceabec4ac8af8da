"""Every provider of a model that `init` offers, at one address: its own format, and one key that it takes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from core.json_types import JsonObject
from tests.providers.models.direct import transcripts
from tests.providers.models.direct.transcripts import (
    CLAUDE_WHOLE,
    GEMINI_WHOLE,
    claude_error,
    openai_error,
    openai_whole,
)

KEY = "sk-good"
WRONG_KEY = "sk-wrong"


@dataclass(slots=True)
class ModelProviders:
    """A server; `models` is what it lists as a local one does, `told` further answers by path."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    models: list[JsonObject] = field(default_factory=list)
    told: dict[str, JsonObject] = field(default_factory=dict)
    any_key: bool = False

    async def complete(self, request: web.Request) -> web.Response:
        """Answer a completion in the format of the address that was asked."""
        self.asked.append(request.path)
        headers = request.headers
        bearer = headers.get("Authorization", "").removeprefix("Bearer ")
        key = bearer or headers.get("x-api-key") or headers.get("api-key") or headers.get("x-goog-api-key", "")
        key = key or request.query.get("key", "")
        is_good = self.any_key or key == KEY
        refused: JsonObject
        if request.path.endswith("/messages"):
            refused, whole = {"type": "error", "error": claude_error("authentication_error")}, CLAUDE_WHOLE
        elif ":generateContent" in request.path:
            refused = {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "API key not valid."}}
            whole = GEMINI_WHOLE
        else:
            refused = openai_error("Wrong key", "invalid_request_error", "invalid_api_key")
            # Groq's answers name their tier, and litellm's reader of them insists.
            told = openai_whole({"content": "ready"}, "stop", service_tier="on_demand")
            whole = {"text": transcripts.whole(told)}
        if not is_good:
            return web.json_response(refused, status=401)
        answer = next(iter(whole.values()))
        return web.Response(body=b"".join(answer.pieces), content_type="application/json")

    async def look(self, request: web.Request) -> web.Response:
        """Answer what a local server is asked before."""
        if request.path == "/v1/models" and self.models:
            return web.json_response({"object": "list", "data": self.models})
        if request.path in self.told:
            return web.json_response(self.told[request.path])
        raise web.HTTPNotFound


@asynccontextmanager
async def model_providers() -> AsyncIterator[ModelProviders]:
    """Serve until left."""
    providers = ModelProviders()
    app = web.Application()
    app.router.add_post("/{anything:.*}", providers.complete)
    app.router.add_get("/{anything:.*}", providers.look)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    providers.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield providers
    finally:
        await runner.cleanup()
