"""A server on this machine with a scenario's answers, in place of the servers that tools would fetch from."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from core.json_types import JsonObject

PLACE = "{web}"
"""The placeholder for the server's address in a scenario's settings."""


@asynccontextmanager
async def serve_answers(answers: Mapping[str, JsonObject]) -> AsyncIterator[str]:
    """Serve JSON answers by path, for any method; yield the server's address."""

    async def answer(request: web.Request) -> web.Response:
        found = answers.get(request.path)
        return web.json_response(
            found if found is not None else {"error": "no such path"}, status=200 if found else 404
        )

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
