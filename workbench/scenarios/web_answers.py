"""A server on this machine with a scenario's answers, in place of the servers that tools would fetch from."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from core.json_types import JsonObject
from workbench.serving import serving

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
    async with serving(app, patience=1.0) as origin:
        yield origin
